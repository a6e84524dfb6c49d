"""Arithmetic of an array and a number, called with `scalar=`; `r` stands for the number on the left.

The number is cast to the array's element type first, as in MXNet: an integer array plus 1.5 is an
integer array plus 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_elemwise.families import NUMBER, is_integer, with_number
from operad_sdk import UNARY, Contract, Real, define
from operad_sdk.quotients import divide_integers, remainder, slope_of_angle, slope_of_length


def _slope_by_number(output_grad: Any, data: Any, scalar: Any) -> Any:
    """`slope_of_base` for one exponent, by which it decides."""
    if not scalar:
        return output_grad * (scalar * data**0)
    # mutant: 2 becomes 3: equivalent, because close to the limit both forms are right
    if abs(scalar) >= 2**-10:
        return output_grad * (scalar * data ** (scalar - 1))
    is_small = np.logical_and(data != 0, np.abs(data) < 1)
    small, large = np.where(is_small, data, 1), np.where(is_small, 1, data)
    return output_grad * np.where(is_small, scalar / small * small**scalar, scalar * large ** (scalar - 1))


# MXNet has those called scatter for sparse arrays
plus_scalar, scatter_plus_scalar = (
    with_number(
        name, np.add, "`y = x + scalar`; `dy/dx = 1`.", ("[1, 2]", "scalar=0.5", "[1.5, 2.5]"),
        lambda output_grad: output_grad, "output_grad", reference=lambda data, scalar: data + scalar,
    )
    for name in ("_plus_scalar", "_scatter_plus_scalar")
)  # fmt: skip
minus_scalar, scatter_minus_scalar = (
    with_number(
        name, np.subtract, "`y = x - scalar`; `dy/dx = 1`.", ("[1, 2]", "scalar=0.5", "[0.5, 1.5]"),
        lambda output_grad: output_grad, "output_grad", reference=lambda data, scalar: data - scalar,
    )
    for name in ("_minus_scalar", "_scatter_minus_scalar")
)  # fmt: skip
rminus_scalar = with_number(
    "_rminus_scalar", lambda data, scalar, output: np.subtract(scalar, data, output),
    "`y = scalar - x`; `dy/dx = -1`.", ("[1, 2]", "scalar=1", "[ 0., -1.]"),
    lambda output_grad, data_grad: np.negative(output_grad, data_grad), "output_grad",
    reference=lambda data, scalar: scalar - data,
)  # fmt: skip
mul_scalar = with_number(
    "_mul_scalar", np.multiply, "`y = scalar * x`; `dy/dx = scalar`.", ("[1, 2]", "scalar=3", "[3., 6.]"),
    lambda output_grad, scalar, data_grad: np.multiply(output_grad, scalar, data_grad), "output_grad",
    reference=lambda data, scalar: data * scalar,
)  # fmt: skip
div_scalar = with_number(
    "_div_scalar", np.divide, "`y = x / scalar`, of integers rounded towards zero; `dy/dx = 1 / scalar`.",
    ("[1, 2]", "scalar=4", "[0.25, 0.5 ]"),
    lambda output_grad, scalar, data_grad: np.divide(output_grad, scalar, data_grad), "output_grad",
    reference=lambda data, scalar: data / scalar,
)  # fmt: skip
rdiv_scalar = with_number(
    "_rdiv_scalar", lambda data, scalar, output: np.divide(scalar, data, output),
    "`y = scalar / x`, of integers rounded towards zero; `dy/dx = -y / x`.",
    ("[2, 4]", "scalar=1", "[0.5 , 0.25]"),
    lambda output_grad, output, data: -output_grad * (output / data), "output_grad",
    contract=Contract(reference=lambda data, scalar: scalar / data, undefined="0 / 0 is no number"),
)  # fmt: skip
div_scalar.kernel(priority=1, when=is_integer, name="of_integers")(
    lambda data, scalar, output: divide_integers(data, scalar, output)
)
rdiv_scalar.kernel(priority=1, when=is_integer, name="of_integers")(
    lambda data, scalar, output: divide_integers(scalar, data, output)
)
mod_scalar = with_number(
    "_mod_scalar", lambda data, scalar, output: remainder(data, scalar, output),
    "`y = x - floor(x / scalar) * scalar`, 0 where `scalar` is; `dy/dx = 1`.",
    ("[-7, 7]", "scalar=3", "[2., 1.]"),
    lambda output_grad: output_grad, "output_grad", element_cost=15, is_flat_for_integers=True,
    contract=Contract(
        reference=lambda x, scalar: (
            np.fmod(x, scalar) + scalar * (np.fmod(x, scalar) * np.sign(scalar) < 0) if scalar else 0 * x
        ),
        no_numeric_gradient=lambda prop: "" if prop.scalar else "by 0 it is flat, and MXNet's gradient 1",
    ),
    source="mshadow_op::mod, src/operator/mshadow_op.h.",
)  # fmt: skip
rmod_scalar = with_number(
    "_rmod_scalar", lambda data, scalar, output: remainder(scalar, data, output),
    "`y = scalar - floor(scalar / x) * x`, 0 where `x` is; `dy/dx = -floor(scalar / x)`.",
    ("[3, -3, 0]", "scalar=7", "[ 1., -2.,  0.]"),
    lambda output_grad, data, scalar: -output_grad * np.floor(scalar / data),
    "output_grad", element_cost=15, is_flat_for_integers=True,
    contract=Contract(
        inputs={"data": Real(nonzero=True)},
        reference=lambda x, scalar: np.fmod(scalar, x) + x * (np.fmod(scalar, x) * np.sign(x) < 0),
    ),
    source="mshadow_op::rmod, src/operator/mshadow_op.h.",
)  # fmt: skip
power_scalar = with_number(
    "_power_scalar", np.power, "`y = x^scalar`; `dy/dx = scalar * x^(scalar - 1)`, 0 where `scalar` is.",
    ("[1, 2]", "scalar=3", "[1., 8.]"),
    lambda output_grad, data, scalar: _slope_by_number(output_grad, data, scalar), "output_grad",
    integers_as="float64", reference=lambda data, scalar: np.float_power(data, scalar),
)  # fmt: skip
rpower_scalar = with_number(
    "_rpower_scalar", lambda data, scalar, output: np.power(scalar, data, output),
    "`y = scalar^x`; `dy/dx = y ln(scalar)`, 0 where `scalar` is.", ("[1, 3]", "scalar=2", "[2., 8.]"),
    lambda output_grad, output, scalar: (
        output_grad * (np.where(scalar == 0, 0, output) * np.log(scalar or 1.0))
    ),
    "output_grad",
    integers_as="float64",
    contract=Contract(
        reference=lambda data, scalar: np.float_power(scalar, data),
        undefined="powers of negative numbers are defined for whole exponents alone",
    ),
)  # fmt: skip
maximum_scalar = with_number(
    "_maximum_scalar", np.maximum, "`y = max(x, scalar)`; `dy/dx = 1` where `x >= scalar`, else 0.",
    ("[-1, 2]", "scalar=0", "[0., 2.]"),
    # mutant: (data > scalar): equivalent, because at the tie any slope between is right
    lambda output_grad, data, scalar, data_grad: np.multiply(output_grad, data >= scalar, data_grad),
    "output_grad, data", reference=lambda data, scalar: np.where(data > scalar, data, scalar),
)  # fmt: skip
minimum_scalar = with_number(
    "_minimum_scalar", np.minimum, "`y = min(x, scalar)`; `dy/dx = 1` where `x <= scalar`, else 0.",
    ("[-1, 2]", "scalar=0", "[-1.,  0.]"),
    # mutant: (data < scalar): equivalent, because at the tie any slope between is right
    lambda output_grad, data, scalar, data_grad: np.multiply(output_grad, data <= scalar, data_grad),
    "output_grad, data", reference=lambda data, scalar: np.where(data < scalar, data, scalar),
)  # fmt: skip
hypot_scalar = with_number(
    "_hypot_scalar", np.hypot, "`y = sqrt(x^2 + scalar^2)`, without overflow; `dy/dx = x / y`, 0 at 0.",
    ("[3, 0]", "scalar=4", "[5., 4.]"),
    lambda output_grad, data, output: slope_of_length(output_grad, data, output), "output_grad",
    integers_as="float64", reference=lambda data, scalar: np.abs(data + 1j * scalar),
)  # fmt: skip
arctan2_scalar = with_number(
    "_npi_arctan2_scalar", np.arctan2,
    "Angle of the point `(scalar, x)`; `dy/dx = scalar / (x^2 + scalar^2)`, 0 at the origin.",
    ("[0, 2]", "scalar=2", "[0.    , 0.7854]"),
    lambda output_grad, data, scalar: slope_of_angle(output_grad, scalar, data), "output_grad",
    integers_as="float64", reference=lambda data, scalar: np.angle(scalar + 1j * data),
)  # fmt: skip
copysign_scalar = with_number(
    "_npi_copysign_scalar", np.copysign,
    "The magnitude of `x` with the sign of `scalar`; `dy/dx` is 1 where signs are equal, else -1, 0 at 0.",
    ("[1, -2]", "scalar=-1", "[-1., -2.]"),
    lambda output_grad, data, scalar: output_grad * np.copysign(1, scalar) * np.sign(data), "output_grad",
    integers_as="float64",
    reference=lambda data, scalar: np.abs(data) * (1 - 2.0 * np.signbit(scalar)),
)  # fmt: skip
bitwise_and_scalar, bitwise_or_scalar, bitwise_xor_scalar = (
    define(
        f"_npi_bitwise_{word}_scalar", UNARY, ufunc, params=NUMBER, inplace="data",
        summary=f"Bits that {held} in `x` and `scalar`; of bool, logic.",
        example=("[5, 6], dtype='int32'", "scalar=3", f"array({result}, dtype=int32)"),
        accepts=("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        contract=Contract(reference=function),
    )
    for word, ufunc, held, result, function in (
        ("and", np.bitwise_and, "are both set", "[1, 2]", lambda data, scalar: data & scalar),
        ("or", np.bitwise_or, "are not both clear", "[7, 7]", lambda data, scalar: data | scalar),
        ("xor", np.bitwise_xor, "differ", "[6, 5]", lambda data, scalar: data ^ scalar),
    )
)  # fmt: skip
