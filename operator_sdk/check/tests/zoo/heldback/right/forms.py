"""Forms of declaring: in place, long form, mappers, kernels, scratch memory, gradients that add."""

from __future__ import annotations

import numpy as np

from operad.errors import DTypeError
from operad.operator import Operator, assign, unify_shapes
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import (
    binary,
    operator,
    unary,
)
from operad_sdk.element_types import check_accepted
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Right


@unary("zoo_right_tanh_in_place", accepts="floating", inplace="data")
def tanh_in_place(data, output):
    """A hyperbolic tangent."""
    np.tanh(data, out=output)


@tanh_in_place.gradient(inplace="output_grad")
def _(output_grad, output, data_grad):
    np.multiply(output_grad, 1 - output * output, out=data_grad)


@binary("zoo_right_product_in_place", accepts="floating", inplace=("lhs", "rhs"))
def product_in_place(lhs, rhs, output):
    """A product."""
    np.multiply(lhs, rhs, out=output)


@product_in_place.gradient("lhs", inplace="output_grad")
def _(output_grad, rhs, lhs_grad):
    np.multiply(output_grad, rhs, out=lhs_grad)


@product_in_place.gradient("rhs", inplace="output_grad")
def _(output_grad, lhs, rhs_grad):
    np.multiply(output_grad, lhs, out=rhs_grad)


class _Quotient(Operator):
    def forward(self, op_ctx, arrays):
        assign(
            arrays.out_data[0], arrays.req[0], arrays.in_data[0] / (1 + arrays.in_data[1] * arrays.in_data[1])
        )

    def backward(self, op_ctx, arrays):
        below = 1 + arrays.in_data[1] * arrays.in_data[1]
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] / below)
        assign(
            arrays.in_grad[1],
            arrays.req[1],
            -2 * arrays.out_grad[0] * arrays.in_data[0] * arrays.in_data[1] / (below * below),
        )


class Quotient(CoreProperty):
    """A quotient whose denominator is at least 1."""

    name = "zoo_right_quotient"

    def list_arguments(self):
        return ["lhs", "rhs"]

    def infer_shape(self, in_shapes):
        known = next((shape for shape in in_shapes if shape is not None), None)
        shape = self.agree(known, in_shapes)
        return [shape, shape], [shape], []

    def agree(self, known, shapes):
        """The one shape of both arguments."""
        for shape in shapes:
            known = unify_shapes(known, shape, f"{self.name}: lhs and rhs: shape of axes")
        return known

    def infer_type(self, in_types):
        known = next((t for t in in_types if t is not None), None)
        if known is not None:
            for name, dtype in zip(("lhs", "rhs"), in_types, strict=True):
                check_accepted(self.name, name, dtype or known, "floating")
                if dtype is not None and dtype.num != known.num:
                    raise DTypeError(
                        f"{self.name}: {name} is {dtype}, expected {known} as the other one; cast with astype"
                    )
        return [known, known], [known], []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        return [*out_grad, *in_data]

    def create_operator(self, ctx, in_shapes, in_types):
        return _Quotient()


@operator("zoo_right_summed_rows")
class SummedRows(InFloat32):
    """Sum of each row."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        return data.sum(1)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, None]


@SummedRows.kernel("cpu", priority=1, when=lambda call: call.in_shapes[0][1] >= 2)
def summed_by_product(data):
    return data @ np.ones(data.shape[1], data.dtype)


@operator("zoo_right_hidden_branch")
class HiddenBranch(Floating):
    """The larger of an element and its square, with the branch that was taken."""

    spec = "data:(*S) -> output:(*S), hidden is_square:bool(*S)"

    def forward(data, output, is_square):
        squares = data * data
        is_square[...] = squares > data
        output[...] = np.where(squares > data, squares, np.maximum(data, squares))

    def data_grad(output_grad, data, is_square):
        return output_grad * np.where(is_square, 2 * data, 1)


ZOO = [
    Right(tanh_in_place, "over its own input, forward and backward"),
    Right(product_in_place, "over either argument"),
    Right(Quotient, "the long form, with requests"),
    Right(SummedRows, "two kernels that agree within rounding"),
    Right(HiddenBranch, "a hidden output that the gradient reads"),
]
