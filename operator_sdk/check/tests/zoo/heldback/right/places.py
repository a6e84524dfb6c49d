"""Places: elements by number, lengths, sorts, windows."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.domains import Index
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_picked_rows")
class PickedRows(OperatorProperty):
    """Rows of a table by number."""

    accepts = {"table": "floating"}
    spec = "table:(V + 1, D), index:any(N) -> output:(N, D)"
    contract = Contract(inputs={"index": Index("table")})

    def forward(table, index):
        return table[index.astype(np.intp)]

    def table_grad(output_grad, index, table_grad):
        table_grad[...] = 0
        np.add.at(table_grad, index.astype(np.intp), output_grad)


@operator("zoo_right_scattered")
class Scattered(OperatorProperty):
    """Rows added up by number."""

    accepts = {"data": "floating"}
    compute_dtype = "float32"
    size = param(int, 3, ge=1, le=6, doc="How many rows there are to add to.")
    spec = "data:(N, D), index:any(N) -> output:(size, D)"
    contract = Contract(inputs={"index": Index("size")})

    def forward(data, index, output):
        output[...] = 0
        np.add.at(output, index.astype(np.intp), data)

    def data_grad(output_grad, index):
        return output_grad[index.astype(np.intp)]


@operator("zoo_right_windows")
class Windows(Floating):
    """All windows of one length."""

    size = param(int, 2, ge=1, le=3, doc="Their length.")
    spec = "data:(W + size) -> output:(W + 1, size)"

    def forward(data, size):
        return np.lib.stride_tricks.sliding_window_view(data, size)

    def data_grad(output_grad, data_grad, size):
        data_grad[...] = 0
        for place in range(size):
            data_grad[place : place + len(output_grad)] += output_grad[:, place]


def _first(data, bound):
    found = [place for place, value in enumerate(data.tolist()) if value != 0]
    return np.array((found + [-1] * bound)[:bound])


@operator("zoo_right_first_places")
class FirstPlaces(OperatorProperty):
    """The first places at which data are other than 0; -1 where there are no more."""

    accepts = "number"
    bound = param(int, 3, ge=1, le=6, doc="How many places.")
    spec = "data:(N) -> output:int64(bound)"
    contract = Contract(reference=lambda data, bound: _first(data, bound))

    def forward(data, output, bound):
        found = np.flatnonzero(data)[:bound]
        output[...] = -1
        output[: len(found)] = found


@operator("zoo_right_sorted")
class Sorted(Floating):
    """Rows in ascending order."""

    spec = "data:(N, D) -> output:(N, D)"

    def forward(data):
        return np.sort(data, axis=1, kind="stable")

    def data_grad(output_grad, data, data_grad):
        np.put_along_axis(data_grad, np.argsort(data, 1, kind="stable"), output_grad, 1)


ZOO = [
    Right(PickedRows, "places that repeat add up"),
    Right(Scattered, "the inverse of picking: rows that meet are summed"),
    Right(Windows, "overlapping windows"),
    Right(FirstPlaces, "places where something holds, up to a bound"),
    Right(Sorted, "a sort, whose gradient goes where elements came from"),
]
