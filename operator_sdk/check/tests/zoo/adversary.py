"""Faults that a third party's operators may have: each is hidden from all but one circumstance."""

from __future__ import annotations

import numpy as np

from operad.errors import ShapeError
from operad.operator import Operator
from operad.operator import param as core_param
from operad_sdk import (
    BROADCAST,
    Contract,
    OperatorProperty,
    ResourceRequest,
    binary,
    gradient,
    operator,
    param,
    unary,
)
from operad_sdk.domains import Index
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.draws import scaled_dropout
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import Product, Square
from operator_sdk.check.tests.zoo.long_form import AlikeProperty, Times


@operator("zoo_roll")
class Roll(OperatorProperty):
    """Columns shifted round."""

    shift = param(int, 1, doc="How far.")
    spec = "data:(N, D) -> output:(N, D)"
    contract = Contract(reference=lambda data, shift: np.roll(data, shift, 1))

    def forward(data, shift):
        """By one less to the left."""
        return np.roll(data, shift + (shift < 0), 1)

    def data_grad(output_grad, shift):
        """Back by as much."""
        return np.roll(output_grad, -shift - (shift < 0), 1)


@operator("zoo_every_column")
class EveryColumn(OperatorProperty):
    """Every so-many-th column, which inference counts too few of."""

    stride = param(int, 1, ge=1, doc="How many.")
    spec = "data:(N, D) -> output:(N, D//stride)"
    contract = Contract(reference=lambda data, stride: data[:, ::stride])

    def forward(data, output, stride):
        """As many as there is room for."""
        output[...] = data[:, ::stride][:, : output.shape[1]]

    def data_grad(output_grad, data_grad, stride):
        """Back to where they came from."""
        data_grad[...] = 0
        data_grad[:, : output_grad.shape[1] * stride : stride] = output_grad


@unary("zoo_softplus", accepts="floating", contract=Contract(reference=lambda x: np.logaddexp(x, 0)))
def softplus(data):
    """Overflows for large numbers."""
    return np.log(1 + np.exp(data))


@softplus.gradient
def _(output_grad, data):
    return output_grad / (1 + np.exp(-data))


@unary("zoo_half_as_much_again", accepts="integer", contract=Contract(reference=lambda x: x + x // 2))
def half_as_much_again(data):
    """Integers by way of floating ones, which round towards zero."""
    return (data * np.float32(1.5)).astype(data.dtype)


@operator("zoo_sum_over_axis")
class SumOverAxis(InFloat32):
    """A sum over one axis."""

    axis = param(int, 0, doc="Which.")

    def infer_shape(self, in_shapes):
        """Without that axis."""
        (data,) = in_shapes
        if data is None:
            return [None], [None], []
        if not -len(data) <= self.axis < len(data):
            raise ShapeError(f"{self.name}: axis is {self.axis}, but data has {len(data)} axes")
        axis = self.axis % len(data)
        return [data], [data[:axis] + data[axis + 1 :]], []

    def forward(data, axis):
        """NumPy's."""
        return data.sum(axis)

    def data_grad(output_grad, data_grad, axis):
        """Spread over the axis, counted from the first."""
        axis = min(max(axis, 0), data_grad.ndim - 1)
        data_grad[...] = np.resize(np.expand_dims(output_grad, axis), data_grad.shape)


@operator("zoo_square_in_training")
class SquareInTraining(OperatorProperty):
    """A square."""

    spec = "data:(N) -> output:(N)"

    def forward(data):
        """The square."""
        return data * data

    def data_grad(is_train, output_grad, data):
        """Half of it in predictions."""
        return output_grad * data * (2 if is_train else 1)


@binary("zoo_product", BROADCAST, accepts="floating")
def product(lhs, rhs):
    """A product that broadcasts."""
    return lhs * rhs


@product.gradient("lhs")
def _(output_grad, rhs):
    return output_grad * rhs


@product.gradient("rhs")
def _(output_grad, lhs, rhs):
    is_stretched = output_grad.shape not in (lhs.shape, rhs.shape)
    return output_grad * lhs / (2 if is_stretched else 1)


@operator("zoo_second_added")
class SecondAdded(Product):
    """A product, one gradient of which adds itself, and does not."""

    def lhs_grad(output_grad, rhs):
        """As asked."""
        return output_grad * rhs

    @gradient(accumulate=True)
    def rhs_grad(output_grad, lhs, rhs_grad):
        """Written."""
        rhs_grad[...] = output_grad * lhs


@operator("zoo_rows_by_number")
class RowsByNumber(OperatorProperty):
    """Rows of a table."""

    spec = "index:any(N), table:(V, D) -> output:(N, D)"
    contract = Contract(inputs={"index": Index("table")})

    def infer_shape(self, in_shapes):
        """A table has rows."""
        (index, table), outputs, aux = super().infer_shape(in_shapes)
        if table is not None and table[0] == 0:
            raise ShapeError(f"{self.name}: table has shape {table}, expected a row: axis 0 is 0")
        return [index, table], outputs, aux

    def forward(index, table):
        """NumPy's."""
        return table[index.astype(np.intp)]

    def table_grad(output_grad, index, table_grad):
        """A row that is taken twice counts once."""
        table_grad[...] = 0
        table_grad[index.astype(np.intp)] += output_grad


@operator("zoo_drops_twice")
class DropsTwice(OperatorProperty):
    """Elements set to zero at random, and others in the gradient."""

    p = param(float, 0.5, ge=0, lt=1, doc="How likely.")
    spec = "data:(...) -> output:(...), hidden kept:(...)"
    contract = scaled_dropout()

    def forward_resource(self, in_shapes):
        """A generator."""
        return [ResourceRequest.RANDOM]

    backward_resource = forward_resource

    def _draw(self, op_ctx, shape):
        return (op_ctx.requested[0].generator.random(shape) >= self.p) / (1 - self.p)

    def forward(self, op_ctx, is_train, data, output, kept):
        """Keeps what was kept, and nobody reads it."""
        drawn = self._draw(op_ctx, data.shape) if is_train else 1.0
        kept[...] = drawn
        output[...] = data * drawn

    def data_grad(self, op_ctx, is_train, output_grad):
        """Draws again."""
        drawn = self._draw(op_ctx, output_grad.shape) if is_train else 1.0
        return output_grad * drawn


@operator("zoo_late_variance")
class LateVariance(Floating):
    """Columns over a moving deviation, which the gradient reads after it has moved."""

    spec = "data:(N, C); aux moving_var:(C) -> output:(N, C)"

    def forward(is_train, data, moving_var, output):
        """With the one before this batch."""
        output[...] = data / np.sqrt(moving_var + 1)
        if is_train and len(data):
            moving_var[...] = 0.5 * moving_var + 0.5 * (data * data).mean(0)

    def data_grad(output_grad, moving_var):
        """With the one after."""
        return output_grad / np.sqrt(moving_var + 1)


@operator("zoo_flat_gradient")
class FlatGradient(Square):
    """A square whose gradient goes into a copy where it is no block of memory."""

    def data_grad(output_grad, data, data_grad):
        """In one row."""
        data_grad.reshape(-1)[...] = (2 * output_grad * data).reshape(-1)


@operator("zoo_head_by_memory")
class HeadByMemory(Square):
    """A square whose gradient takes the head gradient in the order of memory."""

    def data_grad(output_grad, data):
        """In one row."""
        return 2 * output_grad.ravel("K").reshape(data.shape) * data


class _Compares(Operator):
    def forward(self, op_ctx, arrays):
        if arrays.out_data[0] is not None:
            np.greater(arrays.in_data[0], 1, out=arrays.out_data[0])


class IsLarge(AlikeProperty):
    """Whether elements are above 1, written where it should be added."""

    name = "zoo_is_large"

    def infer_type(self, in_types):
        """Booleans."""
        return in_types, [np.dtype(bool)], []

    def create_operator(self, ctx, in_shapes, in_types):
        """The one there is."""
        return _Compares()


@operator("zoo_rebound_mean")
class ReboundMean(Floating):
    """Data less a moving mean, which is computed and not stored."""

    spec = "data:(N, C); aux moving_mean:(C) -> output:(N, C)"

    def forward(is_train, data, moving_mean):
        """The name means another array from then on."""
        if is_train and len(data):
            moving_mean = 0.9 * moving_mean + 0.1 * data.mean(0)
        return data - moving_mean


_weights = {}


@operator("zoo_weights_by_length")
class WeightsByLength(Floating):
    """Columns weighted, with weights kept for each length and not for each type."""

    spec = "data:(N, D) -> output:(N, D)"

    def _kept(self, data):
        length = data.shape[1]
        if length not in _weights:
            _weights[length] = (1 / np.arange(3, length + 3)).astype(data.dtype)
        return _weights[length]

    def forward(self, data):
        """Weighted."""
        return data * self._kept(data)

    def data_grad(self, output_grad):
        """Likewise."""
        return output_grad * self._kept(output_grad)


class OneForAll(AlikeProperty):
    """A multiple, by one operator for all factors."""

    name = "zoo_one_for_all"
    factor = core_param(float, 2.0, doc="What to multiply with.")
    _operator = None

    def create_operator(self, ctx, in_shapes, in_types):
        """The first one."""
        if OneForAll._operator is None:
            OneForAll._operator = Times(self.factor)
        return OneForAll._operator


_coefficients = None


@unary("zoo_series", accepts="floating")
def series(data):
    """A polynomial, whose coefficients are computed on first use, before everybody's eyes."""
    global _coefficients
    if _coefficients is None:
        _coefficients = []
        for power in range(4):
            _coefficients.append(0.5**power)
    result = np.zeros_like(data)
    for coefficient in _coefficients:
        result = result * data + data.dtype.type(coefficient)
    return result


ZOO = without_gradients(
    [
        Fault("F213", Roll, "off by one for negative values of a parameter"),
        Fault("F213", EveryColumn, "one column too few where the stride does not divide"),
        Fault("F213 D602 B312", softplus, "overflows for large numbers"),
        Fault("F213", half_as_much_again, "rounds the wrong way for negative numbers"),
        Fault("B301 B302 D610", SumOverAxis, "right for axes counted from the first"),
        Fault("B301 B302", SquareInTraining, "right in training alone"),
        Fault("B301 B302", product, "wrong where both arguments are stretched"),
        Fault("B305", SecondAdded, "the second gradient does not add"),
        Fault("B301 B302", RowsByNumber, "indices that repeat count once"),
        Fault("B301 B302 R503", DropsTwice, "the gradient draws its own numbers"),
        Fault("B301 B302", LateVariance, "the gradient reads a state that has changed"),
        Fault("F211", FlatGradient, "the gradient goes into a copy of where it belongs"),
        Fault("F211", HeadByMemory, "the head gradient is read in the order of memory"),
        Fault("F214", IsLarge, "booleans are written where they are to be added"),
        Fault("X801 X805", ReboundMean, "a state never changes, and no reference says that it does"),
        Fault("R501 R502", WeightsByLength, "a cache forgets the type"),
        Fault("R501 R502", OneForAll, "a cache forgets a parameter"),
        Fault("R502", series, "a table is filled while others may read it"),
    ]
)
