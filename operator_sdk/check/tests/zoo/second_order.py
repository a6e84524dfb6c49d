"""Faults of gradients of gradients: the gradients themselves are right."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import Scalar, gradient, operator, unary
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Fault


def _sines(values, out):
    """Element by element in Python, which cannot be traced."""
    for place in np.ndindex(values.shape):
        out[place] = math.sin(values[place])


@operator("zoo_second_cosine")
class Cosine(Floating):
    """Cosine of every element."""

    spec = "data:(*S) -> output:(*S)"

    def forward(data):
        """The cosine."""
        return np.cos(data)

    @gradient(traced=lambda output_grad, data: output_grad * np.sin(data))
    def data_grad(output_grad, data):
        """Right; in what stands for it when it is traced, the sign is forgotten."""
        slope = np.empty_like(data)
        _sines(data, slope)
        return -output_grad * slope


@unary("zoo_second_softplus", scalar=Scalar("beta", default=1.0, above=0.25, below=4.0), accepts="floating")
def softplus(x, beta):
    """`log(1 + exp(beta x)) / beta`."""
    return np.logaddexp(0, beta * x) / beta


@softplus.gradient(traced=lambda output_grad, x: output_grad / (1 + np.exp(-x)))
def _(output_grad, x, beta):
    # the traced form is right for the default parameter alone
    return output_grad / (1 + np.exp(-beta * x))


ZOO = [
    Fault("B312 A704 D606", Cosine, "the traced form of a gradient has another sign"),
    Fault("B312 A704 D606 D610", softplus, "the traced form is right for the default parameter alone"),
]
