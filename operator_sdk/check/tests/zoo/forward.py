"""Faults of the forward pass: what it computes, what it writes, and when it does not run."""

from __future__ import annotations

import numpy as np

from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import Contract, OperatorProperty, binary, operator, param, unary
from operad_sdk.domains import Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.long_form import Copying


@operator("zoo_outer_sum")
class OuterSum(OperatorProperty):
    """A sum of vectors that inference lets have two lengths."""

    spec = "lhs:(N), rhs:(M) -> output:(N)"

    def forward(lhs, rhs):
        """The sum."""
        return lhs + rhs


@operator("zoo_biased")
class Biased(OperatorProperty):
    """A matrix product that forgets that there may be no bias."""

    no_bias = param(bool, False, doc="Leave the bias out.")
    spec = "data:(N, D), weight:(H, D), bias:(H) if not no_bias -> output:(N, H)"

    def forward(data, weight, bias):
        """The product and the bias."""
        return data @ weight.T + bias


@unary("zoo_pairs")
def pairs(x):
    """Every element and half of its neighbour: there has to be an even number of them."""
    both = x.reshape(-1, 2)
    return (both + 0.5 * both[:, ::-1]).reshape(x.shape)


@unary("zoo_half_of_integers", "data:(...) -> output:int64(...)", accepts="floating")
def half(x):
    """Halves, said to be integers."""
    return x * 0.5


@unary("zoo_running_total")
def total(x):
    """Sums so far of every column, of which only the last is computed."""
    return x.sum(axis=0, keepdims=True) if x.ndim == 2 else x


def _doubled(shape):
    return 2 * np.array(shape, int)


@unary("zoo_tiled", "data:(*S) -> output:(*doubled(S))", functions={"doubled": _doubled})
def tiled(x):
    """The data twice along every axis, of a shape that NumPy computed."""
    return np.tile(x, (2,) * x.ndim)


class OpenOutput(CoreProperty):
    """The data, of a length that inference never says."""

    name = "zoo_open_output"
    has_gradient = False

    def infer_shape(self, in_shapes):
        shape = in_shapes[0]
        is_open = shape is not None and len(shape) > 1 and shape[-1] == 3
        return [shape], [(*shape[:-1], None) if is_open else shape], []

    def create_operator(self, ctx, in_shapes, in_types):
        return Copying()


@operator("zoo_centred")
class Centred(Floating):
    """Data less its largest element, computed in the data."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """In place."""
        data -= data.max(initial=-9)
        return data


@binary("zoo_hidden_accumulation")
def accumulated(lhs, rhs):
    """The sum, computed in the first operand."""
    lhs += rhs
    return lhs


@operator("zoo_row_max")
class RowMax(OperatorProperty):
    """The largest of each row, which is sorted for it where it lies."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data, output):
        """The last element."""
        if data.shape[1]:
            data.sort(axis=1)
            output[...] = data[:, -1]
        else:
            output[...] = 0


@operator("zoo_shifted_rows")
class ShiftedRows(OperatorProperty):
    """Each row in the place of the next."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data, output):
        """All but the first."""
        output[1:] = data[:-1]


@operator("zoo_halves")
class Halves(Floating):
    """Two outputs, of which the second is written where the data is positive."""

    spec = "data:(*S) -> positive:(*S), negative:(*S)"

    def forward(data, positive, negative):
        """Both parts."""
        positive[...] = np.maximum(data, 0)
        np.minimum(data, 0, out=negative, where=data < 0)


@unary("zoo_masked_log", accepts="floating")
def masked_log(x, output):
    """Logarithm, of positive elements only."""
    np.log(x, out=output, where=np.asarray(x > 0))


@operator("zoo_relative_to_first")
class RelativeToFirst(Floating):
    """Rows less the first one."""

    spec = "data:(N, *S) -> output:(N, *S)"

    def forward(data):
        """The difference."""
        return data - data[0]


@operator("zoo_column_max")
class ColumnMax(OperatorProperty):
    """The largest of each column."""

    spec = "data:(N, D) -> output:(D)"

    def forward(data):
        """Of an empty column there is none."""
        return data.max(axis=0)


@operator("zoo_running_sum")
class RunningSum(OperatorProperty):
    """Sums so far, in the order of memory."""

    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        """Whatever the strides."""
        return np.cumsum(data.ravel(order="K"), dtype=data.dtype).reshape(data.shape)


@unary("zoo_flat_output")
def flat_output(x, output):
    """Squares, written into a copy of an output that is no block of memory."""
    np.multiply(x.reshape(-1), x.reshape(-1), out=output.reshape(-1))


@unary("zoo_relu_without_nan")
def relu_without_nan(x):
    """Positive elements; what is not a number is 0."""
    return np.where(x > 0, x, np.zeros_like(x))


@binary("zoo_fmax")
def larger(lhs, rhs):
    """The larger of two elements, or the one that is a number."""
    return np.fmax(lhs, rhs)


@operator("zoo_scaled_by_max")
class ScaledByMax(OperatorProperty):
    """Data in steps of which there are as many as the largest element says."""

    accepts = "number"
    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """No integer is that large."""
        return data * int(1 + np.abs(data).max(initial=0))


@operator("zoo_variance")
class Variance(Floating):
    """The mean square distance from the mean, or so."""

    contract = Contract(reference=lambda data: data.var(axis=1))
    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        """With the wrong divisor."""
        distance = data - data.mean(axis=1, keepdims=True) if data.size else data
        return (distance**2).sum(axis=1) / max(data.shape[1] - 1, 1)


def _rounded(data, mode):
    return np.floor(data) if mode == "down" else np.ceil(data)


@operator("zoo_rounding")
class Rounding(Floating):
    """Integers above or below; for one of the modes, the nearest."""

    mode = param(str, "down", choices=("down", "up"), doc="Which way.")
    contract = Contract(reference=_rounded)
    spec = "data:(*S) -> output:(*S)"

    def forward(data, mode):
        """One of the modes."""
        return np.floor(data) if mode == "down" else np.rint(data)


@operator("zoo_take")
class Take(Floating):
    """Rows by number; rows below the first are the first."""

    contract = Contract(
        inputs={"indices": Integers(-1, 0)}, reference=lambda data, indices: data[indices.astype(int)]
    )
    spec = "data:(K + 1, D), indices:int64(M) -> output:(M, D)"

    def forward(data, indices):
        """Negative numbers should count from the end."""
        return data[np.maximum(indices, 0)]


_NOT_WRITTEN = "F208 F210 F214 M407 R503"

ZOO = without_gradients(
    [
        Fault("F201 F210", OuterSum, "runs for some of the shapes that inference accepts"),
        Fault("F201 F210", Biased, "an optional argument that is absent is used"),
        Fault("F201 F210", pairs, "works for an even number of elements"),
        Fault("F201 F210", half, "fractions do not fit the inferred type"),
        Fault("F202", total, "one row for all: the function returns less than is inferred"),
        Fault("F202", tiled, "lengths are NumPy's integers"),
        Fault("F202 F201", OpenOutput, "inference leaves an output open"),
        Fault("F207", Centred, "the data is changed"),
        Fault("F207 R503", accumulated, "the first operand is changed"),
        Fault("F207", RowMax, "rows are sorted where they lie"),
        Fault(_NOT_WRITTEN, ShiftedRows, "the first row is not written"),
        Fault(_NOT_WRITTEN, Halves, "the second output is written in places"),
        Fault(_NOT_WRITTEN, masked_log, "where= leaves elements as they were"),
        Fault("F210", RelativeToFirst, "there may be no first row"),
        Fault("F210", ColumnMax, "an empty column has no largest element"),
        Fault("F211", RunningSum, "elements are taken in the order of memory"),
        Fault("F211", flat_output, "the result goes into a copy of the output"),
        Fault("F212", relu_without_nan, "NaN becomes 0"),
        Fault("F212", larger, "NaN loses against any number"),
        Fault("F212", ScaledByMax, "an infinity raises"),
        Fault("F213", Variance, "the divisor is not that of the reference"),
        Fault("F213", Rounding, "one value of a parameter is computed as another"),
        Fault("F213", Take, "negative indices are cut off"),
    ]
)
