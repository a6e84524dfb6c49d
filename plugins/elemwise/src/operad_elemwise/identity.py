"""Operators that return their argument and differ in the gradient: a copy, a wall, a factor, a loss."""

from __future__ import annotations

import numpy as np

from operad_elemwise.families import NUMBER
from operad_sdk import BINARY, UNARY, Contract, define

identity = define(
    "_copy", UNARY, lambda data: data, lambda output_grad: output_grad,
    summary="The array itself; `dy/dx = 1`.", example=("[1, 2]", "[1., 2.]"), reference=lambda data: data,
    inplace="data", gradient_inplace="output_grad",
)  # fmt: skip
block_grad = define(
    "BlockGrad", UNARY, lambda data: data,
    summary="The array itself; no gradient goes back through it.", example=("[1, 2]", "[1., 2.]"),
    inplace="data",
    contract=Contract(reference=lambda data: data, no_numeric_gradient="it is there to stop gradients"),
)  # fmt: skip
make_loss = define(
    "make_loss", "data:(...) -> loss:(...)", lambda data: data, lambda: 1,
    summary="The array itself, as a loss: its gradient is 1.",
    example=("[1, 2]", "[1., 2.]"), inplace="data",
    contract=Contract(
        reference=lambda data: data, ignores_head_gradient="a loss, at the end of a network", loss=np.sum
    ),
)  # fmt: skip
identity_with_attr_like_rhs = define(
    "_identity_with_attr_like_rhs", BINARY, lambda lhs, rhs: lhs, {"lhs": lambda output_grad: output_grad},
    summary="The left array; the right one tells shape inference its shape. `dy/da = 1`.",
    example=("[1, 2]", "[3, 4]", "[1., 2.]"), reference=lambda lhs, rhs: lhs,
    inplace="lhs", gradient_inplace="output_grad",
)  # fmt: skip
gradientmultiplier = define(
    "_contrib_gradientmultiplier", UNARY, lambda data: data,
    lambda output_grad, scalar, data_grad: np.multiply(output_grad, scalar, data_grad),
    summary="The array itself; its gradient is multiplied by the number, `dy/dx = scalar`.",
    example=("[1, 2]", "scalar=-0.5", "[1., 2.]"), inplace="data", gradient_inplace="output_grad",
    params=NUMBER, compute_dtype="float32",
    contract=Contract(reference=lambda data: data, no_numeric_gradient="the number is there to change it"),
    source="src/operator/contrib/gradient_multiplier_op.cc.",
)  # fmt: skip
