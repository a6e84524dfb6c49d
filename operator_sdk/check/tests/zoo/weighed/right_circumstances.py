"""Right operators of parameters, draws, long sizes, states and arguments that are one array."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Contract,
    Distribution,
    OperatorProperty,
    ResourceRequest,
    operator,
    param,
    unary,
)
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import GramMatrix, LessMovingMean

_tables = {}


@operator("zoo_right_table_by_shape")
class TableByShape(InFloat64):
    """Rows times a taper, made once for each length."""

    spec = "data:(N, D) -> output:(N, D)"

    def _taper(width):
        if width not in _tables:
            if len(_tables) > 64:
                _tables.clear()
            _tables[width] = np.linspace(0, 1, width)
        return _tables[width]

    def forward(data):
        return data * TableByShape._taper(data.shape[1])

    def data_grad(output_grad):
        return output_grad * TableByShape._taper(output_grad.shape[1])


@operator("zoo_right_step")
class Step(InFloat64):
    """A step against a gradient, with momentum; each call is one."""

    rate = param(float, 0.1, ge=0, doc="How far.")
    spec = "weight:(*S), grad:(*S); aux momentum:(*S) -> output:(*S)"
    contract = Contract(
        states_move="always",
        no_numeric_gradient="an update is not differentiated",
        reference=lambda weight, grad, momentum, rate: (
            weight + (0.5 * momentum - rate * grad),
            0.5 * momentum - rate * grad,
        ),
    )

    def forward(weight, grad, momentum, rate):
        momentum *= 0.5
        momentum -= rate * grad
        return weight + momentum


@operator("zoo_right_truth")
class Truth(OperatorProperty):
    """Whether numbers are above others."""

    accepts = "number"
    spec = "lhs:(*S), rhs:(*S) -> output:bool(*S)"
    contract = Contract(reference=np.greater)

    def forward(lhs, rhs):
        return lhs > rhs


@operator("zoo_right_shuffled")
class Shuffled(OperatorProperty):
    """Rows in a random order."""

    accepts = "number"
    spec = "data:(N, D) -> output:(N, D)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        distribution=Distribution(
            mean=lambda prop: 9.5,
            variance=lambda prop: 33.25,
            draws=lambda prop, inputs, outputs: np.searchsorted(np.sort(inputs[0][:, 0]), outputs[0][:1, 0]),
            shapes=((20, 1),),
        ),
        no_numeric_gradient="a random order has none",
    )

    def forward(op_ctx, data):
        return data[op_ctx.requested[0].generator.permutation(len(data))]


@operator("zoo_right_noise_of_scale")
class NoiseOfScale(Floating):
    """Normal draws."""

    scale = param(float, 1.0, gt=0, le=8, doc="Their deviation.")
    spec = "data:(*S) -> output:float64(*S)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        distribution=Distribution(mean=lambda prop: 0.0, variance=lambda prop: prop.scale**2),
        no_numeric_gradient="the data give the shape alone",
    )

    def forward(op_ctx, data, scale):
        return op_ctx.requested[0].generator.normal(0, scale, data.shape)


@operator("zoo_right_first_columns")
class FirstColumns(InFloat64):
    """Sum of the first elements of each row."""

    count = param(int, 1, ge=1, le=8, doc="How many.")
    spec = "data:(N, D + count) -> output:(N)"

    def forward(data, count):
        return data[:, :count].sum(1)

    def data_grad(output_grad, data_grad, count):
        data_grad[...] = 0
        data_grad[:, :count] = output_grad[:, None]


@operator("zoo_right_window")
class Window(Floating):
    """A window of 2 x 2 that is refused where it does not fit."""

    top = param(int, 0, ge=0, le=3, doc="Row where it begins.")
    left = param(int, 0, ge=0, le=3, doc="Column where it begins.")
    spec = "data:(H + top + 2, W + left + 2) -> output:(2, 2)"

    def forward(data, top, left):
        return data[top : top + 2, left : left + 2]

    def data_grad(output_grad, data_grad, top, left):
        data_grad[...] = 0
        data_grad[top : top + 2, left : left + 2] = output_grad


@operator("zoo_right_power")
class Power(InFloat64):
    """Powers of whole exponents."""

    exponent = param(int, 2, ge=1, le=3, doc="Which.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, exponent):
        return data**exponent

    def data_grad(output_grad, data, exponent):
        return output_grad * exponent * data ** (exponent - 1)


@operator("zoo_right_mirror_border")
class MirrorBorder(Floating):
    """Rows with one more element at both ends."""

    mode = param(str, "edge", choices=("edge", "mirror"), doc="What it is.")
    spec = "data:(N, D + 2) -> output:(N, D + 4)"

    def forward(data, mode):
        left, right = {"edge": (0, -1), "mirror": (1, -2)}[mode]
        return np.concatenate([data[:, [left]], data, data[:, [right]]], 1)

    def data_grad(output_grad, data_grad, mode):
        left, right = {"edge": (0, -1), "mirror": (1, -2)}[mode]
        data_grad[...] = output_grad[:, 1:-1]
        data_grad[:, left] += output_grad[:, 0]
        data_grad[:, right] += output_grad[:, -1]


@operator("zoo_right_tiled_product")
class TiledProduct(InFloat64):
    """A product in tiles of 64 rows."""

    spec = "data:(N, D), weight:(M, D) -> output:(N, M)"

    def forward(data, weight, output):
        for begin in range(0, len(data), 64):
            output[begin : begin + 64] = data[begin : begin + 64] @ weight.T

    def data_grad(output_grad, weight):
        return output_grad @ weight

    def weight_grad(output_grad, data, weight_grad):
        weight_grad[...] = 0
        for begin in range(0, len(data), 64):
            weight_grad += output_grad[begin : begin + 64].T @ data[begin : begin + 64]


@operator("zoo_right_halving_recurrence")
class Recurrence(InFloat64):
    """Each step is half of the step before, and the data."""

    spec = "data:(T, N) -> output:(T, N)"

    def forward(data, output):
        state = 0
        for step, row in enumerate(data):
            state = state / 2 + row
            output[step] = state

    def data_grad(output_grad, data_grad):
        flow = 0
        for step in range(len(output_grad) - 1, -1, -1):
            flow = flow / 2 + output_grad[step]
            data_grad[step] = flow


@operator("zoo_right_scratch")
class Scratch(Floating):
    """The data plus 1, by way of a buffer of its own."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, output):
        buffer = np.empty_like(data)
        np.add(data, 1, out=buffer)
        output[...] = buffer

    def data_grad(output_grad):
        return output_grad


@operator("zoo_right_momentless")
class MovingMean(LessMovingMean):
    """The data less a moving mean, which training moves."""

    def forward(is_train, data, mean, output):
        output[...] = data - mean
        if is_train:
            mean[...] = (mean + data.mean(0)) / 2


@operator("zoo_right_squared_eigenvalues")
class SquaredEigenvalues(InFloat64):
    """Sum of the squares of the elements of a matrix and its transposed, halved."""

    spec = "data:(D, D) -> output:(1)"

    def forward(data):
        return ((data + data.T) ** 2).sum(keepdims=True).reshape(1) / 2

    def data_grad(output_grad, data):
        return output_grad * 2 * (data + data.T)


@operator("zoo_right_interpolated")
class Hat(forwards.Hat, InFloat64):
    """A hat around 0 of one width."""

    def data_grad(output_grad, data, width):
        return -output_grad * np.where(abs(data) < width, np.sign(data) / width, 0)


@operator("zoo_right_all_but")
class Correlated(InFloat64):
    """Correlation of two rows; 0 where one has no spread."""

    spec = "lhs:(N, D + 2), rhs:(N, D + 2) -> output:(N)"

    def _correlation(lhs, rhs):
        left, right = (data - data.mean(1, keepdims=True) for data in (lhs, rhs))
        scale = np.sqrt((left * left).sum(1)) * np.sqrt((right * right).sum(1))
        return np.where(scale == 0, 0, (left * right).sum(1) / np.where(scale == 0, 1, scale))

    contract = Contract(
        no_numeric_gradient="a measure, through which nothing is trained", reference=_correlation
    )

    def forward(lhs, rhs):
        return Correlated._correlation(lhs, rhs)


@operator("zoo_right_joined_rows")
class Joined(OperatorProperty):
    """Two arrays one after the other."""

    accepts = "number"
    spec = "lhs:(N, D), rhs:(M, D) -> output:(N + M, D)"

    def forward(lhs, rhs):
        return np.concatenate([lhs, rhs])

    def lhs_grad(output_grad, lhs_grad):
        lhs_grad[...] = output_grad[: len(lhs_grad)]

    def rhs_grad(output_grad, rhs_grad):
        rhs_grad[...] = output_grad[len(output_grad) - len(rhs_grad) :]


@operator("zoo_right_gram")
class Gram(GramMatrix):
    """A product with the second transposed, of one array with itself too."""

    def lhs_grad(output_grad, rhs):
        return output_grad @ rhs


@unary("zoo_right_bounded_memory", accepts="floating")
def bounded_memory(x):
    """The negative; the last of the data are kept."""
    _last[:] = [*_last[-3:], x.shape]
    return -x


_last = []


@bounded_memory.gradient
def _(output_grad):
    return -output_grad


ZOO = [
    Right(TableByShape, "a table that is kept, of as many lengths as are seen, within a bound"),
    Right(Step, "an update, whose states move always"),
    Right(Truth, "booleans"),
    Right(Shuffled, "a random order"),
    Right(NoiseOfScale, "draws of a scale"),
    Right(FirstColumns, "an integer up to its bound"),
    Right(Window, "a window that has to fit"),
    Right(Power, "odd powers of negative numbers"),
    Right(MirrorBorder, "elements that are used twice"),
    Right(TiledProduct, "sums over tiles"),
    Right(Recurrence, "a long recurrence"),
    Right(Scratch, "a buffer for each call"),
    Right(MovingMean, "a state over long batches"),
    Right(SquaredEigenvalues, "an array and its transposed"),
    Right(Hat, "three kinks"),
    Right(Correlated, "rows without spread"),
    Right(Joined, "parts of unequal lengths"),
    Right(Gram, "one array twice"),
    Right(bounded_memory, "a memory with an end"),
]
