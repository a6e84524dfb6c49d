"""Right operators at ties and kinks, of degenerate structure, and of arguments that are one array."""

from __future__ import annotations

import numpy as np

from operad_sdk import (
    Contract,
    binary,
    operator,
    unary,
)
from operad_sdk.domains import Index, Integers
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import LargerNeighbour, LargestOfRow, RowProduct, SortedRows


def _first(data, value):
    is_value = data == value
    return is_value & (np.cumsum(is_value, 1) == 1)


@operator("zoo_right_first_largest")
class FirstLargest(LargestOfRow):
    """The largest of each row; the first of equal ones gets the gradient."""

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
class Sorted(SortedRows):
    """Rows in ascending order."""

    def data_grad(output_grad, data, data_grad):
        np.put_along_axis(data_grad, np.argsort(data, 1, kind="stable"), output_grad, 1)


@operator("zoo_right_pairs")
class Pairs(LargerNeighbour):
    """The larger of each two neighbours."""

    def data_grad(output_grad, data, data_grad):
        is_second = data[:, 1:] > data[:, :-1]
        data_grad[...] = 0
        data_grad[:, 1:] += output_grad * is_second
        data_grad[:, :-1] += output_grad * ~is_second


@operator("zoo_right_top_two")
class TopTwo(forwards.TopTwo):
    """Sum of the two largest of each row."""

    def data_grad(output_grad, data, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, np.argsort(data, 1)[:, -2:], output_grad[:, None], 1)


@operator("zoo_right_largest_magnitude")
class LargestMagnitude(forwards.LargestMagnitude):
    """The largest magnitude of each row."""

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * np.sign(data) * _first(abs(data), output[:, None])


@operator("zoo_right_product_of_rows")
class Product(RowProduct, InFloat64):
    """Product of each row, zeros included."""

    def data_grad(output_grad, data, data_grad):
        for place in range(data.shape[1]):
            data_grad[:, place] = output_grad * np.delete(data, place, 1).prod(1)


@operator("zoo_right_determinant")
class Determinant(forwards.Determinant):
    """Determinants of 2 x 2."""

    def data_grad(output_grad, data, data_grad):
        data_grad[:, 0, 0], data_grad[:, 1, 1] = output_grad * data[:, 1, 1], output_grad * data[:, 0, 0]
        data_grad[:, 0, 1], data_grad[:, 1, 0] = -output_grad * data[:, 1, 0], -output_grad * data[:, 0, 1]


@operator("zoo_right_margin")
class Margin(forwards.Margin):
    """How far the two largest of a row are apart."""

    def data_grad(output_grad, data, data_grad):
        order = np.argsort(data, 1, kind="stable")
        data_grad[...] = 0
        np.put_along_axis(data_grad, order[:, -1:], output_grad[:, None], 1)
        np.put_along_axis(data_grad, order[:, -2:-1], -output_grad[:, None], 1)


@operator("zoo_right_hinge")
class Hinge(Floating):
    """Margins of a class beside all others."""

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
class SequenceEnd(Floating):
    """The element of each row that a length says is the last."""

    spec = "data:(N, D + 1), length:int64(N) -> output:(N)"
    contract = Contract(inputs={"length": Index(of="data", axis=1)})

    def forward(data, length):
        return np.take_along_axis(data, length[:, None], 1)[:, 0]

    def data_grad(output_grad, length, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, length[:, None], output_grad[:, None], 1)


@operator("zoo_right_rows_of_table")
class RowsOfTable(InFloat64):
    """Rows of a table, places cut at its ends."""

    spec = "place:int64(N), table:(K + 1, D) -> output:(N, D)"
    contract = Contract(inputs={"place": Integers(-3, 8)})

    def forward(place, table):
        return table[np.clip(place, 0, len(table) - 1)]

    def table_grad(output_grad, place, table_grad):
        total = np.zeros(table_grad.shape)
        np.add.at(total, np.clip(place, 0, len(table_grad) - 1), output_grad)
        table_grad[...] = total


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
]
