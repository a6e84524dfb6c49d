"""Losses, which ignore the head gradient; gradients that are not those of the output, and say so."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, gradient, operator, param, unary
from operad_sdk.domains import Index, Integers
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_half_square")
class HalfSquare(Floating):
    """The data, with the gradient of half their squared distance from labels."""

    spec = "data:(*S), label:(*S) -> output:(*S)"
    contract = Contract(
        ignores_head_gradient="a loss",
        loss=lambda data, label: ((data - label) ** 2).sum() / 2,
        reference=lambda data, label: data,
    )

    def forward(data):
        return data

    def data_grad(output, label):
        return output - label

    def label_grad(output, label):
        return label - output


@operator("zoo_right_class_loss")
class ClassLoss(OperatorProperty):
    """Probabilities, with the gradient of the logarithm of that of a class."""

    accepts = {"data": "floating"}
    compute_dtype = "float64"
    spec = "data:(N, K + 1), label:any(N) -> output:(N, K + 1)"

    def _loss(data, label):
        shifted = data - data.max(1, keepdims=True)
        powers = np.exp(shifted)
        picked = np.take_along_axis(shifted, label.astype(int)[:, None], 1)[:, 0]
        return (np.log(powers.sum(1)) - picked).sum()

    contract = Contract(inputs={"label": Index("data", axis=1)}, ignores_head_gradient="a loss", loss=_loss)

    def forward(data):
        powers = np.exp(data - data.max(1, keepdims=True))
        return powers / powers.sum(1, keepdims=True)

    def data_grad(output, label):
        found = output.copy()
        found[np.arange(len(found)), label.astype(np.intp)] -= 1
        return found


@operator("zoo_right_margin_loss")
class MarginLoss(OperatorProperty):
    """The data, with the gradient of what they lack to a margin on the side of the label."""

    accepts = {"data": "floating", "label": "floating"}
    spec = "data:(N), label:(N) -> output:(N)"
    contract = Contract(
        inputs={"label": Integers(0, 1)},
        ignores_head_gradient="a loss",
        loss=lambda data, label: np.maximum(0, 1 - (2 * label - 1) * data).sum(),
        reference=lambda data, label: data,
    )

    def forward(data):
        return data

    def data_grad(output, label):
        side = 2 * label - 1
        return -side * (side * output < 1)


@unary(
    "zoo_right_mean_loss",
    accepts="floating",
    contract=Contract(
        ignores_head_gradient="the data are a loss", loss=lambda data: data.sum(), reference=lambda data: data
    ),
)
def mean_loss(x):
    """The data, each with a gradient of 1."""
    return x


@mean_loss.gradient
def _(data_grad):
    data_grad[...] = 1


@operator("zoo_right_perhaps_a_loss")
class PerhapsALoss(Floating):
    """Squares, with the gradient of their sum if they are the last of a network."""

    is_last = param(bool, False, doc="Nothing comes after it.")
    spec = "data:(*S) -> output:(*S)"
    contract = Contract(
        ignores_head_gradient=lambda prop: "the last of a network" if prop.is_last else "",
        loss=lambda data: (data * data).sum(),
    )

    def forward(data):
        return data * data

    @gradient("data", when=lambda prop: not prop.is_last)
    def of_output(output_grad, data):
        return 2 * output_grad * data

    @gradient("data", when=lambda prop: prop.is_last)
    def of_loss(data):
        return 2 * data


@operator("zoo_right_absolute_loss")
class AbsoluteLoss(Floating):
    """The data, with the side of the label on which they are as gradient."""

    spec = "data:(*S), label:(*S) -> output:(*S)"
    contract = Contract(
        ignores_head_gradient="a loss",
        loss=lambda data, label: abs(data - label).sum(),
        reference=lambda data, label: data,
    )

    def forward(data):
        return data

    def data_grad(output, label):
        return np.sign(output - label)

    def label_grad(output, label):
        return np.sign(label - output)


@unary(
    "zoo_right_stopped",
    accepts="floating",
    contract=Contract(no_numeric_gradient="it is there to stop them", reference=np.positive),
)
def stopped(x):
    """The data, behind which nothing is trained."""
    return x


ZOO = [
    Right(HalfSquare, "a loss with its own definition"),
    Right(ClassLoss, "a loss of classes by number"),
    Right(MarginLoss, "a loss with a margin"),
    Right(mean_loss, "a loss whatever its output is"),
    Right(PerhapsALoss, "a loss for some parameters"),
    Right(AbsoluteLoss, "an absolute distance, with kinks where labels are met"),
    Right(stopped, "an output that stops gradients"),
]
