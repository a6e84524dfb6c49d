"""Common parts of `od.nd.random` and `od.sym.random`: choice of the operator, names of other operators.

Where the distribution's parameters are numbers the operator is `_random_normal`, where they are arrays or
symbols it is `_sample_normal`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import operad
from operad_sdk import ParamError


def are_all(kind: type, values: Mapping[str, object], function: str) -> bool:
    """Return whether the parameters are of the class `kind`; either all are or none.

    Raises:
        ParamError: Some parameters are, and others are not.
    """
    flags = {name: isinstance(value, kind) for name, value in values.items()}
    if len({*flags.values()}) > 1:
        odd = next(name for name, flag in flags.items() if not flag)
        raise ParamError(
            f"{function}: {odd} is {values[odd]!r}, expected {kind.__name__}, as its other parameters are; "
            "give all as numbers or none"
        )
    return all(flags.values())


def rate_of(scale: float) -> float:
    """The rate of the exponential distribution whose mean is `scale`.

    Raises:
        ParamError: `scale` is not above 0.
    """
    if not scale > 0:
        raise ParamError(f"exponential: scale is {scale!r}, expected a number above 0")
    return 1 / scale


def attribute(face: ModuleType, namespace: ModuleType, title: str, name: str) -> Any:
    """The operator `_random_..._like` of `od.nd` or `od.sym`, under its name in `face` without `_random_`.

    Args:
        face: The module that is asked.
        namespace: `od.nd` or `od.sym`.
        title: What users call `face`.
        name: The attribute.
    Raises:
        AttributeError: There is none, and `name` is no other name of the module.
    """
    if name == "__all__":
        return operad.registry.star_names(face)
    if not name.endswith("_like") or name.startswith("_"):
        raise AttributeError(f"module {title!r} has no attribute {name!r}")
    return getattr(namespace, f"_random_{name}")


def names_of(face: ModuleType) -> list[str]:
    """The module's own names, and those of the operators that are attributes of it."""
    names = [
        name.removeprefix("_random_")
        for name in operad.registry.list_operators()
        if name.startswith("_random_")
    ]
    return sorted({*vars(face), *(name for name in names if name.endswith("_like"))})
