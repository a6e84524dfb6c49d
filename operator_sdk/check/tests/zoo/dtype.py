"""Faults of element types, digits and kernels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from operad_sdk import Contract, OperatorProperty, Scalar, operator, unary
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import Square


@unary("zoo_negative_of_all")
def negative_of_all(data):
    """Takes any type, though booleans have no negative."""
    return -data


@negative_of_all.gradient
def _(output_grad):
    return -output_grad


@operator("zoo_typed_by_table")
class TypedByTable(OperatorProperty):
    """Looks types up in a table that lacks most of them."""

    spec = "data:(N, D) -> output:(N, D)"
    table: ClassVar = {"float32": np.float32, "float64": np.float64}

    def infer_type(self, in_types):
        """By the table."""
        if in_types[0] is None:
            return [None], [None], []
        found = np.dtype(self.table[in_types[0].name])
        return [found], [found], []

    def forward(data):
        """The data."""
        return data


@unary("zoo_meant_for_half", accepts="floating", contract=Contract(dtypes=("float32", "float64", "int8")))
def meant_for_half(data):
    """Declares a type that it refuses, and takes one that it does not declare."""
    return data + 1


@meant_for_half.gradient
def _(output_grad):
    return output_grad


@unary("zoo_half_table", accepts="floating")
def half_table(data):
    """Single precision by way of half."""
    value = np.tanh(data)
    return value.astype(np.float16).astype(data.dtype) if data.dtype == np.float32 else value


@half_table.gradient
def _(output_grad, data):
    return output_grad * (1 - np.tanh(data) ** 2)


@unary("zoo_with_offset", accepts="floating")
def with_offset(data):
    """A third of the data, with a large number added and taken away."""
    large = data.dtype.type(2048)
    return (data / 3 + large) - large


@with_offset.gradient
def _(output_grad):
    return output_grad / 3


@unary("zoo_half_gradient", accepts="floating")
def half_gradient(data):
    """A sine whose gradient passes through half precision."""
    return np.sin(data)


@half_gradient.gradient
def _(output_grad, data):
    slope = np.cos(data)
    return output_grad * (slope.astype(np.float16).astype(data.dtype) if data.dtype == np.float32 else slope)


@operator("zoo_mean_of_halves")
class MeanOfHalves(Floating):
    """A mean whose gradient has a large number added and taken away."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        """The mean."""
        return data.mean(axis=1)

    def data_grad(output_grad, data_grad):
        """A part of the head gradient."""
        large = output_grad.dtype.type(4096)
        part = (output_grad[:, None] / data_grad.shape[1] / 3 + large) - large
        data_grad[...] = np.broadcast_to(part * 3, data_grad.shape)


@unary("zoo_single_exponential", accepts="floating")
def single_exponential(data):
    """An exponential in single precision, whatever comes."""
    return np.exp(data.astype(np.float32)).astype(data.dtype)


@single_exponential.gradient
def _(output_grad, data):
    return output_grad * np.exp(data)


@operator("zoo_single_gradient")
class SingleGradient(Square):
    """A square whose gradient is computed in single precision."""

    def data_grad(output_grad, data):
        """In seven digits."""
        return 2 * output_grad.astype(np.float32) * data.astype(np.float32)


@unary("zoo_scaled", scalar=Scalar("factor", default=2.0), accepts="floating")
def scaled(data, factor):
    """Data by a factor, which one kernel forgets."""
    return data * factor


@scaled.gradient
def _(output_grad, factor):
    return output_grad * factor


@scaled.kernel("cpu", priority=-1)
def doubled(data, factor):
    """The default factor for all."""
    return data * 2


@operator("zoo_sum_in_pairs")
class SumInPairs(Floating):
    """A sum of rows with a kernel for an even number of columns."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        """All columns."""
        return data.sum(axis=1)


@SumInPairs.kernel("cpu", priority=-1)
def in_pairs(data):
    """Columns two by two, with no regard for a last one."""
    even = data[:, : data.shape[1] // 2 * 2]
    return (even[:, ::2] + even[:, 1::2]).sum(axis=1)


@unary("zoo_steep", accepts="floating")
def steep(data):
    """A hyperbolic tangent with a kernel that is right in the middle."""
    return np.tanh(data)


@steep.gradient
def _(output_grad, output):
    return output_grad * (1 - output * output)


@steep.kernel("cpu", priority=-1)
def of_a_bend(data):
    """The exponential's quotient, of arguments up to 3."""
    wide = np.clip(data, -3, 3)
    return 1 - 2 / (np.exp(2 * wide) + 1)


@operator("zoo_one_by_one")
class OneByOne(OperatorProperty):
    """Adds rows of single precision one by one."""

    spec = "data:(N + 1, D) -> output:(D)"
    accepts = "floating"
    contract = Contract(reference=lambda data: data.sum(0))

    def forward(data):
        """Row by row."""
        total = np.zeros(data.shape[1:], data.dtype)
        for row in data:
            total += row
        return total

    def data_grad(output_grad, data_grad):
        """`d/dx = 1`."""
        data_grad[...] = output_grad


@operator("zoo_last_prefix")
class LastPrefix(OperatorProperty):
    """Adds a vector to rows; its gradient is added one by one."""

    spec = "data:(N + 1, D), bias:(D) -> output:(N + 1, D)"
    accepts = "floating"
    contract = Contract(reference=lambda data, bias: data + bias)

    def forward(data, bias):
        """To each row."""
        return data + bias

    def data_grad(output_grad):
        """`d/dx = 1`."""
        return output_grad

    def bias_grad(output_grad):
        """`d/dx = 1`, for each row."""
        return np.cumsum(output_grad, 0)[-1]


ZOO = without_gradients(
    [
        Fault("D601 F201", negative_of_all, "a type is taken that has no such operation"),
        Fault("D601", TypedByTable, "a type that is not taken raises a KeyError"),
        Fault("D601", meant_for_half, "a declared type is refused"),
        Fault("D602 D610", half_table, "single precision passes through half"),
        Fault("D602 D610", with_offset, "digits are lost against a large number"),
        Fault("D603 D610", half_gradient, "the gradient passes through half precision"),
        Fault("D603 B303 D610 F219", MeanOfHalves, "digits of the gradient are lost against a large number"),
        Fault("D604 B301 B302 D606 X801", single_exponential, "double precision passes through single"),
        Fault("D604 B303 B312", SingleGradient, "the gradient passes through single precision"),
        Fault("D606", scaled, "a kernel forgets the factor"),
        Fault("D606", SumInPairs, "a kernel forgets the last column"),
        Fault("D606", steep, "a kernel is cut off where the function saturates"),
        Fault("D610 D602", OneByOne, "rows are added one by one"),
        Fault("D610", LastPrefix, "the gradient is the last one of single precision's prefixes"),
    ]
)
