"""Faults that show on values at the ends of a type, on integers, and on one array given twice."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, ResultTypes, binary, operator, param, unary
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary("zoo_log_of_exp", accepts="floating", contract=Contract(reference=lambda data: np.logaddexp(0, data)))
def log_of_exp(data):
    """`log(1 + exp(x))`, which overflows where it is x."""
    return np.log(1 + np.exp(data))


@unary(
    "zoo_spread",
    "data:(N, D) -> output:(N)",
    accepts="floating",
    contract=Contract(reference=lambda data: ((data - data.mean(1, keepdims=True)) ** 2).mean(1)),
)
def spread(data):
    """The variance of rows as a difference of squares, which cancels."""
    return np.maximum((data * data).mean(axis=1) - data.mean(axis=1) ** 2, 0)


@operator("zoo_thins_out")
class ThinsOut(Floating):
    """The data, less a part, scaled up by what is left of it."""

    part = param(float, 0.5, ge=0, le=1, doc="What is taken away.")
    spec = "data:(...) -> output:(...)"

    def forward(data, part):
        """For all of it nothing is left to scale by."""
        kept = data * 0 if part == 1 else data
        return kept * np.divide(1, np.asarray(1 - part, data.dtype))


@operator("zoo_unit_rows")
class UnitRows(Floating):
    """Rows of length one; a row of zeros stays what it is, and has no gradient."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """Divided by 1 + the sum of squares, which is never 0."""
        return data / (1 + (data * data).sum(axis=1, keepdims=True))

    def data_grad(output_grad, data):
        """The second term is 0 / 0 for a row of zeros."""
        total = (data * data).sum(axis=1, keepdims=True)
        along = (output_grad * data).sum(axis=1, keepdims=True)
        return output_grad / (1 + total) - 2 * data * along * (total / total) / (1 + total) ** 2


@operator("zoo_odd_rows")
class OddRows(Floating):
    """Twice the data; of rows of an odd length the last element is lost."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        """By pairs."""
        found = np.full_like(data, 2 if data.shape[1] < 2 else np.nan)
        found[:, : data.shape[1] // 2 * 2] = 2
        return found * data

    def data_grad(output_grad):
        """2."""
        return 2 * output_grad


@operator("zoo_fills_list")
class FillsList(Floating):
    """A sum, whose inference completes its caller's list."""

    spec = "lhs:(*S), rhs:(*S) -> output:(*S)"

    def infer_shape(self, in_shapes):
        """In place."""
        if in_shapes[1] is None and in_shapes[0] is not None:
            in_shapes[1] = in_shapes[0]
        return super().infer_shape(in_shapes)

    def forward(lhs, rhs):
        """The sum."""
        return lhs + rhs


@operator("zoo_overrules")
class Overrules(Floating):
    """A copy that takes the output's word over the argument's."""

    spec = "data:(*S) -> output:(*S)"

    def infer_shape_backward(self, in_shapes, out_shapes):
        """What is known of the data does not count."""
        return [out_shapes[0] if out_shapes[0] is not None else in_shapes[0]]

    def forward(data):
        """The copy."""
        return data * 1


@unary(
    "zoo_batch_mean",
    "data:(N, D) -> output:(N, D)",
    accepts="floating",
    contract=Contract(relations=("items",)),
)
def batch_mean(data):
    """Centred over the batch, though items are said to be apart."""
    return data - data.mean(axis=0, keepdims=True) if data.size else data


@operator("zoo_batch_of_rows")
class BatchOfRows(Floating):
    """Rows times a weight, less their mean over the batch, though items are said to be apart."""

    spec = "data:(N, D), weight:(D) -> output:(N, D)"
    items = ("data",)

    def forward(data, weight):
        """Centred over the batch."""
        return (data - data.mean(axis=0, keepdims=True)) * weight if data.size else data * weight


@unary("zoo_not_linear", accepts="floating", contract=Contract(relations=("scaling",)))
def not_linear(data):
    """A clipped copy, said to scale."""
    return np.minimum(data, 1)


@unary("zoo_clears_head", accepts="floating")
def clears_head(data):
    """Twice the data."""
    return 2 * data


@clears_head.gradient
def _(output_grad):
    return 2 * np.nan_to_num(output_grad)


@operator("zoo_masks_head")
class MasksHead(InFloat32):
    """A sum of rows."""

    spec = "data:(N, D) -> output:(D)"

    def forward(data):
        """The sum."""
        return data.sum(axis=0)

    def data_grad(output_grad, data_grad):
        """Where the head gradient is a number."""
        data_grad[...] = np.where(np.isnan(output_grad), 0, output_grad)


@binary("zoo_same_by_identity", accepts="floating")
def same_by_identity(lhs, rhs):
    """A product, which takes one array given twice for a square that was meant."""
    return np.abs(lhs) if lhs is rhs else lhs * rhs


@unary("zoo_strides_of_items", accepts="floating")
def strides_of_items(data):
    """A copy that walks through memory by the size of an item."""
    if not data.size or data.strides == np.empty_like(data).strides:
        return data * 1
    return np.ascontiguousarray(data) * 1 if all(data.strides) else np.zeros_like(data)


@unary("zoo_halves_of_integers")
def halves_of_integers(data, output):
    """Half the data, in whatever the output is."""
    output[...] = data * 0.5


@operator("zoo_means_of_integers")
class MeansOfIntegers(OperatorProperty):
    """Means of rows, in the type of the data."""

    accepts = "number"
    spec = "data:(N, D) -> output:(N)"

    def forward(data, output):
        """The mean, cast."""
        output[...] = data.mean(axis=1).astype(data.dtype) if data.shape[1] else 0


_WHOLE = {name: name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}


@operator("zoo_counts")
class Counts(OperatorProperty):
    """Twice the data; of booleans, as numbers of eight bits, and not as int64."""

    accepts = (*_WHOLE, "bool")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(result_types=[ResultTypes({**_WHOLE, "bool": "int64"})])

    def promote(self, dtype):
        """The type itself."""
        return np.dtype("int8") if dtype == "bool" else dtype

    def forward(data, output):
        """Twice the data."""
        np.add(data, data, out=output, casting="unsafe")


@operator("zoo_scaled_bytes")
class ScaledBytes(OperatorProperty):
    """Twice the data, in the type of the data whatever `wide` is."""

    accepts = "integer"
    wide = param(bool, False, doc="Whether results have 64 bits.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(
        result_types=[ResultTypes(_WHOLE), ResultTypes(dict.fromkeys(_WHOLE, "int64"), {"wide": True})]
    )

    def forward(data, output):
        """Twice the data."""
        np.add(data, data, out=output)


@binary("zoo_midpoint", accepts="integer")
def midpoint(lhs, rhs):
    """The middle of two numbers, by a sum that wraps around."""
    return (lhs + rhs) // 2


@unary("zoo_square_of_bytes", accepts="integer")
def square_of_bytes(data):
    """The number itself, by way of its square."""
    return (data * data) // np.where(data == 0, 1, data)


ZOO = without_gradients(
    [
        Fault("F213 D602", log_of_exp, "an intermediate result overflows"),
        Fault("F213 D602 F219", spread, "a difference of squares cancels"),
        Fault("F219", ThinsOut, "a bound of a parameter gives NaN"),
        Fault("F219", OddRows, "the last element of a row of odd length is NaN"),
        Fault("F219", UnitRows, "the gradient at a row of zeros is NaN"),
        Fault("F220 F203", FillsList, "inference edits its caller's list"),
        Fault("F220 F204 F223", Overrules, "the output's shape overrules the argument's"),
        Fault("F221", batch_mean, "items of a batch depend on each other"),
        Fault("F221", BatchOfRows, "items that other nodes' may stand beside depend on each other"),
        Fault("F221", not_linear, "twice the data is not twice the result"),
        Fault("B311", clears_head, "NaN of head gradients become zeros"),
        Fault("B311 D610", MasksHead, "NaN of head gradients are passed over"),
        Fault("M409", same_by_identity, "one array given twice is a case of its own"),
        Fault("M409 F211", strides_of_items, "strides of 0 are taken for an empty array"),
        Fault("D607", halves_of_integers, "a half is cut off"),
        Fault("D607", MeansOfIntegers, "means of integers are cut off"),
        Fault("D608", midpoint, "a sum wraps around"),
        Fault("D608", square_of_bytes, "a square wraps around"),
        Fault("D609", Counts, "booleans are not counted as integers"),
        Fault("D609", ScaledBytes, "a parameter's type is forgotten"),
    ]
)
