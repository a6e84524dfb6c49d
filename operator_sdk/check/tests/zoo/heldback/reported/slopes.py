"""Gradients that were reported to be wrong at kinks and ends, or to lose their digits."""

from __future__ import annotations

import numpy as np

from operad_sdk import binary, operator, unary
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients
from operator_sdk.check.tests.zoo.forwards import RunningSum


@operator("zoo_row_deviation")
class RowDeviation(InFloat32):
    """Standard deviation of each row."""

    spec = "data:(N, D + 1) -> output:(N)"

    def forward(data):
        return data.std(1)

    def data_grad(output_grad, data, output):
        return output_grad[:, None] * (data - data.mean(1, keepdims=True)) / (output[:, None] * data.shape[1])


@operator("zoo_running_total")
class RunningTotal(RunningSum, InFloat32):
    """Sums of each row so far."""

    def data_grad(output_grad):
        before = np.cumsum(output_grad, 1)
        return before[:, -1][:, None] - before + output_grad


@operator("zoo_reflected")
class Reflected(Floating):
    """Rows with one element mirrored at each end."""

    spec = "data:(N, W + 3) -> output:(N, W + 5)"

    def forward(data):
        return np.pad(data, ((0, 0), (1, 1)), mode="reflect")

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad[:, 1:-1]
        data_grad[:, 1] += output_grad[:, 0]
        data_grad[:, -3] += output_grad[:, -1]


@binary("zoo_angle", accepts="floating")
def angle(lhs, rhs):
    """The angle of a point."""
    return np.arctan2(lhs, rhs)


@angle.gradient("lhs")
def _(output_grad, lhs, rhs):
    return output_grad * rhs / (lhs * lhs + rhs * rhs)


@angle.gradient("rhs")
def _(output_grad, lhs, rhs):
    return -output_grad * lhs / (lhs * lhs + rhs * rhs)


@unary("zoo_tanh_by_exp", accepts="floating", compute_dtype="float32")
def tanh_by_exp(x):
    """A hyperbolic tangent."""
    return np.tanh(x)


@tanh_by_exp.gradient
def _(output_grad, x):
    square = np.exp(2 * x)
    return output_grad * 4 * square / (1 + square) ** 2


ZOO = without_gradients(
    [
        Fault(
            "B",
            RowDeviation,
            "equal elements divide 0 by 0",
            report="https://github.com/pytorch/pytorch/issues/4320",
        ),
        Fault(
            "F",
            RunningTotal,
            "backward looks at the last of no columns",
            report="https://github.com/pytorch/pytorch/issues/31782",
        ),
        Fault(
            "B",
            Reflected,
            "what is reflected at the end goes back one place too far",
            report="https://github.com/pytorch/pytorch/issues/100793",
        ),
        Fault(
            "B",
            angle,
            "the angle of nothing has a gradient of 0 / 0",
            report="https://github.com/pytorch/pytorch/issues/98276",
        ),
        Fault(
            "B",
            tanh_by_exp,
            "an exponential overflows where the slope is 0",
            report="https://github.com/jax-ml/jax/issues/764",
        ),
    ]
)
