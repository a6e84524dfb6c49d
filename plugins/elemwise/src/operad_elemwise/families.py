"""Declarations of operators by family: each function declares one operator."""

from __future__ import annotations

from inspect import isfunction
from typing import Any, Final

from operad_sdk import (
    BINARY,
    UNARY,
    Contract,
    DType,
    KernelCall,
    OperatorProperty,
    ResultTypes,
    Scalar,
    define,
    lock_cost_limit,
    param,
)
from operad_sdk.contract import COUNTED_RESULTS, REAL_RESULTS
from operad_sdk.element_types import counted, real_of

Declared = type[OperatorProperty]
Example = tuple[str, ...]

_LOCKED_US: Final = 5.0
"""Estimated time up to which the few calls of NumPy that functions here are may hold the engine's lock."""

NUMBER: Final = {
    "scalar": Scalar(default=1.0, doc="The number; cast to the array's element type.").as_param(),
    "is_int": param(bool, True, doc="False: of integers and bool, the result is float64."),
}


def is_integer(call: KernelCall) -> bool:
    """Return whether the results are integers."""
    return call.prop.promote(call.in_types[0]).kind in "iu"


def promote_scalar(prop: Any, dtype: DType) -> DType:
    """The type of an array and a number: bool counts as int64, and what `is_int` is false of as float64."""
    return counted(prop, dtype) if prop.is_int else real_of(prop, dtype)


TYPES_BESIDE_NUMBERS: Final = (*COUNTED_RESULTS, ResultTypes(REAL_RESULTS[0].types, {"is_int": False}))
"""Results of `promote_scalar` for arguments of any type."""


def of_one(
    name: str,
    function: Any,
    summary: str,
    example: Example,
    gradient: Any = None,
    gradient_inplace: str = "",
    *,
    spec: str = UNARY,
    **options: Any,
) -> Declared:
    """A function of one array that integers have too; arguments as for `define`."""
    shared = {"accepts": "number", "inplace": "data", "compute_dtype": "float32"}
    return define(
        name,
        spec,
        lock_cost_limit(_LOCKED_US)(function) if isfunction(function) else function,
        gradient,
        summary=summary,
        example=example,
        gradient_inplace=gradient_inplace,
        **shared | options,
    )


def of_real(*declared: Any, **options: Any) -> Declared:
    """A function of real numbers, of integers rounded towards zero; arguments as for `of_one`."""
    return of_one(*declared, integers_as="float64", **options)


def of_floats(
    name: str, function: Any, summary: str, example: Example, gradient: Any, reference: Any, **options: Any
) -> Declared:
    """A function of real numbers that gives float64 of integers and bool, as NumPy's do."""
    contract = Contract(reference=reference, result_types=REAL_RESULTS)
    return of_one(
        name, function, summary, example, gradient, "output_grad", accepts="any", promote=real_of,
        contract=contract, **options,
    )  # fmt: skip


def of_two(*declared: Any, **options: Any) -> Declared:
    """Arithmetic of two arrays of one shape; arguments as for `of_one`."""
    return of_one(*declared, spec=BINARY, inplace="lhs, rhs", **options)


def with_number(*declared: Any, **options: Any) -> Declared:
    """Arithmetic of an array and a number; arguments as for `of_one`."""
    contract = Contract(reference=options.pop("reference", None), result_types=TYPES_BESIDE_NUMBERS)
    shared: dict[str, Any] = {"accepts": "any", "contract": contract, "params": NUMBER}
    return of_one(*declared, **{**shared, "promote": promote_scalar, **options})
