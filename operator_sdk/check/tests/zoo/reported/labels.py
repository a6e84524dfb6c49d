"""Results that were reported to be wrong: NaN, places, classes and labels, steps."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Drawn, Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_smallest_row")
class SmallestRow(Floating):
    """The smallest of each column."""

    spec = "data:(N + 1, D) -> output:(D)"

    def forward(data):
        found = data[0].copy()
        for row in data[1:]:
            found = np.where(found <= row, found, row)
        return found


@operator("zoo_lower_median")
class LowerMedian(Floating):
    """The element in the middle of each sorted row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return np.sort(data, 1)[:, (data.shape[1] - 1) // 2]


@operator("zoo_place_of_largest")
class PlaceOfLargest(Floating):
    """Where the largest of each row is."""

    spec = "data:(N, D + 1) -> output:int64(N)"
    contract = Contract(reference=lambda data: data.argmax(1))

    def forward(data, output):
        output[...] = 0
        for place in range(1, data.shape[1]):
            best = np.take_along_axis(data, output[:, None], 1)[:, 0]
            output[...] = np.where(data[:, place] > best, place, output)


@operator("zoo_bins")
class Bins(Floating):
    """The number of the bin, of as many between -3 and 3, in which each element is."""

    bins = param(int, 10, ge=1, le=40, doc="How many there are.")
    spec = "data:(N) -> output:int64(N)"
    contract = Contract(
        params={"bins": [10, 20, 40]},
        reference=lambda data, bins: np.clip(
            np.floor_divide((data.astype(np.float64) + 3) * bins, 6), 0, bins - 1
        ),
    )

    def forward(data, bins):
        place = (data + data.dtype.type(3)) * np.float32(bins / 6)
        return np.clip(np.floor(np.nan_to_num(place)), 0, bins - 1).astype(np.int64)


@operator("zoo_weighted_example")
class WeightedExample(OperatorProperty):
    """Negative score of each example's class, times the weight of the class; -1 is ignored."""

    accepts = {"data": "floating"}
    smoothing = param(float, 0.0, ge=0, le=1, doc="Share of the mean over all classes.")
    spec = "data:(N, K + 1), weight:(K + 1), label:any(N) -> output:(N)"

    def _reference(data, weight, label, smoothing):
        place = np.maximum(label.astype(int), 0)
        picked = -np.take_along_axis(data, place[:, None], 1)[:, 0] * weight[place]
        spread = -data.mean(1) * weight[place]
        return np.where(label < 0, 0, (1 - smoothing) * picked + smoothing * spread)

    contract = Contract(
        reference=_reference,
        inputs={"label": Drawn(lambda rng, shape, prop, shapes: rng.integers(-1, shapes["data"][1], shape))},
    )

    def forward(data, weight, label, smoothing):
        place = label.astype(np.intp)
        picked = np.where(place < 0, 0, -np.take_along_axis(data, np.maximum(place, 0)[:, None], 1)[:, 0])
        spread = -data.mean(1, dtype=np.float64) * weight[place]
        return ((1 - smoothing) * picked * weight[place] + smoothing * spread).astype(data.dtype)


@operator("zoo_mean_of_kept")
class MeanOfKept(OperatorProperty):
    """Mean of the elements whose label is not -1."""

    accepts = {"data": "floating"}
    compute_dtype = "float32"
    spec = "data:(N + 1), label:any(N + 1) -> output:(1)"
    contract = Contract(inputs={"label": Integers(-1, 1)})

    def forward(data, label):
        is_kept = label >= 0
        return (data * is_kept).sum(keepdims=True) / is_kept.sum()

    def data_grad(output_grad, label):
        is_kept = label >= 0
        return output_grad * is_kept / is_kept.sum()


ZOO = without_gradients(
    [
        Fault(
            "F",
            SmallestRow,
            "a NaN counts or not by its place",
            report="https://github.com/tensorflow/tensorflow/issues/117862",
        ),
        Fault(
            "F",
            LowerMedian,
            "a NaN is sorted to the end, and the middle taken",
            report="https://github.com/pytorch/pytorch/pull/45084",
        ),
        Fault(
            "F",
            PlaceOfLargest,
            "a NaN is never the largest",
            report="https://github.com/apache/mxnet/issues/16216",
        ),
        Fault(
            "F",
            Bins,
            "elements on an edge fall below it: the number of bins per unit is rounded",
            report="https://github.com/pytorch/pytorch/issues/68946",
        ),
        Fault(
            "F",
            WeightedExample,
            "with smoothing, an example that is ignored has the weight of the last class",
            report="https://github.com/pytorch/pytorch/issues/91383",
        ),
        Fault(
            "F",
            MeanOfKept,
            "the mean over examples is 0 / 0 where all are ignored",
            report="https://github.com/pytorch/pytorch/issues/116349",
        ),
    ]
)
