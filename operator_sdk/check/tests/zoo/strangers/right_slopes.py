"""Right operators with kinks, jumps and ties, or with another gradient on purpose."""

from __future__ import annotations

import numpy as np

from operad_sdk import BROADCAST, Contract, OperatorProperty, binary, gradient, operator, param, unary
from operator_sdk.check.tests.zoo.bases import Floating, InFloat32
from operator_sdk.check.tests.zoo.fault import Right


@unary("zoo_right_size", accepts="floating", contract=Contract(reference=np.abs, relations=("elements",)))
def magnitude(x):
    """`|x|`; at 0, where it has a corner, the gradient is 0."""
    return np.abs(x)


@magnitude.gradient(inplace="output_grad")
def _(output_grad, x):
    return output_grad * np.sign(x)


@unary(
    "zoo_right_round_through",
    accepts="floating",
    contract=Contract(
        reference=np.rint,
        no_numeric_gradient="rounding has the gradient 0, and training takes that of the identity",
    ),
)
def round_through(x):
    """The nearest whole number, with the gradient of the identity."""
    return np.rint(x)


@round_through.gradient(inplace="output_grad")
def _(output_grad):
    return output_grad


@operator("zoo_right_max_shared")
class MaxShared(InFloat32):
    """The largest element of each row; equal ones share the gradient."""

    spec = "data:(N, D) -> output:(N); D >= 1"
    contract = Contract(reference=lambda data: data.max(axis=1))

    def forward(data):
        return data.max(axis=1)

    def data_grad(output_grad, data, output):
        hits = data == output[:, None]
        counts = np.maximum(hits.sum(axis=1, keepdims=True), 1).astype(data.dtype)
        return hits * (output_grad[:, None] / counts)


@binary("zoo_right_minimum_left", BROADCAST, accepts="floating", contract=Contract(reference=np.minimum))
def minimum_left(lhs, rhs):
    """The smaller of two elements; of equal ones the left has the gradient."""
    return np.minimum(lhs, rhs)


@minimum_left.gradient("lhs")
def _(output_grad, lhs, rhs):
    return np.where(lhs <= rhs, output_grad, 0)


@minimum_left.gradient("rhs")
def _(output_grad, lhs, rhs):
    return np.where(lhs <= rhs, 0, output_grad)


@operator("zoo_right_max_all_ties")
class MaxAllTies(Floating):
    """The largest element of each column; each of equal ones has the whole gradient."""

    spec = "data:(N, D) -> output:(D); N >= 1"
    contract = Contract(
        reference=lambda data: data.max(axis=0),
        ties="each of equal elements has the whole gradient, as in MXNet's max",
    )

    def forward(data):
        return data.max(axis=0)

    def data_grad(output_grad, data, output):
        return np.where(data == output, output_grad, 0)


@unary("zoo_right_ceiling", accepts="floating", contract=Contract(reference=np.ceil, relations=("elements",)))
def ceiling(x):
    """The smallest whole number that is not smaller; the gradient is 0, as between its steps."""
    return np.ceil(x)


@ceiling.gradient
def _(data_grad):
    data_grad.fill(0)


def _hard_threshold_reference(data, theta):
    return np.where(data > theta, data, np.where(np.isnan(data), data, 0))


@unary("zoo_right_hard_threshold", accepts="floating", contract=Contract(reference=_hard_threshold_reference))
def hard_threshold(x, theta=param(float, 0.75, doc="What is not above it becomes 0.")):  # noqa: B008 - a declaration
    """`x` where `x > theta`, else 0: there is a jump at `theta`, where the slope is taken from below."""
    return np.where(x <= theta, 0, x)


@hard_threshold.gradient(inplace="output_grad")
def _(output_grad, x, theta):
    return np.where(x <= theta, 0, output_grad)


@operator("zoo_right_stop_gradient")
class StopGradient(OperatorProperty):
    """The data; no gradient flows through it."""

    spec = "data:(*S) -> output:(*S)"
    inplace = "data -> output"
    contract = Contract(reference=lambda data: data, no_numeric_gradient="it is there to have no gradient")

    def forward(data):
        return data


@operator("zoo_right_reverse_gradient")
class ReverseGradient(Floating):
    """The data; its gradient is `-strength` times that of the output, for training against a critic."""

    strength = param(float, 1.0, ge=0, le=16, doc="Factor of the gradient.")
    spec = "data:(*S) -> output:(*S)"
    inplace = "data -> output"
    gradient_is_derivative = False
    contract = Contract(
        reference=lambda data: data,
        no_numeric_gradient="the gradient is turned around on purpose",
    )

    def forward(data):
        return data

    @gradient(inplace="output_grad -> data_grad")
    def data_grad(output_grad, strength):
        return -strength * output_grad


def _loss(data, label, delta, grad_scale):
    distance = np.abs(data - label)
    inner = np.minimum(distance, delta)
    return grad_scale * (inner * inner / 2 + delta * (distance - inner)).sum()


@operator("zoo_right_huber_output")
class HuberOutput(Floating):
    """The data; its gradient is that of Huber's loss against the label, whatever comes from above."""

    delta = param(float, 1.0, gt=0, le=4, doc="Largest gradient before the factor.")
    grad_scale = param(float, 1.0, ge=0, le=4, doc="Factor of the gradient.")
    spec = "data:(*S), label:(*S) -> output:(*S)"
    inplace = "data -> output"
    gradient_is_derivative = False
    contract = Contract(
        reference=lambda data, label: data,
        loss=_loss,
        ignores_head_gradient="it is a loss, at the end of a network",
        nan_policy="the label is read for the gradient alone",
    )

    def forward(data):
        return data

    @gradient(inplace="output")
    def data_grad(output, label, delta, grad_scale):
        return grad_scale * np.clip(output - label, -delta, delta)


ZOO = [
    Right(magnitude, "a corner, with a gradient that is neither slope"),
    Right(round_through, "a gradient of 1 where the function is flat"),
    Right(MaxShared, "equal elements that share the gradient"),
    Right(minimum_left, "of equal elements one side has the gradient"),
    Right(MaxAllTies, "each of equal elements has the whole gradient, which is declared"),
    Right(ceiling, "steps, whose gradient is 0"),
    Right(hard_threshold, "a jump at the default of a parameter"),
    Right(StopGradient, "an identity without a gradient"),
    Right(ReverseGradient, "a gradient that is turned around on purpose"),
    Right(HuberOutput, "the gradient of a loss, whatever arrives"),
]
