"""Choice of the operator, for the functions of `od.nd.random` and `od.sym.random`.

Where the distribution's parameters are numbers the operator is `_random_normal`, where they are arrays or
symbols it is `_sample_normal`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

import operad
from operad_sdk import ParamError

_RANDOM: Final = "_random_"


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


def like_of(module: str, namespace: Any, known_as: str, name: str) -> Any:
    """Find an attribute beside a module's functions: an operator `_random_..._like`, by its shorter name.

    Args:
        module: The module's name.
        namespace: `od.nd` or `od.sym`, which has the operators.
        known_as: What users call the module.

    Raises:
        AttributeError: There is no such operator.
    """
    if name == "__all__":
        return operad.registry.star_names(sys.modules[module])
    if not name.endswith("_like") or name.startswith("_"):
        raise AttributeError(f"module {known_as!r} has no attribute {name!r}")
    like: Callable[..., Any] = getattr(namespace, _RANDOM + name)
    return like


def names_with_like(own: Mapping[str, Any]) -> list[str]:
    """Names of a module that has these of its own."""
    found = (name for name in operad.registry.list_operators() if name.startswith(_RANDOM))
    return sorted({*own, *(name.removeprefix(_RANDOM) for name in found if name.endswith("_like"))})
