"""Losses, which ignore the head gradient; gradients that are not those of the output, and say so."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, param, unary
from operad_sdk.domains import Probabilities
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_cross_entropy")
class CrossEntropy(InFloat64):
    """Negative logarithms of probabilities of labels."""

    spec = "data:(N, K + 1), label:(N, K + 1) -> output:(N)"
    contract = Contract(inputs={"data": Probabilities(), "label": Probabilities()})

    def forward(data, label):
        return -(label * np.log(data)).sum(1)

    def data_grad(output_grad, data, label):
        return -output_grad[:, None] * label / data

    def label_grad(output_grad, data):
        return -output_grad[:, None] * np.log(data)


@unary(
    "zoo_right_turned_gradient",
    accepts="floating",
    contract=Contract(
        no_numeric_gradient="the gradient is turned round on purpose", reference=lambda x, strength: x
    ),
)
def turned_gradient(x, strength: float = param(float, 1.0, ge=0, le=2, doc="How much of it comes back.")):
    """The data, with minus the head gradient."""
    return x


@turned_gradient.gradient
def _(output_grad, strength):
    return -output_grad.dtype.type(strength) * output_grad


@operator("zoo_right_weighed_by_data")
class WeighedByData(Floating):
    """Data times weights that nobody trains."""

    spec = "data:(*S), weight:(*S) -> output:(*S)"
    contract = Contract(
        no_numeric_gradient="weights are given with the examples",
        reference=lambda data, weight: np.multiply(weight, data),
    )

    def forward(data, weight):
        return data * weight

    def data_grad(output_grad, weight):
        return output_grad * weight


ZOO = [
    Right(CrossEntropy, "a loss that is an ordinary function, with labels of one 1 among zeros"),
    Right(turned_gradient, "a gradient that is turned round"),
    Right(WeighedByData, "a gradient for one argument of two"),
]
