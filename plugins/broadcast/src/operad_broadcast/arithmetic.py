"""Arithmetic of two arrays that broadcast: `+`, `-`, `*`, `/`, `%`, `**`, hypotenuse, larger and smaller.

The gradient of an operand that was repeated is the sum over its repetitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from operad_broadcast.documentation import doc
from operad_broadcast.shapes import shape_for, sum_to, summed
from operad_sdk import Array, Contract, SimpleFunction, binary, from_ufunc
from operad_sdk.domains import Real


def _is_integer(prop: Any, in_shapes: Any, in_types: Any) -> bool:
    return bool(in_types[0].kind in "iu")


def _arithmetic(
    ufunc: np.ufunc,
    name: str,
    summary: str,
    output: str,
    gradient: Mapping[str, Any],
    reference: Callable[[Any, Any], Any],
    *,
    rhs: str = "[4, 8]",
    accepts: Any = "number",
    cost: float = 1.0,
) -> SimpleFunction:
    made = from_ufunc(
        ufunc,
        name=name,
        gradient=gradient,
        gradient_inplace="ograd",
        accepts=accepts,
        cost=cost,
        doc=doc(name, summary, rhs, output),
        contract=Contract(reference=reference),
    )
    made.shape(shape_for(name))
    return made


def _pass_on(ograd: Array, out: Array) -> None:
    sum_to(ograd, out)


@summed
def _negated(ograd: Array, out: Array) -> None:
    np.negative(ograd, out=out)


@summed
def _times_rhs(ograd: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, rhs, out=out)


@summed
def _times_lhs(ograd: Array, lhs: Array, out: Array) -> None:
    np.multiply(ograd, lhs, out=out)


@summed
def _over_rhs(ograd: Array, rhs: Array, out: Array) -> None:
    np.divide(ograd, rhs, out=out)


@summed
def _quotient_by_rhs(ograd: Array, out_value: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, out_value, out=out)
    np.divide(out, rhs, out=out)
    np.negative(out, out=out)


broadcast_add = _arithmetic(
    np.add,
    "broadcast_add",
    "Sum of each pair of elements.",
    "[[ 5.,  9.],\n           [ 6., 10.]]",
    {"lhs": _pass_on, "rhs": _pass_on},
    lambda lhs, rhs: lhs + rhs,
)
broadcast_sub = _arithmetic(
    np.subtract,
    "broadcast_sub",
    "Difference of each pair of elements.",
    "[[-3., -7.],\n           [-2., -6.]]",
    {"lhs": _pass_on, "rhs": _negated},
    lambda lhs, rhs: lhs - rhs,
)
broadcast_mul = _arithmetic(
    np.multiply,
    "broadcast_mul",
    "Product of each pair of elements.",
    "[[ 4.,  8.],\n           [ 8., 16.]]",
    {"lhs": _times_rhs, "rhs": _times_lhs},
    lambda lhs, rhs: lhs * rhs,
)
broadcast_div = _arithmetic(
    np.divide,
    "broadcast_div",
    "Quotient of each pair of elements; of integers, rounded towards zero.",
    "[[0.25 , 0.125],\n           [0.5  , 0.25 ]]",
    {"lhs": _over_rhs, "rhs": _quotient_by_rhs},
    lambda lhs, rhs: lhs / rhs,
)


@broadcast_div.kernel(priority=1, when=_is_integer)
def _integer_quotient(lhs: Array, rhs: Array, out: Array) -> None:
    """Rounds towards zero, as C divides; 0 where the divisor is 0."""
    divisible = np.not_equal(rhs, 0)
    divisor = np.where(divisible, rhs, 1)
    is_cut = np.logical_and(np.remainder(lhs, divisor) != 0, np.less(lhs, 0) != np.less(rhs, 0))
    np.add(np.floor_divide(lhs, divisor), is_cut, out=out, casting="unsafe")
    np.multiply(out, divisible, out=out)


@binary(
    "broadcast_mod",
    inplace=("lhs", "rhs"),
    accepts="number",
    shape=shape_for("broadcast_mod"),
    cost=4,
    contract=Contract(
        inputs={"rhs": Real(nonzero=True)}, reference=lambda lhs, rhs: lhs - np.floor(lhs / rhs) * rhs
    ),
)
def broadcast_mod(lhs: Array, rhs: Array, out: Array) -> None:
    """Remainder of each pair of elements, with the sign of the divisor; 0, and flat, where that is 0.

    Shapes:
        lhs: (...)
        rhs: (...), which broadcasts with lhs.
        output: What both broadcast to.

    Example:
        >>> import operad as od
        >>> od.nd.broadcast_mod(od.nd.array([[-7], [7]]), od.nd.array([3, 0])).asnumpy()
        array([[2., 0.],
               [1., 0.]], dtype=float32)

    Source: mshadow_op::mod, src/operator/mshadow_op.h. Differs: the gradient where the divisor is 0.
    """
    divisible = np.not_equal(rhs, 0)
    remainder = np.remainder(lhs, np.where(divisible, rhs, 1))
    np.multiply(remainder, divisible, out=out)


@broadcast_mod.gradient("lhs", inplace="ograd")
@summed
def _mod_by_lhs(ograd: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.not_equal(rhs, 0), out=out)


@broadcast_mod.gradient("rhs", inplace="ograd")
@summed
def _mod_by_rhs(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    divisible = np.not_equal(rhs, 0)
    quotient = np.floor_divide(lhs, np.where(divisible, rhs, 1))
    np.multiply(ograd, np.negative(quotient * divisible), out=out)


@summed
def _power_by_base(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    exponent = np.where(rhs == 0, 0, np.subtract(rhs, 1))  # x ** 0 is flat, at 0 too
    np.multiply(ograd, np.multiply(np.power(lhs, exponent), rhs), out=out)


@summed
def _power_by_exponent(ograd: Array, lhs: Array, out_value: Array, out: Array) -> None:
    slope = np.multiply(np.log(np.where(lhs == 0, 1, lhs)), out_value)  # 0 ** y is flat where it is finite
    np.multiply(ograd, slope, out=out)


broadcast_power = _arithmetic(
    np.power,
    "broadcast_power",
    "The left element to the power of the right.",
    "[[1. , 1. ],\n           [8. , 0.5]]",
    {"lhs": _power_by_base, "rhs": _power_by_exponent},
    np.float_power,
    rhs="[3, -1]",
    cost=20,
)


@broadcast_power.kernel(priority=1, when=_is_integer)
def _integer_power(lhs: Array, rhs: Array, out: Array) -> None:
    """In double precision, because integers have no negative powers."""
    np.copyto(out, np.power(lhs.astype(np.float64), rhs), casting="unsafe")


@summed
def _over_hypotenuse_lhs(ograd: Array, lhs: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, lhs, out=out)
    np.divide(out, out_value, out=out)


@summed
def _over_hypotenuse_rhs(ograd: Array, rhs: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, rhs, out=out)
    np.divide(out, out_value, out=out)


broadcast_hypot = _arithmetic(
    np.hypot,
    "broadcast_hypot",
    "Hypotenuse of each pair of legs, without overflow.",
    "[[1., 1.],\n           [2., 2.]]",
    {"lhs": _over_hypotenuse_lhs, "rhs": _over_hypotenuse_rhs},
    lambda lhs, rhs: np.abs(lhs + 1j * rhs),
    rhs="[0, 0]",
    accepts="floating",
    cost=8,
)


@summed
def _where_lhs_is_larger(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.greater_equal(lhs, rhs), out=out)


@summed
def _where_rhs_is_larger(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.less(lhs, rhs), out=out)


@summed
def _where_lhs_is_smaller(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.less_equal(lhs, rhs), out=out)


@summed
def _where_rhs_is_smaller(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.greater(lhs, rhs), out=out)


broadcast_maximum = _arithmetic(
    np.maximum,
    "broadcast_maximum",
    "The larger of each pair of elements; the gradient of equal ones goes to the left.",
    "[[4., 8.],\n           [4., 8.]]",
    {"lhs": _where_lhs_is_larger, "rhs": _where_rhs_is_larger},
    lambda lhs, rhs: np.where(lhs > rhs, lhs, rhs),
    accepts="any",
)
broadcast_minimum = _arithmetic(
    np.minimum,
    "broadcast_minimum",
    "The smaller of each pair of elements; the gradient of equal ones goes to the left.",
    "[[1., 1.],\n           [2., 2.]]",
    {"lhs": _where_lhs_is_smaller, "rhs": _where_rhs_is_smaller},
    lambda lhs, rhs: np.where(lhs < rhs, lhs, rhs),
    accepts="any",
)
