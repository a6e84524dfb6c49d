"""Reductions: roundings of large sums, ties, zeros among factors, places."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, param, reduced_axes
from operad_sdk.domains import Distinct, Probabilities
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import LargestOfRow


@operator("zoo_right_relative_entropy")
class RelativeEntropy(InFloat64):
    """How far one row of probabilities is from another."""

    spec = "lhs:(N, D + 1), rhs:(N, D + 1) -> output:(N)"
    contract = Contract(inputs={"lhs": Probabilities(), "rhs": Probabilities()})

    def forward(lhs, rhs):
        return (lhs * (np.log(lhs) - np.log(rhs))).sum(1)

    def lhs_grad(output_grad, lhs, rhs):
        return output_grad[:, None] * (np.log(lhs) - np.log(rhs) + 1)

    def rhs_grad(output_grad, lhs, rhs):
        return -output_grad[:, None] * lhs / rhs


@operator("zoo_right_sum_over")
class SumOver(InFloat32):
    """A sum over some axes."""

    axis = param("indices", (), doc="Which; none: all.")
    keepdims = param(bool, False, doc="Keep them with length 1.")
    spec = "data:(*S) -> output:(*reduced(S, axis, keepdims))"

    def forward(data, axis, keepdims):
        return data.sum(reduced_axes(data.ndim, axis), keepdims=keepdims)

    def data_grad(output_grad, data_grad, axis):
        axes = reduced_axes(data_grad.ndim, axis)
        shape = [1 if i in axes else n for i, n in enumerate(data_grad.shape)]
        data_grad[...] = output_grad.reshape(shape)


@operator("zoo_right_half_dot")
class HalfDot(InFloat32):
    """Product of two vectors."""

    spec = "lhs:(N), rhs:(N) -> output:(1)"

    def forward(lhs, rhs):
        return (lhs * rhs).sum(keepdims=True)

    def lhs_grad(output_grad, rhs):
        return output_grad * rhs

    def rhs_grad(output_grad, lhs):
        return output_grad * lhs


@operator("zoo_right_alternating")
class Alternating(InFloat64):
    """A sum of every other element less the others."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        return (data * (1 - 2 * (np.arange(data.shape[1]) % 2))).sum(1)

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, None] * (1 - 2 * (np.arange(data_grad.shape[1]) % 2))


@operator("zoo_right_length")
class Length(InFloat64):
    """Euclidean length of each row; its gradient is 0 where the length is."""

    spec = "data:(N, D) -> output:(N)"

    def forward(data):
        return np.sqrt((data * data).sum(1))

    def data_grad(output_grad, data, output):
        return (output_grad / np.where(output == 0, 1, output))[:, None] * data


@operator("zoo_right_largest")
class Largest(LargestOfRow):
    """The largest of each row."""

    def data_grad(output_grad, data, output):
        is_largest = data == output[:, None]
        return output_grad[:, None] * is_largest / np.maximum(is_largest.sum(1, keepdims=True), 1)


@operator("zoo_right_largest_and_place")
class LargestAndPlace(Floating):
    """The largest of each row and where it is first."""

    spec = "data:(N, D + 1) -> output:(N), place:int64(N)"
    contract = Contract(
        inputs={"data": Distinct()}, reference=lambda data: (np.sort(data, 1)[:, -1], np.argmax(data, axis=1))
    )

    def forward(data, output, place):
        place[...] = data.argmax(1)
        output[...] = data.max(1)

    def data_grad(output_grad, place, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, place[:, None], output_grad[:, None], 1)


@operator("zoo_right_place_of_smallest")
class PlaceOfSmallest(forwards.PlaceOfSmallest):
    """Where the smallest of each row is first."""

    def forward(data):
        return data.argmin(1)


@operator("zoo_right_top")
class Top(Floating):
    """The largest of each row, in descending order."""

    k = param(int, 1, ge=1, le=4, doc="How many.")
    spec = "data:(N, D + k) -> output:(N, k), hidden place:int64(N, k)"
    contract = Contract(inputs={"data": Distinct()}, nan_policy="what is not a number comes last")

    def forward(data, output, place, k):
        place[...] = np.argsort(-data, 1, kind="stable")[:, :k]
        output[...] = np.take_along_axis(data, place, 1)

    def data_grad(output_grad, place, data_grad):
        data_grad[...] = 0
        np.put_along_axis(data_grad, place, output_grad, 1)


@operator("zoo_right_median")
class Median(Floating):
    """Median of each row."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(inputs={"data": Distinct()}, reference=lambda data: np.median(data, 1))

    def forward(data):
        return np.median(data, axis=1)

    def data_grad(output_grad, data, data_grad):
        order, width = np.argsort(data, 1, kind="stable"), data.shape[1]
        data_grad[...] = 0
        for place in {(width - 1) // 2, width // 2}:
            share = 1 if width % 2 else 0.5
            np.put_along_axis(data_grad, order[:, place, None], share * output_grad[:, None], 1)


ZOO = [
    Right(RelativeEntropy, "two arguments of probabilities"),
    Right(SumOver, "any axes, by number"),
    Right(HalfDot, "long sums in half precision, computed in single"),
    Right(Alternating, "sums of alternating signs, which cancel"),
    Right(Length, "a corner where all are 0"),
    Right(Largest, "ties share the gradient"),
    Right(LargestAndPlace, "no ties, and a place as output beside the value"),
    Right(PlaceOfSmallest, "places, of which the first counts"),
    Right(Top, "some of the sorted, with their places kept for the gradient"),
    Right(Median, "the middle, or the mean of the two in the middle"),
]
