"""Arithmetic of two arrays of one shape: `+`, `-`, `*`, `/`, `%`, `**`, hypotenuse, larger and smaller.

`elemwise_*` are the names that symbols' arithmetic has in MXNet; broadcasting is another plugin's.
"""

from __future__ import annotations

import numpy as np

from operad_elemwise.documentation import binary_doc
from operad_elemwise.integers import is_integer, truncating_divide
from operad_sdk import Array, Contract, binary, from_ufunc
from operad_sdk.domains import Drawn, Real


def _pass_on(ograd: Array, out: Array) -> None:
    np.copyto(out, ograd)


def _negated(ograd: Array, out: Array) -> None:
    np.negative(ograd, out=out)


def _times_rhs(ograd: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, rhs, out=out)


def _times_lhs(ograd: Array, lhs: Array, out: Array) -> None:
    np.multiply(ograd, lhs, out=out)


def _over_rhs(ograd: Array, rhs: Array, out: Array) -> None:
    np.divide(ograd, rhs, out=out)


def _quotient_by_rhs(ograd: Array, out_value: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, out_value, out=out)
    np.divide(out, rhs, out=out)
    np.negative(out, out=out)


elemwise_add = from_ufunc(
    np.add,
    name="elemwise_add",
    gradient={"lhs": _pass_on, "rhs": _pass_on},
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda lhs, rhs: lhs + rhs),
    doc=binary_doc("elemwise_add", "Sum of each pair of elements.", "[1, 2]", "[3, 4]", "[4., 6.]"),
)

elemwise_sub = from_ufunc(
    np.subtract,
    name="elemwise_sub",
    gradient={"lhs": _pass_on, "rhs": _negated},
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda lhs, rhs: lhs - rhs),
    doc=binary_doc("elemwise_sub", "Difference of each pair of elements.", "[1, 2]", "[3, 5]", "[-2., -3.]"),
)

elemwise_mul = from_ufunc(
    np.multiply,
    name="elemwise_mul",
    gradient={"lhs": _times_rhs, "rhs": _times_lhs},
    gradient_inplace=("ograd", "lhs", "rhs"),
    accepts="number",
    contract=Contract(reference=lambda lhs, rhs: lhs * rhs),
    doc=binary_doc("elemwise_mul", "Product of each pair of elements.", "[1, 2]", "[3, 5]", "[ 3., 10.]"),
)

elemwise_div = from_ufunc(
    np.divide,
    name="elemwise_div",
    gradient={"lhs": _over_rhs, "rhs": _quotient_by_rhs},
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda lhs, rhs: lhs / rhs),
    doc=binary_doc(
        "elemwise_div",
        "Quotient of each pair of elements; of integers, rounded towards zero.",
        "[1, 2]",
        "[4, 4]",
        "[0.25, 0.5 ]",
    ),
)


@elemwise_div.kernel(priority=1, when=is_integer)
def _integer_quotient(lhs: Array, rhs: Array, out: Array) -> None:
    truncating_divide(lhs, rhs, out)


_BETWEEN_JUMPS = Contract(
    inputs={
        # Odd sixteenths are no multiples of eighths, where the remainder jumps and has no slope.
        "lhs": Drawn(
            lambda rng, shape, prop, shapes: (2 * rng.integers(-16, 16, shape) + 1) / 16, is_real=True
        ),
        "rhs": Real(nonzero=True),
    },
    reference=lambda lhs, rhs: lhs - np.floor(lhs / rhs) * rhs,
)


@binary("_mod", inplace=("lhs", "rhs"), accepts="number", cost=4, contract=_BETWEEN_JUMPS)
def mod(lhs: Array, rhs: Array, out: Array) -> None:
    """Remainder of each pair of elements, with the sign of the divisor; 0, with no slope, where that is 0.

    Shapes:
        lhs: (...)
        rhs: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd._mod(od.nd.array([-7, 7, 7]), od.nd.array([3, 3, 0])).asnumpy()
        array([2., 1., 0.], dtype=float32)

    Source: mshadow_op::mod, src/operator/mshadow_op.h. Differs: the gradient where the divisor is 0.
    """
    divisible = np.not_equal(rhs, 0)
    np.remainder(lhs, rhs, out=out, where=divisible)
    np.copyto(out, 0, where=~divisible)


@mod.gradient("lhs", inplace="ograd")
def _(ograd: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.not_equal(rhs, 0), out=out)


@mod.gradient("rhs", inplace=("lhs", "rhs"))
def _(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    divisible = np.not_equal(rhs, 0)
    np.divide(lhs, np.where(divisible, rhs, 1), out=out)
    np.floor(out, out=out)
    np.multiply(out, ograd, out=out)
    np.multiply(out, divisible, out=out)
    np.negative(out, out=out)


def _power_by_base(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    slope = np.empty_like(out)  # a 0-d result would be a number, which has no memory to write
    np.subtract(rhs, 1, out=slope)
    np.power(lhs, slope, out=slope)
    np.multiply(slope, rhs, out=slope)
    np.multiply(ograd, slope, out=out)


def _power_by_exponent(ograd: Array, lhs: Array, out_value: Array, out: Array) -> None:
    logarithm = np.empty_like(out)
    np.log(np.where(lhs == 0, 1, lhs), out=logarithm)  # 0 ** y is flat where it is finite
    np.multiply(logarithm, out_value, out=logarithm)
    np.multiply(ograd, logarithm, out=out)


power = from_ufunc(
    np.power,
    name="_power",
    gradient={"lhs": _power_by_base, "rhs": _power_by_exponent},
    gradient_inplace=("ograd", "lhs", "rhs", "out_value"),
    accepts="number",
    cost=20,
    contract=Contract(reference=np.float_power),
    doc=binary_doc("_power", "The left element to the power of the right.", "[2, 9]", "[3, 0.5]", "[8., 3.]"),
)


@power.kernel(priority=1, when=is_integer)
def _integer_power(lhs: Array, rhs: Array, out: Array) -> None:
    """In double precision, because integers have no negative powers."""
    np.copyto(out, np.power(lhs.astype(np.float64), rhs), casting="unsafe")


def _over_hypotenuse_lhs(ograd: Array, lhs: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, lhs, out=out)
    np.divide(out, out_value, out=out)


def _over_hypotenuse_rhs(ograd: Array, rhs: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, rhs, out=out)
    np.divide(out, out_value, out=out)


hypot = from_ufunc(
    np.hypot,
    name="_hypot",
    gradient={"lhs": _over_hypotenuse_lhs, "rhs": _over_hypotenuse_rhs},
    gradient_inplace="ograd",
    accepts="floating",
    cost=8,
    contract=Contract(reference=lambda lhs, rhs: np.abs(lhs + 1j * rhs)),
    doc=binary_doc(
        "_hypot", "Hypotenuse of each pair of legs, without overflow.", "[3, 5]", "[4, 12]", "[ 5., 13.]"
    ),
)


def _where_lhs_is_larger(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.greater_equal(lhs, rhs), out=out)


def _where_rhs_is_larger(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.less(lhs, rhs), out=out)


def _where_lhs_is_smaller(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.less_equal(lhs, rhs), out=out)


def _where_rhs_is_smaller(ograd: Array, lhs: Array, rhs: Array, out: Array) -> None:
    np.multiply(ograd, np.greater(lhs, rhs), out=out)


maximum = from_ufunc(
    np.maximum,
    name="_maximum",
    gradient={"lhs": _where_lhs_is_larger, "rhs": _where_rhs_is_larger},
    gradient_inplace=("ograd", "lhs", "rhs"),
    contract=Contract(reference=lambda lhs, rhs: np.where(lhs > rhs, lhs, rhs)),
    doc=binary_doc(
        "_maximum",
        "The larger of each pair of elements; the gradient of equal ones goes to the left.",
        "[1, 4]",
        "[3, 2]",
        "[3., 4.]",
    ),
)

minimum = from_ufunc(
    np.minimum,
    name="_minimum",
    gradient={"lhs": _where_lhs_is_smaller, "rhs": _where_rhs_is_smaller},
    gradient_inplace=("ograd", "lhs", "rhs"),
    contract=Contract(reference=lambda lhs, rhs: np.where(lhs < rhs, lhs, rhs)),
    doc=binary_doc(
        "_minimum",
        "The smaller of each pair of elements; the gradient of equal ones goes to the left.",
        "[1, 4]",
        "[3, 2]",
        "[1., 2.]",
    ),
)
