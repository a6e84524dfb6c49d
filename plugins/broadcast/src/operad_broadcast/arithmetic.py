"""Arithmetic of two arrays that broadcast: `+`, `-`, `*`, `/`, `%`, `**`, hypotenuse, larger and smaller.

The gradient of an operand that was repeated is the sum over its repetitions, which is taken of what
the gradients here return.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import BROADCAST, Contract, KernelCall, OperatorProperty, Real, define
from operad_sdk.quotients import divide_integers, remainder, slope_of_base, slope_of_exponent, slope_of_length


def _is_integer(call: KernelCall) -> bool:
    """Return whether the kernel for integers applies to these element types."""
    return call.in_types[0].kind in "iu"  # mutant: 0 becomes 1: equivalent, because both have one type


def _arithmetic(
    name: str, function: Any, summary: str, gradient: Any, rhs: str, output: str, **options: Any
) -> type[OperatorProperty]:
    """Declare one operator.

    Args:
        rhs: The example's second operand, beside the column 1, 2.
        output: What it gives, as NumPy prints it.
    """
    shared = {"accepts": "number", "compute_dtype": "float32", "inplace": "lhs, rhs"}
    example = ("[[1], [2]]", rhs, output)
    return define(
        name,
        BROADCAST,
        function,
        gradient,
        summary=summary,
        example=example,
        gradient_inplace="output_grad",
        **shared | options,
    )


broadcast_add = _arithmetic(
    "broadcast_add", np.add, "`y = lhs + rhs`; `d/dlhs = d/drhs = 1`.",
    {"lhs": lambda output_grad: output_grad, "rhs": lambda output_grad: output_grad},
    "[4, 8]", "[[ 5.,  9.],\n       [ 6., 10.]]", reference=lambda lhs, rhs: lhs + rhs,
)  # fmt: skip
broadcast_sub = _arithmetic(
    "broadcast_sub", np.subtract, "`y = lhs - rhs`; `d/dlhs = 1`, `d/drhs = -1`.",
    {"lhs": lambda output_grad: output_grad, "rhs": lambda output_grad: -output_grad},
    "[4, 8]", "[[-3., -7.],\n       [-2., -6.]]", reference=lambda lhs, rhs: lhs - rhs,
)  # fmt: skip
broadcast_mul = _arithmetic(
    "broadcast_mul", np.multiply, "`y = lhs * rhs`; `d/dlhs = rhs`, `d/drhs = lhs`.",
    {"lhs": lambda output_grad, rhs: output_grad * rhs, "rhs": lambda output_grad, lhs: output_grad * lhs},
    "[4, 8]", "[[ 4.,  8.],\n       [ 8., 16.]]", reference=lambda lhs, rhs: lhs * rhs,
)  # fmt: skip
broadcast_div = _arithmetic(
    "broadcast_div", np.divide,
    "`y = lhs / rhs`, of integers rounded towards zero; `d/dlhs = 1 / rhs`, `d/drhs = -y / rhs`.",
    {"lhs": lambda output_grad, rhs: output_grad / rhs,
     "rhs": lambda output_grad, output, rhs: -output_grad * (output / rhs)},
    "[4, 8]", "[[0.25 , 0.125],\n       [0.5  , 0.25 ]]",
    contract=Contract(reference=lambda lhs, rhs: lhs / rhs, undefined="0 / 0 is no number"),
)  # fmt: skip
broadcast_div.kernel(priority=1, when=_is_integer)(divide_integers)
broadcast_mod = _arithmetic(
    "broadcast_mod", remainder,
    "`y = lhs - floor(lhs / rhs) * rhs`, 0 where `rhs` is; `d/dlhs = 1`, `d/drhs = -floor(lhs / rhs)`.",
    {"lhs": lambda output_grad: output_grad,
     "rhs": lambda output_grad, lhs, rhs: -output_grad * np.floor(lhs / rhs)},
    "[-3, 0]", "[[-2.,  0.],\n       [-1.,  0.]]", element_cost=15, is_flat_for_integers=True,
    contract=Contract(
        inputs={"rhs": Real(nonzero=True)},
        reference=lambda lhs, rhs: np.fmod(lhs, rhs) + rhs * (np.fmod(lhs, rhs) * np.sign(rhs) < 0),
    ),
    source="mshadow_op::mod, src/operator/mshadow_op.h.",
)  # fmt: skip
broadcast_power = _arithmetic(
    "broadcast_power", np.power,
    "`y = lhs^rhs`; `d/dlhs = rhs * lhs^(rhs - 1)`, `d/drhs = y ln(lhs)`, 0 where `lhs` is.",
    {"lhs": slope_of_base, "rhs": slope_of_exponent},
    "[3, -1]", "[[1. , 1. ],\n       [8. , 0.5]]",
    integers_as="float64", reference=np.float_power,
)  # fmt: skip
broadcast_hypot = _arithmetic(
    "broadcast_hypot", np.hypot,
    "`y = sqrt(lhs^2 + rhs^2)`, without overflow; `d/dlhs = lhs / y`, `d/drhs = rhs / y`, 0 at 0.",
    {"lhs": lambda output_grad, lhs, output: slope_of_length(output_grad, lhs, output),
     "rhs": lambda output_grad, rhs, output: slope_of_length(output_grad, rhs, output)},
    "[0, 0]", "[[1., 1.],\n       [2., 2.]]",
    integers_as="float64",
    reference=lambda lhs, rhs: np.abs(lhs + 1j * rhs),
)  # fmt: skip
broadcast_maximum = _arithmetic(
    "broadcast_maximum", np.maximum,
    "`y = max(lhs, rhs)`; `d/dlhs = 1` where `lhs >= rhs`, else 0; `d/drhs = 1` where `lhs < rhs`, else 0.",
    {"lhs": lambda output_grad, lhs, rhs: output_grad * (lhs >= rhs),
     "rhs": lambda output_grad, lhs, rhs: output_grad * (lhs < rhs)},
    "[4, 8]", "[[4., 8.],\n       [4., 8.]]",
    accepts="any", reference=lambda lhs, rhs: np.where(lhs > rhs, lhs, rhs),
)  # fmt: skip
broadcast_minimum = _arithmetic(
    "broadcast_minimum", np.minimum,
    "`y = min(lhs, rhs)`; `d/dlhs = 1` where `lhs <= rhs`, else 0; `d/drhs = 1` where `lhs > rhs`, else 0.",
    {"lhs": lambda output_grad, lhs, rhs: output_grad * (lhs <= rhs),
     "rhs": lambda output_grad, lhs, rhs: output_grad * (lhs > rhs)},
    "[4, 8]", "[[1., 1.],\n       [2., 2.]]",
    accepts="any", reference=lambda lhs, rhs: np.where(lhs < rhs, lhs, rhs),
)  # fmt: skip
