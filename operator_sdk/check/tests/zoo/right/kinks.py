"""Kinks and jumps at which a gradient is right that is neither slope, or at which there is none."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, unary
from operad_sdk.mapper import mapper, rint
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@unary("zoo_right_half_at_zero", accepts="floating")
def half_at_zero(x):
    """The larger of an element and 0; the slope at 0 is 1/2."""
    return np.maximum(x, 0)


@half_at_zero.gradient
def _(output_grad, x):
    return output_grad * np.heaviside(x, 0.5)


@unary("zoo_right_fraction", accepts="floating")
def fraction(x):
    """What is beyond the next integer below."""
    return x - np.floor(x)


@fraction.gradient
def _(output_grad):
    return output_grad


@operator("zoo_right_units")
class Units(Floating):
    """A sum of rectified units."""

    spec = "data:(N, D), weight:(D, H), bias:(H), scale:(H) -> output:(N)"

    def _state(data, weight, bias):
        return data @ weight + bias

    def forward(data, weight, bias, scale):
        return np.maximum(Units._state(data, weight, bias), 0) @ scale

    def data_grad(output_grad, data, weight, bias, scale):
        return Units._flow(output_grad, data, weight, bias, scale) @ weight.T

    def weight_grad(output_grad, data, weight, bias, scale):
        return data.T @ Units._flow(output_grad, data, weight, bias, scale)

    def bias_grad(output_grad, data, weight, bias, scale):
        return Units._flow(output_grad, data, weight, bias, scale).sum(0)

    def scale_grad(output_grad, data, weight, bias):
        return output_grad @ np.maximum(Units._state(data, weight, bias), 0)

    def _flow(output_grad, data, weight, bias, scale):
        return output_grad[:, None] * (Units._state(data, weight, bias) > 0) * scale


@mapper
def nearest(x):
    return rint(x)


@unary(
    "zoo_right_rounding_mapper",
    accepts="floating",
    contract=Contract(
        reference=np.rint,
        no_numeric_gradient="rounding has the gradient 0, and training takes that of the identity",
    ),
)
def straight_through(x, output):
    """The nearest integer, by a mapper, with the gradient of the identity."""
    nearest.map(x, out=output)


@straight_through.gradient
def _(output_grad):
    return output_grad


ZOO = [
    Right(straight_through, "a gradient that is not its mapper's slope, and says why"),
    Right(half_at_zero, "at the kink neither slope, but one between"),
    Right(fraction, "jumps, beside which the slope is 1 on both sides"),
    Right(Units, "where kinks meet the chain rule leads out of the slopes along one element"),
]
