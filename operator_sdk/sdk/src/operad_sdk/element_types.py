"""Element types that an operator accepts, and that functions of real numbers give."""

from __future__ import annotations

from typing import Final, Literal

from operad.dtypes import DType, as_dtype
from operad.errors import DTypeError

Accepts = Literal["any", "number", "integer", "floating"] | tuple[str, ...]
"""A family of element types, where `number` is all but bool; or the types by name."""

_KINDS: Final[dict[str, str]] = {"any": "biuf", "number": "iuf", "integer": "iu", "floating": "f"}


def check_accepted(operator: str, argument: str, dtype: DType, accepts: Accepts) -> None:
    """Refuse an argument of another family of element types.

    Raises:
        DTypeError: It says which argument of `operator` has which type.
    """
    if isinstance(accepts, tuple):
        is_accepted, expected = dtype.name in accepts, " or ".join(accepts)
    else:
        is_accepted, expected = dtype.kind in _KINDS[accepts], f"{_article(accepts)} {accepts} type"
    if not is_accepted:
        raise DTypeError(f"{operator}: {argument} is {dtype}, expected {expected}; cast with astype")


def _article(word: str) -> str:
    return "an" if word[0] in "aeiou" else "a"


def real_of(prop: object, dtype: DType) -> DType:
    """Type of functions of real numbers, an operator's `promote`: float64 for integers and bool."""
    return dtype if dtype.kind == "f" else as_dtype("float64")


def counted(prop: object, dtype: DType) -> DType:
    """Type of sums and products, likewise: int64 for bool."""
    return as_dtype("int64") if dtype.kind == "b" else dtype
