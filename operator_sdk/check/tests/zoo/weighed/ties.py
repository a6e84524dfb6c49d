"""Faults at ties, where several elements are equal and move together, and of degenerate structure."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, binary, operator
from operad_sdk.domains import Drawn
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import (
    Determinant,
    Hat,
    LargerNeighbour,
    LargestOfRow,
    Margin,
    RowProduct,
    RunningMaximum,
    SortedRows,
    TopTwo,
)


@operator("zoo_all_largest")
class AllLargest(LargestOfRow):
    """The largest of each row."""

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * (data == output[:, None])


@operator("zoo_all_smallest")
class AllSmallest(Floating):
    """The smallest of everything."""

    spec = "data:(N + 1, D + 1) -> output:(1)"

    def forward(data):
        return data.min(keepdims=True).reshape(1)

    def data_grad(output_grad, data, output):
        return output_grad * (data == output)


@binary("zoo_both_larger", accepts="floating")
def both_larger(lhs, rhs):
    """The larger element."""
    return np.maximum(lhs, rhs)


@both_larger.gradient
def _(output_grad, lhs, rhs):
    return output_grad * (lhs >= rhs), output_grad * (rhs >= lhs)


@binary("zoo_neither_smaller", accepts="floating")
def neither_smaller(lhs, rhs):
    """The smaller element."""
    return np.minimum(lhs, rhs)


@neither_smaller.gradient
def _(output_grad, lhs, rhs):
    return output_grad * (lhs < rhs), output_grad * (rhs < lhs)


@operator("zoo_sorted_to_first")
class SortedToFirst(SortedRows):
    """Rows in ascending order."""

    def data_grad(output_grad, data, output):
        return (output_grad[:, None, :] * (data[:, :, None] == output[:, None, :])).sum(2)


@operator("zoo_pooled_ties")
class PooledTies(LargerNeighbour):
    """The larger of each two neighbours."""

    def data_grad(output_grad, data, output, data_grad):
        data_grad[...] = 0
        data_grad[:, 1:] += output_grad * (data[:, 1:] == output)
        data_grad[:, :-1] += output_grad * (data[:, :-1] == output)


@operator("zoo_top_by_value")
class TopByValue(TopTwo):
    """Sum of the two largest of each row."""

    def data_grad(output_grad, data):
        return output_grad[:, None] * (data >= np.sort(data, 1)[:, -2:-1])


@operator("zoo_largest_magnitude")
class LargestMagnitude(forwards.LargestMagnitude):
    """The largest magnitude of each row."""

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * np.sign(data) * (abs(data) == output[:, None])


@operator("zoo_range_of_rows")
class RangeOfRows(Floating):
    """The largest less the smallest of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return data.max(1) - data.min(1)

    def data_grad(output_grad, data):
        is_largest = data == data.max(1, keepdims=True)
        is_smallest = data == data.min(1, keepdims=True)
        return output_grad[:, None] * (is_largest * 1.0 - is_smallest / is_smallest.sum(1, keepdims=True))


@operator("zoo_clamped_to_row")
class ClampedToRow(Floating):
    """The data, at most as large as another array."""

    spec = "data:(N, D), most:(D) -> output:(N, D)"

    def forward(data, most):
        return np.minimum(data, most)

    def data_grad(output_grad, data, most):
        return output_grad * (data <= most)

    def most_grad(output_grad, data, most):
        return (output_grad * (data >= most)).sum(0)


@operator("zoo_three_ways")
class ThreeWays(Floating):
    """The largest of three."""

    spec = "first:(*S), second:(*S), third:(*S) -> output:(*S)"

    def forward(first, second, third):
        return np.maximum(np.maximum(first, second), third)

    def first_grad(output_grad, first, output):
        return output_grad * (first == output)

    def second_grad(output_grad, second, output):
        return output_grad * (second == output)

    def third_grad(output_grad, third, output):
        return output_grad * (third == output)


@operator("zoo_middle_by_value")
class MiddleByValue(Floating):
    """The middle of three columns."""

    spec = "data:(N, 3) -> output:(N)"

    def forward(data):
        return np.sort(data, 1)[:, 1]

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * (data == output[:, None])


@operator("zoo_cumulative_largest")
class CumulativeLargest(RunningMaximum):
    """The largest so far."""

    def data_grad(output_grad, data, output):
        lower = np.tril(np.ones((len(data), len(data))))
        return (output_grad[:, None] * lower * (data[None] == output[:, None])).sum(0)


@operator("zoo_product_by_division")
class ProductByDivision(RowProduct, InFloat64):
    """Product of each row."""

    def data_grad(output_grad, data, output):
        with np.errstate(all="ignore"):
            others = np.where(data == 0, 0, output[:, None] / np.where(data == 0, 1, data))
        return output_grad[:, None] * others


def _symmetric(rng, shape, prop, shapes):
    values = rng.integers(-8, 9, shape) / 4.0
    return values + values.swapaxes(-1, -2)


@operator("zoo_determinant_by_inverse")
class DeterminantByInverse(Determinant):
    """Determinant of each matrix of 2 x 2."""

    def data_grad(output_grad, data, output):
        adjugate = np.empty_like(data)
        adjugate[:, 0, 0], adjugate[:, 1, 1] = data[:, 1, 1], data[:, 0, 0]
        adjugate[:, 0, 1], adjugate[:, 1, 0] = -data[:, 1, 0], -data[:, 0, 1]
        return output_grad[:, None, None] * np.where((output == 0)[:, None, None], 0, adjugate)


@operator("zoo_even_sign_of_zero")
class AlikeRows(InFloat64):
    """Correlation of two rows; 0 where one has no spread."""

    spec = "lhs:(N, D + 2), rhs:(N, D + 2) -> output:(N)"
    contract = Contract(reference=lambda lhs, rhs: _correlation(lhs, rhs))

    def forward(lhs, rhs):
        found = _correlation(lhs, rhs)
        same = (lhs == rhs).all(1) & (lhs.std(1) == 0)
        return np.where(same, 1, found)


def _correlation(lhs, rhs):
    left, right = (data - data.mean(1, keepdims=True) for data in (lhs, rhs))
    scale = np.sqrt((left * left).sum(1) * (right * right).sum(1))
    return np.where(scale == 0, 0, (left * right).sum(1) / np.where(scale == 0, 1, scale))


@operator("zoo_eigenvalues_apart")
class EigenvaluesApart(InFloat64):
    """Sum of the squares of the eigenvalues of a symmetric matrix, by way of vectors."""

    spec = "data:(2, 2) -> output:(1)"
    contract = Contract(inputs={"data": Drawn(_symmetric)})

    def forward(data):
        return (np.linalg.eigvalsh(data) ** 2).sum(keepdims=True)

    def data_grad(output_grad, data):
        values, vectors = np.linalg.eigh(data)
        gap = values[1] - values[0]
        turned = vectors.T @ data @ vectors
        return output_grad * 2 * vectors @ (turned * (gap / gap)) @ vectors.T


@operator("zoo_interpolated_on_knots")
class InterpolatedOnKnots(Hat, Floating):
    """A hat around 0 of one width."""

    def data_grad(output_grad, data, width):
        return (
            output_grad
            * np.where(abs(data) <= width, -np.where(data >= 0, 1, -1) / width, 0)
            * (1 + (data == width))
        )


@operator("zoo_margin_of_two")
class MarginOfTwo(Margin):
    """How far the two largest of a row are apart."""

    def data_grad(output_grad, data):
        order = np.sort(data, 1)
        return output_grad[:, None] * (
            1.0 * (data == order[:, -1:])
            - 2.0 * (data == order[:, -2:-1]) * (order[:, -1:] == order[:, -2:-1])
            - 1.0 * (data == order[:, -2:-1]) * (order[:, -1:] != order[:, -2:-1])
        )


ZOO = without_gradients(
    [
        Fault("B", AllLargest, "each of equal ones gets the whole gradient"),
        Fault("B", AllSmallest, "likewise over all axes"),
        Fault("B", both_larger, "two equal arguments both get it"),
        Fault("B", neither_smaller, "of two equal arguments neither gets it"),
        Fault("B", SortedToFirst, "equal ones get the gradient of all their places"),
        Fault("B", PooledTies, "two equal neighbours both get it"),
        Fault("B", TopByValue, "all that are as large as the second"),
        Fault("B", LargestMagnitude, "one and its negative both get it"),
        Fault("B", RangeOfRows, "the largest get it as often as there are such, the smallest share it"),
        Fault("B", ClampedToRow, "data and bound both get it where they are equal"),
        Fault("B", ThreeWays, "three equal ones all get it"),
        Fault("B", MiddleByValue, "equal ones all get it"),
        Fault("B", CumulativeLargest, "all that are as large as the largest so far"),
        Fault("B", ProductByDivision, "one 0 among others: its own gradient is lost"),
        Fault("B", DeterminantByInverse, "a singular matrix has no gradient"),
        Fault("F", AlikeRows, "two equal rows of no spread"),
        Fault("B", EigenvaluesApart, "two equal eigenvalues divide by 0"),
        Fault("B", InterpolatedOnKnots, "at the end of the hat the slope is twice as steep"),
        Fault("B", MarginOfTwo, "where the two are equal the gradient is that of neither order"),
    ]
)
