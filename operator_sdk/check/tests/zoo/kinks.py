"""Faults of gradients at kinks and branches alone: everywhere else each is right."""

from __future__ import annotations

import numpy as np

from operad_sdk import operator, unary
from operator_sdk.check.tests.zoo.fault import Fault
from operator_sdk.check.tests.zoo.forwards import LargestOfRow


@unary("zoo_kink_rectified", accepts="floating")
def rectified(x):
    """The larger of an element and 0."""
    return np.maximum(x, 0)


@rectified.gradient
def _(output_grad, x):
    return output_grad * np.heaviside(x, 2)


@unary("zoo_kink_clipped", accepts="floating")
def clipped(x):
    """Elements between -1 and 1."""
    return np.clip(x, -1, 1)


@clipped.gradient
def _(output_grad, x):
    return output_grad * np.where(abs(x) == 1, -1, abs(x) < 1)


@operator("zoo_kink_largest")
class Largest(LargestOfRow):
    """The largest of each row."""

    def data_grad(output_grad, data, output):
        """Each that is largest gets the gradient as often as there are such."""
        is_largest = data == output[:, None]
        return output_grad[:, None] * is_largest * is_largest.sum(1, keepdims=True)


@unary("zoo_kink_softplus", accepts="floating")
def softplus(x):
    """The logarithm of `1 + e^x`, which is 0 where x is small."""
    return np.where(x < -20, 0, np.logaddexp(0, np.maximum(x, -20)))


@softplus.gradient
def _(output_grad, x):
    return output_grad * np.where(x < -20, 1, 1 / (1 + np.exp(-x)))


@unary("zoo_kink_slide", accepts="floating")
def slide(x):
    """A parabola that goes on as a line below -20."""
    return np.where(x < -20, -40 * x - 400, x * x)


@slide.gradient(traced=lambda output_grad, x: output_grad * 2 * x)
def _(output_grad, x):
    return output_grad * 2 * np.maximum(x, -20)


ZOO = [
    Fault("B313", rectified, "at 0 the slope is that of both sides and once more"),
    Fault("B313", clipped, "at a bound the sign is wrong"),
    Fault("B313", Largest, "ties multiply the gradient"),
    Fault("B314 B301", softplus, "the slope of another branch than the ordinary one is wrong"),
    Fault("B314 B312", slide, "the traced form of a gradient knows one branch of two"),
]
