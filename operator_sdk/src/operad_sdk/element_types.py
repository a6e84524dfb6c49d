"""Which element types an operator of one function accepts, and which it returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from operad.dtypes import DType, as_dtype
from operad.errors import DTypeError

Accepts = Literal["any", "number", "integer", "floating"]
"""Families of element types; `number` is all but bool."""

ResultType = Callable[[DType], DType] | str | None
"""The type of the output: a function of the argument's type, a name, or None: the same."""

_KINDS: Final[dict[str, str]] = {"any": "biuf", "number": "iuf", "integer": "iu", "floating": "f"}


def type_rule(operator: str, accepts: Accepts, result: ResultType) -> Callable[[DType], DType] | None:
    """A SimpleOp's type function; None where every type is accepted and returned.

    Errors of the function: `DTypeError`, naming `operator`.
    """
    if accepts == "any" and result is None:
        return None
    kinds = _KINDS[accepts]
    fixed = as_dtype(result) if isinstance(result, str) else None

    def output_type(dtype: DType) -> DType:
        if dtype.kind not in kinds:
            raise DTypeError(f"{operator}: data is {dtype}, expected a {accepts} type; cast with astype")
        if fixed is not None:
            return fixed
        return result(dtype) if callable(result) else dtype

    return output_type
