"""Reductions: roundings of large sums, ties, zeros among factors, places."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator
from operad_sdk.domains import Probabilities
from operator_sdk.check.tests.zoo import forwards
from operator_sdk.check.tests.zoo.bases import InFloat32, InFloat64
from operator_sdk.check.tests.zoo.fault import Right
from operator_sdk.check.tests.zoo.forwards import RowProduct


@operator("zoo_right_entropy")
class Entropy(InFloat64):
    """Entropy of rows of probabilities."""

    spec = "data:(N, D + 1) -> output:(N)"
    contract = Contract(inputs={"data": Probabilities()})

    def forward(data):
        return -(data * np.log(data)).sum(1)

    def data_grad(output_grad, data):
        return -output_grad[:, None] * (np.log(data) + 1)


@operator("zoo_right_variance")
class Variance(InFloat32):
    """Variance of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        centred = data - data.mean(1, keepdims=True)
        return (centred * centred).mean(1)

    def data_grad(output_grad, data):
        return 2 * output_grad[:, None] * (data - data.mean(1, keepdims=True)) / data.shape[1]


@operator("zoo_right_product")
class Product(RowProduct, InFloat64):
    """Product of each row."""

    spec = "data:(N, D) -> output:(N)"

    def data_grad(output_grad, data):
        ones = np.ones_like(data[:, :1])
        before = np.cumprod(np.concatenate((ones, data), 1), 1)[:, :-1]
        after = np.cumprod(np.concatenate((ones, data[:, ::-1]), 1), 1)[:, :-1][:, ::-1]
        return output_grad[:, None] * before * after


@operator("zoo_right_running_product")
class RunningProduct(forwards.RunningProduct, InFloat64):
    """Products of each row so far."""

    def data_grad(output_grad, data, data_grad):
        before = np.ones(len(data), data.dtype)
        for place in range(data.shape[1]):
            rest = np.cumprod(np.concatenate((before[:, None], data[:, place + 1 :]), 1), 1)
            data_grad[:, place] = (output_grad[:, place:] * rest).sum(1)
            before = before * data[:, place]


ZOO = [
    Right(Entropy, "probabilities, which sum to 1"),
    Right(Variance, "in two passes, for large means"),
    Right(Product, "zeros among the factors"),
    Right(RunningProduct, "zeros among the factors so far"),
]
