"""Choice of the operator, for the functions of `od.nd.random` and `od.sym.random`.

Where the distribution's parameters are numbers the operator is `_random_normal`, where they are arrays or
symbols it is `_sample_normal`.
"""

from __future__ import annotations

from collections.abc import Mapping

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
