"""Operators of integers that were reported to overflow, to round, or to count wrongly."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@operator("zoo_place_in_half")
class PlaceInHalf(Floating):
    """Where the smallest of each row is first."""

    spec = "data:(N, D + 1) -> output:int64(N)"
    contract = Contract(reference=lambda data: data.argmin(1))

    def forward(data):
        places = np.arange(data.shape[1], dtype=data.dtype)
        is_smallest = data == data.min(1, keepdims=True)
        return (
            np.where(is_smallest, places, data.dtype.type(np.inf))
            .min(1)
            .astype(np.float64)
            .clip(0, 1e9)
            .astype(np.int64)
        )


@operator("zoo_order_of_rows")
class OrderOfRows(Floating):
    """The places by which each row is sorted."""

    spec = "data:(N, D) -> output:int64(N, D)"
    contract = Contract(reference=lambda data: np.argsort(data, 1, kind="stable"))

    def forward(data):
        lifted = data.astype(np.float32) + 8 * np.arange(len(data), dtype=np.float32)[:, None]
        order = np.argsort(lifted.reshape(-1), kind="stable").reshape(data.shape)
        return order % max(data.shape[1], 1)


ZOO = without_gradients(
    [
        Fault(
            "D",
            PlaceInHalf,
            "places are counted in half precision, which has 11 digits",
            report="https://github.com/apache/mxnet/issues/19362",
        ),
        Fault(
            "F",
            OrderOfRows,
            "rows are sorted all at once, each lifted above the one before",
            report="https://github.com/apache/mxnet/issues/7510",
        ),
    ]
)
