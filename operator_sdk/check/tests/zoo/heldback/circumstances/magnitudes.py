"""Faults of numbers that are large, tiny, or at a bound; and finite numbers that become none."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, operator, param, unary
from operad_sdk.domains import Drawn
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Fault, without_gradients


@unary(
    "zoo_softplus_cut",
    accepts="floating",
    compute_dtype="float64",
    contract=Contract(reference=lambda x: np.logaddexp(0, x)),
)
def softplus_cut(x):
    """A smooth positive part."""
    return np.logaddexp(0, np.minimum(x, 16))


@softplus_cut.gradient
def _(output_grad, x):
    return output_grad / (1 + np.exp(-x)) * (x < 16)


@unary("zoo_swish", accepts="floating")
def swish(x):
    """The data times their logistic function."""
    return x / (1 + np.exp(-x))


@swish.gradient
def _(output_grad, x):
    power = np.exp(x)
    return output_grad * power * (1 + power + x) / (1 + power) ** 2


@operator("zoo_drop_all")
class DropAll(Floating):
    """The data in training times what is left of 1, and over it."""

    rate = param(float, 0.5, ge=0, le=1, doc="Share that is dropped.")
    spec = "data:(*S) -> output:(*S)"

    def forward(is_train, data, rate):
        left = np.float64(1 - rate)
        return (data * left * (1 / left)).astype(data.dtype) if is_train else data

    def data_grad(output_grad):
        return output_grad


@operator("zoo_by_count")
class ByCount(InFloat32):
    """Columns less a mean: of the batch in training, of all batches before in predictions."""

    spec = "data:(N + 1, C); aux total:(C), count:(1) -> output:(N + 1, C)"
    contract = Contract(inputs={"count": Drawn(lambda rng, shape, prop, shapes: rng.integers(0, 3, shape))})

    def forward(is_train, data, total, count, output):
        output[...] = data - (data.mean(0) if is_train else total / count)
        if is_train:
            total += data.mean(0)
            count += 1


ZOO = without_gradients(
    [
        Fault("F", softplus_cut, "from 16 on the result stays what it is"),
        Fault("B", swish, "infinity over infinity in the gradient, where the result is finite"),
        Fault("F", DropAll, "a drop rate of 1 divides by 0"),
        Fault("F", ByCount, "in predictions the sums are divided by a count that may be 0"),
    ]
)
