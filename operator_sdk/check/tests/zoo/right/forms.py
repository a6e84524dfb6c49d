"""Forms of declaring: in place, long form, mappers, kernels, scratch memory, gradients that add."""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import (
    Contract,
    OperatorProperty,
    ResourceRequest,
    Scalar,
    from_mapper,
    gradient,
    mapper,
    operator,
    tanh,
    unary,
    where,
)
from operad_sdk.domains import Real
from operator_sdk.check.tests.zoo.bases import Floating, InFloat64
from operator_sdk.check.tests.zoo.fault import Right


@operator("zoo_right_reversed_in_place")
class ReversedInPlace(OperatorProperty):
    """Columns in the other order."""

    spec = "data:(N, D) -> output:(N, D)"
    inplace = "data -> output"

    def forward(data, output):
        output[...] = data[:, ::-1].copy()

    def data_grad(output_grad):
        return output_grad[:, ::-1]


@unary("zoo_right_with_scratch", accepts="floating", resource=ResourceRequest.TEMP_SPACE)
def with_scratch(data, op_ctx):
    """The third power, by way of the second."""
    space = op_ctx.requested[0].get_space(data.shape, data.dtype)
    np.multiply(data, data, out=space)
    return space * data


@with_scratch.gradient
def _(output_grad, data):
    return 3 * output_grad * data * data


@operator("zoo_right_adds_itself")
class AddsItself(Floating):
    """Sums of neighbours, whose gradient is added where it belongs."""

    spec = "data:(N, W + 1) -> output:(N, W)"

    def forward(data):
        return data[:, :-1] + data[:, 1:]

    @gradient(accumulate=True)
    def data_grad(output_grad, data_grad):
        data_grad[:, :-1] += output_grad
        data_grad[:, 1:] += output_grad


@mapper
def huber_value(x, delta):
    """Quadratic near 0, linear beyond delta."""
    size = abs(x)
    return x * x / 2 if size < delta else delta * (size - delta / 2)


huber = from_mapper(huber_value, name="zoo_right_huber", scalar=Scalar("delta", default=1.0, above=0.0))


@mapper
def gated_value(x, y):
    """A product with a gate."""
    return x * (1 + tanh(y)) / 2


gated = from_mapper(gated_value, name="zoo_right_gated")


@mapper
def soft_sign_value(x):
    """The sign, made smooth."""
    return x / (1 + where(x < 0, -x, x))


soft_sign = from_mapper(soft_sign_value, name="zoo_right_soft_sign")


@operator("zoo_right_as_wanted")
class AsWanted(InFloat64):
    """A product of three, whose gradients share what they need."""

    spec = "first:(N), second:(N), third:(N) -> output:(N)"

    def forward(first, second, third):
        return first * second * third

    def backward(wanted, output_grad, first, second, third, first_grad, second_grad, third_grad):
        if wanted & {"first_grad", "second_grad"}:
            shared = output_grad * third
            first_grad[...] = shared * second
            second_grad[...] = shared * first
        if "third_grad" in wanted:
            third_grad[...] = output_grad * first * second


@operator("zoo_right_polar")
class Polar(InFloat64):
    """Logarithm of the length of vectors away from 0, and their angle."""

    spec = "x:(*S), y:(*S) -> length:(*S), angle:(*S)"
    contract = Contract(inputs={"x": Real(0.25, 2.125)})

    def forward(x, y):
        return np.log(x * x + y * y) / 2, np.arctan2(y, x)

    def backward(length_grad, angle_grad, x, y, x_grad, y_grad):
        square = x * x + y * y
        x_grad[...] = (length_grad * x - angle_grad * y) / square
        y_grad[...] = (length_grad * y + angle_grad * x) / square


@operator("zoo_right_sine")
class Sine(InFloat64):
    """Sine, whose gradient is a loop over elements, with a traced form beside it."""

    spec = "x:(*S) -> output:(*S)"

    def forward(x):
        return np.sin(x)

    @gradient(traced=lambda output_grad, x: output_grad * np.cos(x))
    def x_grad(output_grad, x, x_grad):
        for place in np.ndindex(x.shape):
            x_grad[place] = output_grad[place] * math.cos(x[place])


ZOO = [
    Right(ReversedInPlace, "in place where elements change places: first a copy"),
    Right(with_scratch, "scratch memory, written before it is read"),
    Right(AddsItself, "a gradient that adds itself"),
    Right(huber, "a mapper with branches, differentiated automatically"),
    Right(gated, "a mapper of two arrays"),
    Right(soft_sign, "a mapper with a choice of elements"),
    Right(AsWanted, "what is asked for is computed, and nothing else"),
    Right(Sine, "a gradient that cannot be traced, with a form that can"),
    Right(Polar, "several outputs, each with a head gradient of its own"),
]
