"""Right operators of places, orders, counts and masks."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, Distinct, Index, Integers, OperatorProperty, gradient, operator, param
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_argmax")
class ArgMax(OperatorProperty):
    """The place of the largest element of each row: of the first among equal ones, or of the first NaN."""

    spec = "data:(N, D) -> output:int64(N); D >= 1"
    accepts = "number"

    def _reference(data):
        found = np.zeros(len(data), np.int64)
        for number, row in enumerate(data):
            best = 0
            for place, value in enumerate(row):
                if not np.isnan(row[best]) and (np.isnan(value) or value > row[best]):
                    best = place
            found[number] = best
        return found

    contract = Contract(
        reference=_reference, nan_policy="places are whole numbers; the first NaN is the largest"
    )

    def forward(data):
        return data.argmax(axis=1)


@operator("zoo_right_sort_rows")
class SortRows(Floating):
    """Each row from its smallest element to its largest; equal ones keep their order, and NaN are last."""

    spec = "data:(N, D) -> output:(N, D), hidden order:int64(N, D)"
    constant_outputs = ("order",)
    contract = Contract(reference=lambda data: np.sort(data, axis=1))

    def forward(data):
        order = np.argsort(data, axis=1, kind="stable")
        return np.take_along_axis(data, order, axis=1), order

    def data_grad(output_grad, order, data_grad):
        np.put_along_axis(data_grad, order, output_grad, axis=1)


@operator("zoo_right_top_k")
class TopK(Floating):
    """The `k` largest elements of each row, from the largest on, and their places; NaN are last."""

    k = param(int, 1, ge=1, le=3, doc="How many.")
    spec = "data:(N, D) -> output:(N, k), places:int64(N, k); D >= k"
    constant_outputs = ("places",)

    def _reference(data, k):
        order = np.argsort(-data, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(data, order, axis=1), order

    contract = Contract(
        reference=_reference,
        inputs={"data": Distinct()},
        nan_policy="NaN is last, and may not be among the largest",
    )

    def forward(data, k):
        order = np.argsort(-data, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(data, order, axis=1), order

    def data_grad(output_grad, places, data_grad):
        data_grad.fill(0)
        np.put_along_axis(data_grad, places, output_grad, axis=1)


@operator("zoo_right_lower_median")
class LowerMedian(Floating):
    """The middle element of each row in order, the lower one of two; NaN if the row has one.

    Of equal elements the first in the row has the gradient.
    """

    spec = "data:(N, D) -> output:(N); D >= 1"
    contract = Contract(
        reference=lambda data: np.where(
            np.isnan(data).any(axis=1), np.nan, np.sort(data, axis=1)[:, (data.shape[1] - 1) // 2]
        )
    )

    def forward(data):
        middle = np.sort(data, axis=1)[:, (data.shape[1] - 1) // 2]
        return np.where(np.isnan(data).any(axis=1), np.nan, middle)

    def data_grad(output_grad, data, output, data_grad):
        data_grad.fill(0)
        hits = (data == output[:, None]).argmax(axis=1)
        data_grad[np.arange(len(data)), hits] = output_grad


def _places(index, rows):
    return np.clip(index, 0, rows - 1).astype(np.intp)


@operator("zoo_right_word_vectors")
class WordVectors(OperatorProperty):
    """Rows of `weight` by number, the last for what is beyond; zeros for 0 and below."""

    spec = "index:int64(N), weight:(V, D) -> output:(N, D); V >= 2"
    accepts = {"weight": "floating"}

    def _reference(index, weight):
        rows = np.zeros((len(index), weight.shape[1]), weight.dtype)
        for place, number in enumerate(index.astype(int)):
            if number > 0:
                rows[place] = weight[min(number, len(weight) - 1)]
        return rows

    contract = Contract(
        reference=_reference,
        inputs={"index": Index("weight")},
        nan_policy="the first row, and rows that no number names, are not read",
    )

    def forward(index, weight):
        rows = weight[_places(index, len(weight))]
        rows[index <= 0] = 0
        return rows

    @gradient(accumulate=True)
    def weight_grad(output_grad, index, weight_grad):
        sums = np.zeros(weight_grad.shape)  # in double precision, as thousands of rows may meet in one
        np.add.at(sums, _places(index, len(sums)), np.where((index > 0)[:, None], output_grad, 0))
        weight_grad += sums.astype(weight_grad.dtype)


@operator("zoo_right_scatter_add")
class ScatterAdd(OperatorProperty):
    """`base` with each of `updates` added at its index; one that is out of range is left out."""

    spec = "base:(V), index:int64(N), updates:(N) -> output:(V)"
    accepts = {"base": "floating", "updates": "floating"}
    compute_dtype = "float32"

    def _reference(base, index, updates):
        output = base.copy()
        for place, value in zip(index.astype(int), updates, strict=True):
            if 0 <= place < len(output):
                output[place] += value
        return output

    contract = Contract(
        reference=_reference,
        inputs={"index": Index("base")},
        nan_policy="updates out of range are not read",
    )

    def forward(base, index, updates):
        kept = (index >= 0) & (index < len(base))
        sums = base.astype(np.float64)
        np.add.at(sums, index[kept], updates[kept])
        return sums.astype(base.dtype)

    def base_grad(output_grad):
        return output_grad

    def updates_grad(output_grad, index, updates_grad):
        kept = (index >= 0) & (index < len(output_grad))
        updates_grad.fill(0)
        updates_grad[kept] = output_grad[index[kept]]


@operator("zoo_right_chosen")
class Chosen(OperatorProperty):
    """The elements for which a mask is true, in order: how many there are depends on its values."""

    spec = "data:(N), mask:bool(N) -> output:(R)"
    accepts = {"data": "floating"}
    is_shaped_by_values = True
    contract = Contract(
        reference=lambda data, mask: data[mask.astype(bool)],
        nan_policy="a NaN that is not chosen does not show",
    )
    count = None

    def for_values(self, in_data):
        chosen = type(self)()
        chosen.is_shaped_by_values = False
        chosen.count = int(np.count_nonzero(in_data[1]))
        return chosen

    def infer_shape(self, in_shapes):
        (data, mask), [output], states = super().infer_shape(in_shapes)
        if data is not None and None not in data:
            output = (self.count,)
        return [data, mask], [output], states

    def forward(data, mask):
        return data[mask]

    def data_grad(output_grad, mask, data_grad):
        data_grad.fill(0)
        data_grad[mask] = output_grad


def _counts(mask):
    return np.maximum(np.count_nonzero(mask, axis=1), 1)


@operator("zoo_right_mean_of_unmasked")
class MaskedMean(OperatorProperty):
    """The mean of each row where a mask is true; 0 where nothing is left."""

    spec = "data:(N, D), mask:bool(N, D) -> output:(N)"
    accepts = {"data": "floating"}
    compute_dtype = "float32"

    def _reference(data, mask):
        rows = zip(data, mask.astype(bool), strict=True)
        return np.array([sum(row[kept]) / max(kept.sum(), 1) for row, kept in rows], data.dtype)

    contract = Contract(reference=_reference, nan_policy="what is masked is not read")

    def forward(data, mask):
        return np.where(mask, data, 0).sum(axis=1) / _counts(mask).astype(data.dtype)

    def data_grad(output_grad, mask):
        share = output_grad / _counts(mask).astype(output_grad.dtype)
        return np.where(mask, share[:, None], 0)


@operator("zoo_right_count_numbers")
class CountNumbers(OperatorProperty):
    """How often each number from 0 to `depth - 1` is in the data; others are not counted."""

    depth = param(int, 4, ge=1, le=64, doc="How many numbers are counted.")
    spec = "data:I(N) -> output:int64(depth)"
    accepts = {"data": "integer"}
    contract = Contract(
        reference=lambda data, depth: np.array([np.count_nonzero(data == n) for n in range(depth)]),
        inputs={"data": Integers(0, 8)},
    )

    def forward(data, depth):
        kept = data[(data >= 0) & (data < depth)].astype(np.int64)
        return np.bincount(kept, minlength=depth)


@operator("zoo_right_bucket")
class Bucket(Floating):
    """How many of ascending edges are at most as large as each element; NaN is beyond all."""

    spec = "data:(*S), edges:(K) -> output:int64(*S)"
    contract = Contract(
        reference=lambda data, edges: ((edges <= data[..., None]) | np.isnan(data[..., None])).sum(axis=-1),
        inputs={"edges": Distinct(is_sorted=True)},
        nan_policy="places are whole numbers",
        narrowed={"reference": "edges that are in no order, or not numbers"},
    )

    def forward(data, edges):
        return np.searchsorted(edges, data, side="right")


ZOO = [
    Right(ArgMax, "places, where NaN is the largest and the first of equal ones is named"),
    Right(SortRows, "an order by values, which the gradient reads from a hidden output"),
    Right(TopK, "values and places of the largest, without ties"),
    Right(LowerMedian, "an element in the middle, of equal ones the first"),
    Right(WordVectors, "a row of the table that is never read and has no gradient"),
    Right(ScatterAdd, "additions at repeated places, and none at those out of range"),
    Right(Chosen, "an output whose length depends on values"),
    Right(MaskedMean, "a row of which nothing is left is 0"),
    Right(CountNumbers, "counts whose shape is a parameter"),
    Right(Bucket, "places among numbers that have to be in order"),
]
