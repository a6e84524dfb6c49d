"""Right operators at ties and kinks, of degenerate structure, and of arguments that are one array."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Contract,
    Distribution,
    OperatorProperty,
    ResourceRequest,
    binary,
    operator,
    param,
    unary,
)
from operad_sdk.domains import Index, Integers
from operator_sdk.tests.zoo.fault import Right


def _first(data, value):
    is_value = data == value
    return is_value & (np.cumsum(is_value, 1) == 1)


@operator("zoo_right_first_largest")
class FirstLargest(OperatorProperty):
    """The largest of each row; the first of equal ones gets the gradient."""

    accepts = "floating"
    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return data.max(1)

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * _first(data, output[:, None])


@binary("zoo_right_left_larger", accepts="floating")
def left_larger(lhs, rhs):
    """The larger element; of equal ones the first gets the gradient."""
    return np.maximum(lhs, rhs)


@left_larger.gradient
def _(output_grad, lhs, rhs):
    return output_grad * (lhs >= rhs), output_grad * (rhs > lhs)


@binary("zoo_right_halved_smaller", accepts="floating")
def halved_smaller(lhs, rhs):
    """The smaller element; equal ones share the gradient."""
    return np.minimum(lhs, rhs)


@halved_smaller.gradient
def _(output_grad, lhs, rhs):
    share = np.where(lhs == rhs, 0.5, 1.0)
    return output_grad * (lhs <= rhs) * share, output_grad * (rhs <= lhs) * share


@operator("zoo_right_ascending")
class Sorted(OperatorProperty):
    """Rows in ascending order."""

    accepts = "floating"
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        return np.sort(data, 1)

    def data_grad(output_grad, data, data_grad):
        np.put_along_axis(data_grad, np.argsort(data, 1, kind="stable"), output_grad, 1)


@operator("zoo_right_pairs")
class Pairs(OperatorProperty):
    """The larger of each two neighbours."""

    accepts = "floating"
    spec = "data:(N, W + 1) -> output:(N, W)"

    def forward(data):
        return np.maximum(data[:, 1:], data[:, :-1])

    def data_grad(output_grad, data, data_grad):
        is_second = data[:, 1:] > data[:, :-1]
        data_grad[...] = 0
        data_grad[:, 1:] += output_grad * is_second
        data_grad[:, :-1] += output_grad * ~is_second


@operator("zoo_right_top_two")
class TopTwo(OperatorProperty):
    """Sum of the two largest of each row."""

    accepts = "floating"
    spec = "data:(N, D + 2) -> output:(N)"

    def forward(data):
        return np.sort(data, 1)[:, -2:].sum(1)

    def data_grad(output_grad, data, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, np.argsort(data, 1)[:, -2:], output_grad[:, None], 1)


@operator("zoo_right_largest_magnitude")
class LargestMagnitude(OperatorProperty):
    """The largest magnitude of each row."""

    accepts = "floating"
    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return abs(data).max(1)

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * np.sign(data) * _first(abs(data), output[:, None])


@operator("zoo_right_product_of_rows")
class Product(OperatorProperty):
    """Product of each row, zeros included."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return data.prod(1)

    def data_grad(output_grad, data, data_grad):
        for place in range(data.shape[1]):
            data_grad[:, place] = output_grad * np.delete(data, place, 1).prod(1)


@operator("zoo_right_determinant")
class Determinant(OperatorProperty):
    """Determinants of 2 x 2."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N, 2, 2) -> output:(N)"

    def forward(data):
        return data[:, 0, 0] * data[:, 1, 1] - data[:, 0, 1] * data[:, 1, 0]

    def data_grad(output_grad, data, data_grad):
        data_grad[:, 0, 0], data_grad[:, 1, 1] = output_grad * data[:, 1, 1], output_grad * data[:, 0, 0]
        data_grad[:, 0, 1], data_grad[:, 1, 0] = -output_grad * data[:, 1, 0], -output_grad * data[:, 0, 1]


@operator("zoo_right_margin")
class Margin(OperatorProperty):
    """How far the two largest of a row are apart."""

    accepts = "floating"
    spec = "data:(N, D + 2) -> output:(N)"

    def forward(data):
        order = np.sort(data, 1)
        return order[:, -1] - order[:, -2]

    def data_grad(output_grad, data, data_grad):
        order = np.argsort(data, 1, kind="stable")
        data_grad[...] = 0
        np.put_along_axis(data_grad, order[:, -1:], output_grad[:, None], 1)
        np.put_along_axis(data_grad, order[:, -2:-1], -output_grad[:, None], 1)


@operator("zoo_right_hinge")
class Hinge(OperatorProperty):
    """Margins of a class beside all others."""

    accepts = "floating"
    spec = "data:(N, K + 2), label:int64(N) -> output:(N)"
    contract = Contract(inputs={"label": Index(of="data", axis=1)})

    def forward(data, label):
        own = np.take_along_axis(data, label[:, None], 1)
        margins = np.maximum(0, data - own + 1)
        np.put_along_axis(margins, label[:, None], 0, 1)
        return margins.sum(1)

    def data_grad(output_grad, data, label):
        own = np.take_along_axis(data, label[:, None], 1)
        flow = ((data - own + 1) > 0) * output_grad[:, None]
        np.put_along_axis(flow, label[:, None], 0, 1)
        np.put_along_axis(flow, label[:, None], -flow.sum(1, keepdims=True), 1)
        return flow


@binary("zoo_right_distance_of_numbers", accepts="floating")
def distance(lhs, rhs):
    """A distance of numbers."""
    return abs(lhs - rhs)


@distance.gradient
def _(output_grad, lhs, rhs):
    return output_grad * np.sign(lhs - rhs), output_grad * np.sign(rhs - lhs)


@unary("zoo_right_clipped_closed", accepts="floating")
def clipped(x):
    """Elements between -1 and 1, ends included."""
    return np.clip(x, -1, 1)


@clipped.gradient
def _(output_grad, x):
    return output_grad * (abs(x) <= 1)


@operator("zoo_right_sequence_end")
class SequenceEnd(OperatorProperty):
    """The element of each row that a length says is the last."""

    accepts = "floating"
    spec = "data:(N, D + 1), length:int64(N) -> output:(N)"
    contract = Contract(inputs={"length": Index(of="data", axis=1)})

    def forward(data, length):
        return np.take_along_axis(data, length[:, None], 1)[:, 0]

    def data_grad(output_grad, length, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, length[:, None], output_grad[:, None], 1)


@operator("zoo_right_rows_of_table")
class RowsOfTable(OperatorProperty):
    """Rows of a table, places cut at its ends."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "place:int64(N), table:(K + 1, D) -> output:(N, D)"
    contract = Contract(inputs={"place": Integers(-3, 8)})

    def forward(place, table):
        return table[np.clip(place, 0, len(table) - 1)]

    def table_grad(output_grad, place, table_grad):
        table_grad[...] = 0
        np.add.at(table_grad, np.clip(place, 0, len(table_grad) - 1), output_grad)


_tables = {}


@operator("zoo_right_table_by_shape")
class TableByShape(OperatorProperty):
    """Rows times a taper, made once for each length."""

    accepts = "floating"
    compute_dtype = "float64"
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
class Step(OperatorProperty):
    """A step against a gradient, with momentum; each call is one."""

    accepts = "floating"
    compute_dtype = "float64"
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
    has_gradient = False

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
    has_gradient = False
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
class NoiseOfScale(OperatorProperty):
    """Normal draws."""

    accepts = "floating"
    scale = param(float, 1.0, gt=0, le=8, doc="Their deviation.")
    spec = "data:(*S) -> output:float64(*S)"
    resource = ResourceRequest.RANDOM
    has_gradient = False
    contract = Contract(
        distribution=Distribution(mean=lambda prop: 0.0, variance=lambda prop: prop.scale**2),
        no_numeric_gradient="the data give the shape alone",
    )

    def forward(op_ctx, data, scale):
        return op_ctx.requested[0].generator.normal(0, scale, data.shape)


@operator("zoo_right_first_columns")
class FirstColumns(OperatorProperty):
    """Sum of the first elements of each row."""

    accepts = "floating"
    compute_dtype = "float64"
    count = param(int, 1, ge=1, le=8, doc="How many.")
    spec = "data:(N, D + count) -> output:(N)"

    def forward(data, count):
        return data[:, :count].sum(1)

    def data_grad(output_grad, data_grad, count):
        data_grad[...] = 0
        data_grad[:, :count] = output_grad[:, None]


@operator("zoo_right_window")
class Window(OperatorProperty):
    """A window of 2 x 2 that is refused where it does not fit."""

    accepts = "floating"
    top = param(int, 0, ge=0, le=3, doc="Row where it begins.")
    left = param(int, 0, ge=0, le=3, doc="Column where it begins.")
    spec = "data:(H + top + 2, W + left + 2) -> output:(2, 2)"

    def forward(data, top, left):
        return data[top : top + 2, left : left + 2]

    def data_grad(output_grad, data_grad, top, left):
        data_grad[...] = 0
        data_grad[top : top + 2, left : left + 2] = output_grad


@operator("zoo_right_power")
class Power(OperatorProperty):
    """Powers of whole exponents."""

    accepts = "floating"
    compute_dtype = "float64"
    exponent = param(int, 2, ge=1, le=3, doc="Which.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, exponent):
        return data**exponent

    def data_grad(output_grad, data, exponent):
        return output_grad * exponent * data ** (exponent - 1)


@operator("zoo_right_mirror_border")
class MirrorBorder(OperatorProperty):
    """Rows with one more element at both ends."""

    accepts = "floating"
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
class TiledProduct(OperatorProperty):
    """A product in tiles of 64 rows."""

    accepts = "floating"
    compute_dtype = "float64"
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
class Recurrence(OperatorProperty):
    """Each step is half of the step before, and the data."""

    accepts = "floating"
    compute_dtype = "float64"
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
class Scratch(OperatorProperty):
    """The data plus 1, by way of a buffer of its own."""

    accepts = "floating"
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, output):
        buffer = np.empty_like(data)
        np.add(data, 1, out=buffer)
        output[...] = buffer

    def data_grad(output_grad):
        return output_grad


@operator("zoo_right_momentless")
class MovingMean(OperatorProperty):
    """The data less a moving mean, which training moves."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(N + 1, C); aux mean:(C) -> output:(N + 1, C)"
    contract = Contract(
        reference=lambda data, mean, is_train: (
            data - mean,
            (mean + data.mean(0)) / 2 if is_train else mean,
        )
    )

    def forward(is_train, data, mean, output):
        output[...] = data - mean
        if is_train:
            mean[...] = (mean + data.mean(0)) / 2

    def data_grad(output_grad):
        return output_grad


@operator("zoo_right_squared_eigenvalues")
class SquaredEigenvalues(OperatorProperty):
    """Sum of the squares of the elements of a matrix and its transposed, halved."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "data:(D, D) -> output:(1)"

    def forward(data):
        return ((data + data.T) ** 2).sum(keepdims=True).reshape(1) / 2

    def data_grad(output_grad, data):
        return output_grad * 2 * (data + data.T)


@operator("zoo_right_interpolated")
class Hat(OperatorProperty):
    """A hat around 0 of one width."""

    accepts = "floating"
    compute_dtype = "float64"
    width = param(float, 1.0, gt=0, le=2, doc="Of it.")
    spec = "data:(*S) -> output:(*S)"

    def forward(data, width):
        return np.maximum(0, 1 - abs(data) / width)

    def data_grad(output_grad, data, width):
        return -output_grad * np.where(abs(data) < width, np.sign(data) / width, 0)


@operator("zoo_right_all_but")
class Correlated(OperatorProperty):
    """Correlation of two rows; 0 where one has no spread."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "lhs:(N, D + 2), rhs:(N, D + 2) -> output:(N)"
    has_gradient = False

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
class Gram(OperatorProperty):
    """A product with the second transposed, of one array with itself too."""

    accepts = "floating"
    compute_dtype = "float64"
    spec = "lhs:(N, D), rhs:(M, D) -> output:(N, M)"

    def forward(lhs, rhs):
        return lhs @ rhs.T

    def lhs_grad(output_grad, rhs):
        return output_grad @ rhs

    def rhs_grad(output_grad, lhs):
        return output_grad.T @ lhs


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
    Right(FirstLargest, "of equal ones the first"),
    Right(left_larger, "of two equal arguments the first"),
    Right(halved_smaller, "two equal arguments share"),
    Right(Sorted, "each place has one source"),
    Right(Pairs, "windows that overlap, ties to the left"),
    Right(TopTwo, "two of several equal ones"),
    Right(LargestMagnitude, "one of an element and its negative"),
    Right(Product, "one 0 among others, and several"),
    Right(Determinant, "singular matrices"),
    Right(Margin, "a difference of the two largest, which may be equal"),
    Right(Hinge, "kinks in a sum, and labels"),
    Right(distance, "two arguments that may be one"),
    Right(clipped, "ends included"),
    Right(SequenceEnd, "lengths"),
    Right(RowsOfTable, "places outside, cut"),
    Right(TableByShape, "a table that is kept, of as many lengths as are seen, within a bound"),
    Right(Step, "an update, whose states move always"),
    Right(Truth, "truth values"),
    Right(Shuffled, "a random order"),
    Right(NoiseOfScale, "draws of a scale"),
    Right(FirstColumns, "a whole number up to its bound"),
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
