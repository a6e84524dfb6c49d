"""Views, joins and parts: operators that move elements and compute nothing."""

from __future__ import annotations

import numpy as np

from operad_sdk import operator, param
from operator_sdk.check.tests.zoo.bases import Floating
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_padded")
class Padded(Floating):
    """Rows with a number before and after."""

    before = param(int, 1, ge=0, le=3, doc="How often before.")
    after = param(int, 0, ge=0, le=3, doc="How often after.")
    value = param(float, 0.0, doc="The number.")
    spec = "data:(N, W) -> output:(N, W + before + after)"

    def forward(data, before, after, value):
        return np.pad(data, ((0, 0), (before, after)), constant_values=value)

    def data_grad(output_grad, before, after):
        return output_grad[:, before : output_grad.shape[1] - after]


@operator("zoo_right_diagonal")
class Diagonal(Floating):
    """The diagonal of a matrix."""

    spec = "data:(N, M) -> output:(min(N, M))"

    def forward(data):
        return np.diagonal(data)

    def data_grad(output_grad, data_grad):
        data_grad[...] = 0
        places = np.arange(len(output_grad))
        data_grad[places, places] = output_grad


ZOO = [
    Right(Padded, "zeros around"),
    Right(Diagonal, "only the diagonal has a gradient"),
]
