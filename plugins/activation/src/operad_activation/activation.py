"""`Activation`: five functions of every element.

Every gradient but softsign's is computed from the output's value, so the input's memory is free as
soon as the next layer has run, and forward and backward can both work in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad_activation.scratch import scratch
from operad_sdk import (
    UNARY,
    Array,
    Contract,
    Cost,
    OperatorProperty,
    gradient,
    lock_cost_limit,
    operator,
    param,
)

_SIGMOID_IS_1: Final = 40.0
"""Argument from which 1 is the nearest float64, far below those whose exponential overflows a float32."""


def relu(data: Array, out: Array) -> None:
    """`y = max(x, 0)`."""
    np.maximum(data, 0, out=out)


def relu_gradient(output_grad: Array, output: Array, out: Array) -> None:
    """`dy/dx = 1` where `y > 0`, else 0."""
    np.multiply(output_grad, output > 0, out=out)


def sigmoid(data: Array, out: Array) -> None:
    """`y = t / (1 + t)` with `t = e^x`, so that `t` alone is left where it is small."""
    tail = np.exp(np.minimum(data, _SIGMOID_IS_1, out=out), out=out)
    np.divide(tail, np.add(tail, 1), out=out)


def sigmoid_gradient(output_grad: Array, output: Array, out: Array) -> None:
    """`dy/dx = y (1 - y)`."""
    slope = np.subtract(1, output, out=scratch(out, output_grad, output))
    np.multiply(output_grad, np.multiply(slope, output, out=slope), out=out)


def tanh_gradient(output_grad: Array, output: Array, out: Array) -> None:
    """`dy/dx = 1 - y^2`."""
    slope = np.multiply(output, output, out=scratch(out, output_grad, output))
    np.multiply(output_grad, np.subtract(1, slope, out=slope), out=out)


def softrelu(data: Array, out: Array) -> None:
    """`y = log(1 + e^x)`, as `max(x, 0) + log1p(e^-|x|)`, which cannot overflow."""
    # logaddexp(data, 0) is one pass, and half as fast.
    tail = np.absolute(data, out=scratch(out, data))
    np.exp(np.negative(tail, out=tail), out=tail)
    np.add(np.log1p(tail, out=tail), np.maximum(data, 0), out=out)


def softrelu_gradient(output_grad: Array, output: Array, out: Array) -> None:
    """`dy/dx = 1 - e^-y`."""
    slope = np.negative(output, out=scratch(out, output_grad))
    np.negative(np.expm1(slope, out=slope), out=slope)
    np.multiply(output_grad, slope, out=out)


def softsign(data: Array, out: Array) -> None:
    """`y = x / (1 + |x|)`."""
    size = np.absolute(data, out=scratch(out, data))
    np.divide(data, np.add(size, 1, out=size), out=out)


def softsign_gradient(output_grad: Array, data: Array, out: Array) -> None:
    """`dy/dx = 1 / (1 + |x|)^2`, which is 0 at infinity, where `y` is NaN."""
    size = np.absolute(data, out=scratch(out, output_grad))
    np.divide(output_grad, np.square(np.add(size, 1, out=size), out=size), out=out)


@final
class Curve(NamedTuple):
    """One of the functions.

    Attributes:
        fill: Called with (data, out).
        fill_gradient: Called with (output_grad, output, out), where `out` may be one of the others; for
            softsign with data instead of output.
        definition: What the contract checks compare with.
    """

    fill: Callable[[Array, Array], object]
    fill_gradient: Callable[[Array, Array, Array], object]
    definition: Callable[[Array], Any]


CURVES: Final = {
    "relu": Curve(relu, relu_gradient, lambda data: (data + np.abs(data)) / 2),
    "sigmoid": Curve(sigmoid, sigmoid_gradient, lambda data: (1 + np.tanh(data / 2)) / 2),
    "softrelu": Curve(softrelu, softrelu_gradient, lambda data: np.log(1 + np.exp(data))),
    "softsign": Curve(
        softsign, softsign_gradient, lambda data: np.where(data < 0, data / (1 - data), data / (1 + data))
    ),
    "tanh": Curve(np.tanh, tanh_gradient, lambda data: 1 - 2 / (np.exp(2 * data) + 1)),
}


@operator("Activation")
class Activation(OperatorProperty):
    """One of five functions, applied to every element.

    Shapes:
        data: (...), of a floating type.
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.Activation(od.nd.array([-1, 0, 2]), act_type="relu").asnumpy()
        array([0., 0., 2.], dtype=float32)

    Source: ActivationParam, src/operator/nn/activation-inl.h.
    """

    act_type = param(str, choices=tuple(CURVES), doc="The function.")
    spec = UNARY
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    contract = Contract(reference=lambda data, act_type: CURVES[act_type].definition(data))

    @lock_cost_limit(1)
    def forward(data: Array, act_type: str, output: Array) -> None:
        """Apply the function."""
        CURVES[act_type].fill(data, output)

    @gradient("data", inplace="output_grad, output", when=lambda prop: prop.act_type != "softsign")
    def gradient_from_output(output_grad: Array, output: Array, act_type: str, data_grad: Array) -> None:
        """`dy/dx` of the function, which the output's value determines."""
        CURVES[act_type].fill_gradient(output_grad, output, data_grad)

    @gradient("data", inplace="output_grad, data", when=lambda prop: prop.act_type == "softsign")
    def gradient_from_data(output_grad: Array, data: Array, act_type: str, data_grad: Array) -> None:
        """`dy/dx` of softsign."""
        CURVES[act_type].fill_gradient(output_grad, data, data_grad)

    def cost(self, in_shapes: Any, out_shapes: Any) -> float | Cost:
        """Cost with the operations of the function, some of which take many for each element."""
        return super().cost(in_shapes, out_shapes) * (1 if self.act_type == "relu" else 8)
