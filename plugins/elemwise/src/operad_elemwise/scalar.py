"""Arithmetic of an array and a number, called with `scalar=`; `r` stands for the number on the left.

The number is cast to the array's element type first, as in MXNet: an integer array plus 1.5 is an
integer array plus 1.
"""

from __future__ import annotations

import math

import numpy as np

from operad_elemwise.documentation import unary_doc
from operad_elemwise.integers import is_integer, truncating_divide
from operad_sdk import Array, Contract, Scalar, from_ufunc, unary

_SCALAR = Scalar(default=1.0, doc="The number; cast to the array's element type.")
_REMAINDER = Contract(reference=lambda x, scalar: x - np.floor(x / scalar) * scalar if scalar else 0 * x)
_REMAINDER_OF = Contract(reference=lambda x, scalar: np.where(x == 0, 0, scalar - np.floor(scalar / x) * x))


def _pass_on(ograd: Array, out: Array) -> None:
    np.copyto(out, ograd)


def _negated(ograd: Array, out: Array) -> None:
    np.negative(ograd, out=out)


def _scaled(ograd: Array, scalar: float, out: Array) -> None:
    np.multiply(ograd, scalar, out=out)


def _divided(ograd: Array, scalar: float, out: Array) -> None:
    np.divide(ograd, scalar, out=out)


plus_scalar = from_ufunc(
    np.add,
    name="_plus_scalar",
    scalar=_SCALAR,
    gradient=_pass_on,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data, scalar: data + scalar),
    doc=unary_doc("_plus_scalar", "Every element plus a number.", "[1, 2]", "[1.5, 2.5]", "scalar=0.5"),
)

minus_scalar = from_ufunc(
    np.subtract,
    name="_minus_scalar",
    scalar=_SCALAR,
    gradient=_pass_on,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data, scalar: data - scalar),
    doc=unary_doc("_minus_scalar", "Every element minus a number.", "[1, 2]", "[0.5, 1.5]", "scalar=0.5"),
)

rminus_scalar = from_ufunc(
    np.subtract,
    name="_rminus_scalar",
    scalar=_SCALAR,
    reverse=True,
    gradient=_negated,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data, scalar: scalar - data),
    doc=unary_doc("_rminus_scalar", "A number minus every element.", "[1, 2]", "[ 0., -1.]", "scalar=1"),
)

mul_scalar = from_ufunc(
    np.multiply,
    name="_mul_scalar",
    scalar=_SCALAR,
    gradient=_scaled,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data, scalar: data * scalar),
    doc=unary_doc("_mul_scalar", "Every element times a number.", "[1, 2]", "[3., 6.]", "scalar=3"),
)

div_scalar = from_ufunc(
    np.divide,
    name="_div_scalar",
    scalar=_SCALAR,
    gradient=_divided,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data, scalar: data / scalar),
    doc=unary_doc(
        "_div_scalar", "Each element over a number; integers truncated.", "[1, 2]", "[0.25, 0.5 ]", "scalar=4"
    ),
)


@div_scalar.kernel(priority=1, when=is_integer)
def _integer_over_scalar(data: Array, scalar: float, out: Array) -> None:
    truncating_divide(data, scalar, out)


def _over_the_square(ograd: Array, out_value: Array, data: Array, out: Array) -> None:
    np.multiply(ograd, out_value, out=out)
    np.divide(out, data, out=out)
    np.negative(out, out=out)


rdiv_scalar = from_ufunc(
    np.divide,
    name="_rdiv_scalar",
    scalar=_SCALAR,
    reverse=True,
    gradient=_over_the_square,
    gradient_inplace="ograd",
    accepts="number",
    contract=Contract(reference=lambda data, scalar: scalar / data),
    doc=unary_doc(
        "_rdiv_scalar",
        "A number over each element; integers truncated.",
        "[2, 4]",
        "[0.5 , 0.25]",
        "scalar=1",
    ),
)


@rdiv_scalar.kernel(priority=1, when=is_integer)
def _scalar_over_integer(data: Array, scalar: float, out: Array) -> None:
    truncating_divide(scalar, data, out)


@unary("_mod_scalar", scalar=_SCALAR, inplace="data", accepts="number", cost=4, contract=_REMAINDER)
def mod_scalar(data: Array, scalar: float, out: Array) -> None:
    """Remainder of every element by a number, with the number's sign; 0 where that is 0.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd._mod_scalar(od.nd.array([-7, 7]), scalar=3).asnumpy()
        array([2., 1.], dtype=float32)

    Source: mshadow_op::mod, src/operator/mshadow_op.h. Differs: the gradient where the divisor is 0.
    """
    if scalar == 0:
        out.fill(0)
    else:
        np.remainder(data, scalar, out=out)


@mod_scalar.gradient(inplace="ograd")
def _(ograd: Array, scalar: float, out: Array) -> None:
    np.multiply(ograd, scalar != 0, out=out)


@unary("_rmod_scalar", scalar=_SCALAR, inplace="data", accepts="number", cost=4, contract=_REMAINDER_OF)
def rmod_scalar(data: Array, scalar: float, out: Array) -> None:
    """Remainder of a number by every element, with the element's sign; 0 where that is 0.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd._rmod_scalar(od.nd.array([3, -3, 0]), scalar=7).asnumpy()
        array([ 1., -2.,  0.], dtype=float32)

    Source: mshadow_op::rmod, src/operator/mshadow_op.h. Differs: the gradient where the divisor is 0.
    """
    divisible = np.not_equal(data, 0)
    np.remainder(scalar, data, out=out, where=divisible)
    np.copyto(out, 0, where=~divisible)


@rmod_scalar.gradient(inplace="data")
def _(ograd: Array, data: Array, scalar: float, out: Array) -> None:
    divisible = np.not_equal(data, 0)
    np.divide(scalar, np.where(divisible, data, 1), out=out)
    np.floor(out, out=out)
    np.multiply(out, ograd, out=out)
    np.multiply(out, divisible, out=out)
    np.negative(out, out=out)


def _power_slope(ograd: Array, data: Array, scalar: float, out: Array) -> None:
    if scalar == 2:
        np.multiply(ograd, data, out=out)
        np.multiply(out, 2, out=out)
    elif scalar == 0:
        out.fill(0)
    else:
        slope = np.empty_like(out)  # a 0-d result would be a number, which has no memory to write
        np.power(data, scalar - 1, out=slope)
        np.multiply(slope, scalar, out=slope)
        np.multiply(ograd, slope, out=out)


power_scalar = from_ufunc(
    np.power,
    name="_power_scalar",
    scalar=_SCALAR,
    gradient=_power_slope,
    gradient_inplace=("ograd", "data"),
    accepts="number",
    cost=20,
    contract=Contract(reference=lambda data, scalar: np.float_power(data, scalar)),  # noqa: PLW0108 - the name says what is passed
    doc=unary_doc("_power_scalar", "Every element to a power.", "[1, 2]", "[1., 8.]", "scalar=3"),
)


def _logarithm_times_value(ograd: Array, out_value: Array, scalar: float, out: Array) -> None:
    logarithm = math.log(scalar) if scalar > 0 else math.nan
    np.multiply(ograd, out_value, out=out)
    np.multiply(out, logarithm if scalar else 0.0, out=out)  # 0 ** x is flat where it is finite


rpower_scalar = from_ufunc(
    np.power,
    name="_rpower_scalar",
    scalar=_SCALAR,
    reverse=True,
    gradient=_logarithm_times_value,
    gradient_inplace=("ograd", "out_value"),
    accepts="number",
    cost=20,
    contract=Contract(reference=lambda data, scalar: np.float_power(scalar, data)),
    doc=unary_doc(
        "_rpower_scalar", "A number to the power of every element.", "[1, 3]", "[2., 8.]", "scalar=2"
    ),
)


@power_scalar.kernel(priority=1, when=is_integer)
def _integer_to_power(data: Array, scalar: float, out: Array) -> None:
    """In double precision, because integers have no negative powers."""
    np.copyto(out, np.power(data.astype(np.float64), scalar), casting="unsafe")


@rpower_scalar.kernel(priority=1, when=is_integer)
def _power_of_integers(data: Array, scalar: float, out: Array) -> None:
    """In double precision, because integers have no negative powers."""
    np.copyto(out, np.power(float(scalar), data), casting="unsafe")


def _where_larger(ograd: Array, data: Array, scalar: float, out: Array) -> None:
    np.multiply(ograd, np.greater_equal(data, scalar), out=out)


def _where_smaller(ograd: Array, data: Array, scalar: float, out: Array) -> None:
    np.multiply(ograd, np.less_equal(data, scalar), out=out)


maximum_scalar = from_ufunc(
    np.maximum,
    name="_maximum_scalar",
    scalar=_SCALAR,
    gradient=_where_larger,
    gradient_inplace=("ograd", "data"),
    contract=Contract(reference=lambda data, scalar: np.where(data > scalar, data, scalar)),
    doc=unary_doc(
        "_maximum_scalar", "The larger of every element and a number.", "[-1, 2]", "[0., 2.]", "scalar=0"
    ),
)

minimum_scalar = from_ufunc(
    np.minimum,
    name="_minimum_scalar",
    scalar=_SCALAR,
    gradient=_where_smaller,
    gradient_inplace=("ograd", "data"),
    contract=Contract(reference=lambda data, scalar: np.where(data < scalar, data, scalar)),
    doc=unary_doc(
        "_minimum_scalar", "The smaller of every element and a number.", "[-1, 2]", "[-1.,  0.]", "scalar=0"
    ),
)


def _over_hypotenuse(ograd: Array, data: Array, out_value: Array, out: Array) -> None:
    np.multiply(ograd, data, out=out)
    np.divide(out, out_value, out=out)


hypot_scalar = from_ufunc(
    np.hypot,
    name="_hypot_scalar",
    scalar=_SCALAR,
    gradient=_over_hypotenuse,
    gradient_inplace="ograd",
    accepts="floating",
    cost=8,
    contract=Contract(reference=lambda data, scalar: np.abs(data + 1j * scalar)),
    doc=unary_doc(
        "_hypot_scalar", "Hypotenuse of every element and a number.", "[3, 0]", "[5., 4.]", "scalar=4"
    ),
)
