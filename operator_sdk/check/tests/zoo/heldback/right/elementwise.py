"""Functions of elements: domains, kinks, slopes of zero almost everywhere, booleans."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, unary
from operad_sdk.domains import Real, positive
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Right


@unary("zoo_right_root", accepts="floating", contract=Contract(inputs={"data": positive()}))
def root(x):
    """Square root."""
    return np.sqrt(x)


@root.gradient
def _(output_grad, output):
    return output_grad / (2 * output)


@unary("zoo_right_hard_sigmoid", accepts="floating")
def hard_sigmoid(x):
    """A ramp from 0 to 1 between -2 and 2."""
    return np.clip(x / 4 + x.dtype.type(0.5), 0, 1)


@hard_sigmoid.gradient
def _(output_grad, output):
    return output_grad * ((output > 0) & (output < 1)) / 4


@unary("zoo_right_far_ramp", accepts="floating", contract=Contract(inputs={"data": Real(90, 120)}))
def far_ramp(x):
    """What the data are above 100."""
    return np.maximum(x - 100, 0)


@far_ramp.gradient
def _(output_grad, x):
    return output_grad * (x > 100)


@unary(
    "zoo_right_sign",
    accepts="floating",
    contract=Contract(
        no_numeric_gradient="steps", reference=lambda x: np.where(x > 0, 1, np.where(x < 0, -1, x))
    ),
)
def sign(x):
    """-1, 0 or 1."""
    return np.sign(x)


@operator("zoo_right_is_positive")
class IsPositive(OperatorProperty):
    """Whether elements are above 0."""

    accepts = "number"
    spec = "data:(*S) -> output:bool(*S)"
    contract = Contract(reference=lambda data: ~((data <= 0) | np.isnan(data)))

    def forward(data):
        return data > 0


@operator("zoo_right_is_finite")
class IsFinite(Floating):
    """Whether elements are numbers."""

    spec = "data:(*S) -> output:bool(*S)"
    contract = Contract(reference=lambda data: np.abs(data) < np.inf)

    def forward(data):
        return np.isfinite(data)


@operator("zoo_right_entropy_term")
class EntropyTerm(InFloat64):
    """`x log x`, and 0 at 0."""

    spec = "data:(*S) -> output:(*S)"
    contract = Contract(inputs={"data": positive()})

    def forward(data):
        return data * np.log(np.where(data == 0, 1, data))

    def data_grad(output_grad, data):
        return output_grad * (np.log(data) + 1)


ZOO = [
    Right(root, "positive numbers only"),
    Right(hard_sigmoid, "two kinks, and flat beyond them"),
    Right(far_ramp, "flat wherever examples are likely to be"),
    Right(sign, "steps without a gradient"),
    Right(IsPositive, "booleans of numbers"),
    Right(IsFinite, "NaN and infinities are answers"),
    Right(EntropyTerm, "0 log 0 is 0"),
]
