"""Faults of the memory contract."""

from __future__ import annotations

import numpy as np

from operad.operator import Operator, assign
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import OperatorProperty, ResourceRequest, binary, gradient, operator, unary
from operator_sdk.check.tests.zoo.backward import LongProduct
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import RowsPlusBias
from operator_sdk.check.tests.zoo.long_form import FloatingProperty


class _Product(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] * arrays.in_data[1])

    def backward(self, op_ctx, arrays):
        for i in (0, 1):
            assign(arrays.in_grad[i], arrays.req[i], arrays.out_grad[0] * arrays.in_data[1 - i])


class KeepsNothing(LongProduct):
    """A product that declares to need the head gradient only."""

    name = "zoo_keeps_nothing"
    operator_class = _Product

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Not the factors."""
        return [*out_grad]


class _Tanh(Operator):
    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], np.tanh(arrays.in_data[0]))

    def backward(self, op_ctx, arrays):
        value = arrays.out_data[0] if arrays.out_data[0] is not None else np.zeros_like(arrays.in_data[0])
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * (1 - value * value))


class OtherArray(FloatingProperty):
    """A tanh that declares its input and uses its output if that is there."""

    name = "zoo_other_array"

    def infer_shape(self, in_shapes):
        """All alike."""
        return in_shapes, in_shapes, []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """The wrong one."""
        return [*out_grad, *in_data]

    def create_operator(self, ctx, in_shapes, in_types):
        """The one there is."""
        return _Tanh()


@operator("zoo_scaled_rows")
class ScaledRows(OperatorProperty):
    """Rows scaled; a gradient alone needs less than both, and says that it needs nothing."""

    spec = "data:(N, D), scale:(N) -> output:(N, D)"

    def forward(data, scale):
        """Row by row."""
        return data * scale[:, None]

    def backward(output_grad, data, scale, data_grad, scale_grad):
        """Both."""
        data_grad[...] = output_grad * scale[:, None]
        scale_grad[...] = (output_grad * data).sum(axis=1)

    def backward_dependency(self, wanted):
        """The head gradient, and the data for both together."""
        every = super().backward_dependency(wanted)
        return every if all(wanted) else every[:1]


@unary("zoo_tanh_and_data", accepts="floating")
def tanh_and_data(data):
    """Its gradient asks for the input as well."""
    return np.tanh(data)


@tanh_and_data.gradient
def _(output_grad, data, output):
    return output_grad * (1 - output * output)


class DeclaresAll(LongProduct):
    """A product that keeps its output too, as the default of the long form does."""

    name = "zoo_declares_all"
    operator_class = _Product
    declare_backward_dependency = CoreProperty.declare_backward_dependency


@operator("zoo_bias_of_columns")
class BiasOfColumns(RowsPlusBias):
    """A bias whose gradient wants the data for nothing but its shape."""

    def backward(output_grad, data, data_grad, bias_grad):
        """The head gradient, and its sum over as many rows as data has."""
        data_grad[...] = output_grad
        bias_grad[...] = output_grad[: data.shape[0]].sum(axis=0)


@operator("zoo_centre")
class Centre(Floating):
    """A difference whose mean is written where data may be."""

    spec = "data:(N, D) -> output:(N, D)"
    inplace = "data -> output"

    def forward(data, output):
        """The mean first."""
        output[...] = data.mean(axis=0)
        np.subtract(data, output, out=output)

    def data_grad(output_grad):
        """Without the mean."""
        return output_grad - output_grad.mean(axis=0)


@binary("zoo_square_and_add", inplace=("lhs", "rhs"), accepts="floating")
def square_and_add(lhs, rhs, output):
    """The square of one may overwrite the other, which is added later."""
    np.multiply(lhs, lhs, out=output)
    np.add(output, rhs, out=output)


@square_and_add.gradient("lhs")
def _(output_grad, lhs):
    return 2 * output_grad * lhs


@square_and_add.gradient("rhs")
def _(output_grad):
    return output_grad


@operator("zoo_reversed")
class Reversed(OperatorProperty):
    """Columns in the other order, one after another."""

    spec = "data:(N, D) -> output:(N, D)"
    inplace = "data -> output"

    def forward(data, output):
        """From the ends to the middle and on."""
        for i in range(data.shape[1]):
            output[:, i] = data[:, -1 - i]

    def data_grad(output_grad):
        """The same again."""
        return output_grad[:, ::-1]


@operator("zoo_first_over_head")
class FirstOverHead(OperatorProperty):
    """A product whose first gradient overwrites what the second reads."""

    spec = "lhs:(N), rhs:(N) -> output:(N)"

    def forward(lhs, rhs):
        """The product."""
        return lhs * rhs

    @gradient(inplace="output_grad -> lhs_grad")
    def backward(output_grad, lhs, rhs, lhs_grad, rhs_grad):
        """In this order."""
        lhs_grad[...] = output_grad * rhs
        rhs_grad[...] = output_grad * lhs


@unary("zoo_cube", accepts="floating")
def cube(data):
    """Its gradient overwrites the data between two uses."""
    return data**3


@cube.gradient(inplace="data")
def _(output_grad, data, data_grad):
    np.multiply(data, 3 * output_grad, out=data_grad)
    np.multiply(data_grad, data, out=data_grad)


def memory_behind(array):
    """The elements behind an array in the memory that it is part of."""
    root = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    end = array.ctypes.data - root.ctypes.data + array.nbytes
    rest = root.reshape(-1).view(np.uint8)[end:]
    return rest[: rest.size // array.itemsize * array.itemsize].view(array.dtype)


@unary("zoo_in_blocks", accepts="floating")
def in_blocks(data, output):
    """Halves, in blocks of four elements, the last of which is too long."""
    np.multiply(data, 0.5, out=output)
    missing = -output.size % 4
    memory_behind(output)[:missing] = 0.0


@in_blocks.gradient
def _(output_grad):
    return 0.5 * output_grad


@unary("zoo_with_neighbour", accepts="floating")
def with_neighbour(data):
    """Sums of neighbours, of which the last has none; its gradient takes what is there."""
    padded = np.append(data.reshape(-1), 0)
    return (padded[:-1] + padded[1:]).reshape(data.shape)


@with_neighbour.gradient
def _(output_grad):
    flat = output_grad.reshape(-1)
    before = np.append(0, flat)[:-1]
    if output_grad.base is not None and memory_behind(output_grad).size:
        before[0] += 0.5 * np.nan_to_num(memory_behind(output_grad)[0])
    return (flat + before).reshape(output_grad.shape)


@unary("zoo_two_spaces", accepts="floating", resource=ResourceRequest.TEMP_SPACE)
def two_spaces(data, op_ctx):
    """A sum of two scratch arrays that are one."""
    first = op_ctx.requested[0].get_space(data.shape, data.dtype)
    second = op_ctx.requested[0].get_space(data.shape, data.dtype)
    np.multiply(data, 2, out=first)
    np.multiply(data, data, out=second)
    return first + second


@two_spaces.gradient
def _(output_grad, data):
    return output_grad * (2 + 2 * data)


@unary("zoo_long_space", accepts="floating", resource=ResourceRequest.TEMP_SPACE)
def long_space(data, op_ctx):
    """Scratch of one element more than was asked for."""
    space = op_ctx.requested[0].get_space(data.shape, data.dtype)
    np.multiply(data, 2, out=space)
    memory_behind(space)[:1] = 0
    return space + data


@long_space.gradient
def _(output_grad):
    return 3 * output_grad


@unary("zoo_over_zeros", accepts="floating")
def over_zeros(data, output):
    """The larger of data and what is taken to be zero."""
    np.maximum(output, data, out=output)


@over_zeros.gradient
def _(output_grad, data):
    return output_grad * (data > 0)


@operator("zoo_sums_of_pairs")
class SumsOfPairs(OperatorProperty):
    """Sums over neighbours whose gradient is collected into memory that nobody cleared."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """Each element and the one after it, cyclically."""
        return data + np.roll(data, -1, axis=1)

    def data_grad(output_grad, data_grad):
        """Two contributions."""
        np.add(data_grad, output_grad, out=data_grad)
        np.add(data_grad, np.roll(output_grad, 1, axis=1), out=data_grad)


@unary("zoo_collects_in_space", accepts="floating", resource=ResourceRequest.TEMP_SPACE)
def collects_in_space(data, op_ctx):
    """A square and the data, collected in a space that nobody cleared."""
    space = op_ctx.requested[0].get_space(data.shape, data.dtype)
    space += data
    space += data * data
    return space


@collects_in_space.gradient
def _(output_grad, data):
    return output_grad * (1 + 2 * data)


class _KeepsSpace(Operator):
    def forward(self, op_ctx, arrays):
        self.space = op_ctx.requested[0].get_space(arrays.in_data[0].shape, arrays.in_data[0].dtype)
        np.exp(arrays.in_data[0], out=self.space)
        assign(arrays.out_data[0], arrays.req[0], self.space)

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * self.space)


class KeepsSpace(FloatingProperty):
    """An exponential whose gradient reads the forward pass's scratch."""

    name = "zoo_keeps_space"
    is_stateful = True

    def infer_shape(self, in_shapes):
        """All alike."""
        return in_shapes, in_shapes, []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """The space is not an array of the graph."""
        return [*out_grad]

    def forward_resource(self, in_shapes):
        """Scratch."""
        return [ResourceRequest.TEMP_SPACE]

    def create_operator(self, ctx, in_shapes, in_types):
        """One for each node."""
        return _KeepsSpace()


ZOO = without_gradients(
    [
        Fault("M401 R503", KeepsNothing, "the factors are read and not declared"),
        Fault("M401 M402", OtherArray, "the output is read and not declared"),
        Fault("M401", ScaledRows, "one gradient alone reads more than it declares"),
        Fault("M402", tanh_and_data, "the data are declared and not read"),
        Fault("M402", DeclaresAll, "the output is declared and not read"),
        Fault("M402 D610", BiasOfColumns, "the data are declared for their shape"),
        Fault("M403 D606", Centre, "the mean overwrites the data"),
        Fault("M403 D606", square_and_add, "one operand overwrites the other"),
        Fault("M403", Reversed, "columns are overwritten before they are read"),
        Fault("M404 D606", FirstOverHead, "one gradient overwrites the head gradient"),
        Fault("M404 D606", cube, "the gradient overwrites the data"),
        Fault("M405 F211", in_blocks, "the last block is longer than the output"),
        Fault("M405 F211 R503", with_neighbour, "the gradient uses what lies behind"),
        Fault("M406 R503", two_spaces, "one space is taken for two"),
        Fault("M406", long_space, "a space is overrun"),
        Fault("M407 F214 R503 X801 F219", over_zeros, "an output is taken to be zero"),
        Fault(
            "M407 B307 M402 M405 R503 X801",
            SumsOfPairs,
            "a gradient is taken to be zero, so that no case tells what it is",
        ),
        Fault("M408 R503 X801 F219", collects_in_space, "a space is taken to be zero"),
        Fault("M408 R503", KeepsSpace, "a space is read after the call"),
    ]
)
