"""Operators of integers that were reported to overflow, to round, or to count wrongly."""

from __future__ import annotations

import numpy as np

from operad.errors import ShapeError
from operad.operator import Operator, assign
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk import Contract, OperatorProperty, binary, operator, param
from operad_sdk.domains import Index
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import PlaceOfSmallest


@operator("zoo_whole_mean")
class WholeMean(OperatorProperty):
    """Mean of each row, rounded down."""

    accepts = "integer"
    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(reference=lambda data: np.array([sum(map(int, row)) // len(row) for row in data]))

    def forward(data):
        return data.sum(1, dtype=data.dtype) // data.dtype.type(data.shape[1])


@operator("zoo_wide_totals")
class WideTotals(OperatorProperty):
    """Sums of each row so far, in 64 bits."""

    accepts = ("uint8", "int8", "int32")
    spec = "data:(N, D) -> output:int64(N, D)"
    contract = Contract(reference=lambda data: np.cumsum(data.astype(np.int64), 1))

    def forward(data):
        return np.cumsum(data, 1, dtype=data.dtype).astype(np.int64)


@operator("zoo_place_in_byte")
class PlaceInByte(PlaceOfSmallest):
    """Where the smallest of each row is."""

    def forward(data):
        return data.argmin(1).astype(np.uint8).astype(np.int64)


@operator("zoo_flat_take")
class FlatTake(OperatorProperty):
    """Rows of a table by number, by way of the places of their elements."""

    accepts = {"table": "floating"}
    spec = "table:(V + 1, D), index:any(N) -> output:(N, D)"
    contract = Contract(
        inputs={"index": Index("table")}, reference=lambda table, index: table[index.astype(np.int64)]
    )

    def forward(table, index):
        index = index if index.dtype.kind in "iu" else index.astype(np.int64)
        with np.errstate(over="ignore"):
            begins = index * np.asarray(table.shape[1]).astype(index.dtype)
        places = begins[:, None].astype(np.int64) + np.arange(table.shape[1])
        return table.reshape(-1)[places % max(table.size, 1)] if table.size else np.zeros(places.shape)


@operator("zoo_largest_row")
class LargestRow(OperatorProperty):
    """Which row has the largest of each column."""

    accepts = "number"
    spec = "data:(N + 1, D) -> output:int64(D)"
    contract = Contract(reference=lambda data: data.argmax(0))

    def forward(data):
        return np.arange(data.shape[1]) if len(data) == 1 else data.argmax(0)


@operator("zoo_differences")
class Differences(OperatorProperty):
    """Differences of neighbours, in 64 bits."""

    accepts = ("uint8", "int32", "int64")
    spec = "data:(N + 1) -> output:int64(N)"
    contract = Contract(reference=lambda data: np.diff(data.astype(np.int64)))

    def forward(data):
        return np.diff(data).astype(np.int64)


@binary(
    "zoo_byte_difference",
    accepts="integer",
    contract=Contract(reference=lambda lhs, rhs: np.subtract(lhs, rhs)),
)
def byte_difference(lhs, rhs):
    """A difference modulo the size of the type."""
    return np.where(rhs > lhs, 0, lhs - rhs).astype(lhs.dtype) if lhs.dtype.kind == "u" else lhs - rhs


@operator("zoo_tall_argmin")
class TallArgmin(PlaceOfSmallest):
    """Where the smallest of each row is."""

    def forward(data):
        if data.shape[1] == 1 and len(data) > 1000:
            return np.arange(len(data)) % 1000 // 999
        return data.argmin(1)


@operator("zoo_ramp_like")
class RampLike(Floating):
    """Multiples of a step, as many as there are elements."""

    step = param(float, 0.1, gt=0, le=4, doc="Distance of neighbours.")
    spec = "data:(N) -> output:(N)"
    contract = Contract(
        params={"step": [0.1, 1.0, 0.7]},
        reference=lambda data, step: step * np.arange(len(data), dtype=np.float64),
    )

    def forward(data, step):
        steps = np.full(len(data), step, np.float32)
        steps[:1] = 0
        return np.cumsum(steps).astype(data.dtype)


class _LastLargest(Operator):
    @staticmethod
    def direct(data, out):
        out[...] = data.shape[1] - 1 - data[:, ::-1].argmax(1)

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0].argmax(1))


class LastLargest(CoreProperty):
    """Where the largest of each row is first."""

    name = "zoo_first_largest"
    has_gradient = False

    def infer_shape(self, in_shapes):
        data = in_shapes[0]
        if data is not None and (len(data) != 2 or data[1] == 0):
            raise ShapeError(f"{self.name}: data has shape {data}, expected rows of at least one: axis 1")
        return [data], [None if data is None else data[:1]], []

    def infer_type(self, in_types):
        return list(in_types), [np.dtype(np.int64)], []

    def create_operator(self, ctx, in_shapes, in_types):
        return _LastLargest()


ZOO = without_gradients(
    [
        Fault(
            "F",
            WholeMean,
            "a mean of integers is a sum that overflows first",
            report="https://github.com/tensorflow/tensorflow/issues/125978",
        ),
        Fault(
            "F",
            WideTotals,
            "sums so far wrap around in the type of the data, though there is room",
            report="https://github.com/pytorch/pytorch/issues/3304",
        ),
        Fault(
            "F", PlaceInByte, "places are kept in one byte", report="https://github.com/cupy/cupy/issues/8014"
        ),
        Fault(
            "F",
            FlatTake,
            "the place of an element is computed in the type of the index",
            report="https://github.com/cupy/cupy/pull/758",
        ),
        Fault(
            "F",
            LargestRow,
            "of a single row the places along the other axis are returned",
            report="https://github.com/apache/mxnet/issues/20842",
        ),
        Fault(
            "F",
            Differences,
            "differences are taken in an unsigned type",
            report="https://github.com/numpy/numpy/issues/2522",
        ),
        Fault(
            "F",
            byte_difference,
            "a difference below 0 is 0 in place of wrapping around",
            report="https://github.com/openvinotoolkit/openvino/issues/33164",
        ),
        Fault(
            "F",
            TallArgmin,
            "more than a thousand rows of one element are taken for one row",
            report="https://github.com/pytorch/pytorch/issues/40022",
        ),
        Fault(
            "F",
            RampLike,
            "equal steps are added up, and their rounding too",
            report="https://github.com/apache/mxnet/issues/8242",
        ),
        Fault(
            "F",
            LastLargest,
            "called with an array to fill it counts from the last place",
            report="https://github.com/cupy/cupy/issues/8784",
        ),
    ]
)
