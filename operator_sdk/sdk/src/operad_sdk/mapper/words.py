"""The decorator `mapper`, and the modules of the other words, which are imported when one is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from operad.first_use import import_module

if TYPE_CHECKING:
    from operad_sdk.mapper.core import Mapper

WORDS: Final = {
    "core": "Mapper slope_of",
    "errors": "MapperError",
    "composites": "digamma rsqrt",
    "functions": (
        "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 floor "
        "fmod gamma hypot isfinite isinf isnan lgamma log log1p log2 log10 maximum minimum power rint sign "
        "sin sinh sqrt tan tanh trunc where"
    ),
}
"""Words by the module that has them."""

_MODULES: Final = {name: module for module, names in WORDS.items() for name in names.split()}


def mapper(function: Callable[..., Any]) -> Mapper:
    """Make a mapper of a scalar function written in restricted Python.

    The function may use arithmetic, comparisons, and/or/not, if/elif/else, conditional expressions,
    local assignments, numbers, other mappers, and the functions in `operad_sdk.mapper.functions`.

    >>> import numpy as np
    >>> from operad_sdk.mapper import mapper
    >>> @mapper
    ... def leaky(x, slope=0.1):
    ...     return x if x > 0 else slope * x
    >>> leaky(-2.0)
    -0.2
    >>> leaky.map(np.array([-1, 2], dtype=np.float32), 0.5)
    array([-0.5,  2. ], dtype=float32)

    Raises:
        MapperError: The function uses anything else; the message names the line and what is allowed.
    """
    made: Mapper = import_module("operad_sdk.mapper.core").mapper_of(function)
    return made


def all_words() -> list[str]:
    """All words of mappers."""
    return [mapper.__name__, *_MODULES]


def word(asked: str, name: str) -> Any:
    """Return the function or class that a word of mappers names.

    Args:
        asked: The module that was asked for it.
        name: The word.

    Raises:
        AttributeError: There is none of this name.
    """
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {asked!r} has no attribute {name!r}")
    return getattr(import_module(f"operad_sdk.mapper.{module}"), name)
