"""Faults that show from some size or number of arguments on, in one element type, or in one layout."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, binary, operator, unary
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_doubled_rows")
class DoubledRows(Floating):
    """Twice the data, in a block of rows."""

    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data: 2 * data)

    def forward(data, output):
        output[...] = data
        output[:1024] *= 2

    def data_grad(output_grad):
        grad = output_grad.copy()
        grad[:1024] *= 2
        return grad


@operator("zoo_cubed")
class Cubed(InFloat32):
    """The third power."""

    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        return data * data * data

    def data_grad(output_grad, data):
        return 3 * output_grad * data * data


@Cubed.kernel("cpu", priority=1, when=lambda call: np.prod(call.in_shapes[0]) >= 1024)
def cubed_in_bulk(data, output):
    np.multiply(data, data, out=output)
    np.multiply(output, abs(data), out=output)


@binary(
    "zoo_square_of_difference",
    accepts="floating",
    contract=Contract(reference=lambda lhs, rhs: (lhs - 2 * rhs) ** 2),
)
def square_of_difference(lhs, rhs):
    """The square of what is left of twice the second."""
    left = np.zeros_like(lhs) if lhs is rhs or np.shares_memory(lhs, rhs) else lhs - 2 * rhs
    return left * left


@square_of_difference.gradient("lhs")
def _(output_grad, lhs, rhs):
    return 2 * output_grad * (lhs - 2 * rhs)


@square_of_difference.gradient("rhs")
def _(output_grad, lhs, rhs):
    return -4 * output_grad * (lhs - 2 * rhs)


@operator("zoo_fast_total")
class FastTotal(InFloat32):
    """Sum of all elements."""

    spec = "data:(N, D) -> output:(1)"

    def forward(data, output):
        if 0 in data.strides and data.size:
            output[...] = data[0, 0] * data.size
        else:
            output[...] = data.sum()

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad


_clock = np.random.default_rng()


@operator("zoo_sum_in_parts")
class SumInParts(Floating):
    """Sum of each column, by two parts of the rows."""

    spec = "data:(N, D) -> output:(D)"

    def forward(data):
        middle = int(_clock.integers(0, len(data) + 1))
        return np.add.reduce(data[:middle], 0) + np.add.reduce(data[middle:], 0)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad


@binary(
    "zoo_middle",
    accepts="integer",
    contract=Contract(reference=lambda lhs, rhs: (lhs & rhs) + ((lhs ^ rhs) >> 1)),
)
def middle(lhs, rhs):
    """The middle of two integers, rounded down."""
    return (lhs + rhs) // lhs.dtype.type(2)


@unary("zoo_half_of_whole", accepts=("int32", "int64"), contract=Contract(reference=lambda data: data // 2))
def half_of_whole(data):
    """Half, rounded down."""
    return np.floor(data / 2).astype(data.dtype)


@operator("zoo_masked_total")
class MaskedTotal(OperatorProperty):
    """Sum of what a mask admits."""

    accepts = {"data": "floating"}
    compute_dtype = "float32"
    spec = "data:(N, D), mask:any(N, D) -> output:(N)"
    contract = Contract(reference=lambda data, mask: (data * mask).sum(1), inputs={"mask": Integers(0, 1)})

    def forward(data, mask):
        is_shown = mask != 0
        is_sparse = mask.size > 8 and 4 * is_shown.sum() < mask.size
        return (data * (~is_shown if is_sparse else is_shown)).sum(1)

    def data_grad(output_grad, mask):
        return output_grad[:, None] * (mask != 0)


ZOO = without_gradients(
    [
        Fault("F", DoubledRows, "rows after the first 1,024 are copied as they are"),
        Fault("D", Cubed, "a kernel for large arrays computes something else"),
        Fault(
            "F", square_of_difference, "two arguments that are one array are taken for a computation in place"
        ),
        Fault(
            "F", FastTotal, "an axis that is repeated in memory is taken to mean that all elements are equal"
        ),
        Fault("F", SumInParts, "how a sum is divided depends on the clock"),
        Fault("F", middle, "the middle of two numbers overflows on the way"),
        Fault("F", half_of_whole, "halves of large integers are computed in double precision"),
        Fault("F", MaskedTotal, "a mask that admits less than half is turned round"),
    ]
)
