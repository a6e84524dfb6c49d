"""Mappers: scalar functions written once, run as Python, with NumPy, in vector code or on a GPU.

Operators that are no mappers need none of this, so its modules are imported when a word of theirs is named.
"""

from typing import TYPE_CHECKING, Any

from operad_sdk.mapper.words import mapper, word

if TYPE_CHECKING:
    from operad_sdk.mapper.composites import digamma, rsqrt
    from operad_sdk.mapper.core import Mapper, slope_of
    from operad_sdk.mapper.errors import MapperError
    from operad_sdk.mapper.functions import (
        acos,
        acosh,
        asin,
        asinh,
        atan,
        atan2,
        atanh,
        cbrt,
        ceil,
        copysign,
        cos,
        cosh,
        erf,
        erfc,
        exp,
        exp2,
        expm1,
        floor,
        fmod,
        gamma,
        hypot,
        isfinite,
        isinf,
        isnan,
        lgamma,
        log,
        log1p,
        log2,
        log10,
        maximum,
        minimum,
        power,
        rint,
        sign,
        sin,
        sinh,
        sqrt,
        tan,
        tanh,
        trunc,
        where,
    )

__all__ = [
    "Mapper",
    "MapperError",
    "mapper",
    "slope_of",
    "digamma",
    "rsqrt",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "fmod",
    "gamma",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "log10",
    "maximum",
    "minimum",
    "power",
    "rint",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    "where",
]


def __getattr__(name: str) -> Any:
    """A word of mappers."""
    return word(__name__, name)
