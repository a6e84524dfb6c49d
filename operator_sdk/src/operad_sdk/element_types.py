"""Which element types an operator of one function accepts, and which it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from operad.dtypes import DType, as_dtype
from operad.errors import DTypeError

Accepts = Literal["any", "number", "integer", "floating"] | tuple[str, ...]
"""A family of element types, where `number` is all but bool; or the types by name."""

ResultType = Callable[[DType], DType] | str | None
"""The type of the output: a function of the argument's type, a name, or None: the same."""

_KINDS: Final[dict[str, str]] = {"any": "biuf", "number": "iuf", "integer": "iu", "floating": "f"}


def type_rule(operator: str, accepts: Accepts, result: ResultType) -> Callable[[DType], DType] | None:
    """A SimpleOp's type function; None where every type is accepted and returned.

    Errors of the function: `DTypeError`, naming `operator`.
    """
    if accepts == "any" and result is None:
        return None
    fixed = as_dtype(result) if isinstance(result, str) else None

    def output_type(dtype: DType) -> DType:
        check_accepted(operator, "data", dtype, accepts)
        if fixed is not None:
            return fixed
        return result(dtype) if callable(result) else dtype

    return output_type


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
