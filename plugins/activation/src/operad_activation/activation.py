"""`Activation`: five functions of every element.

Every gradient is computed from the output's value, so the input's memory is free as soon as the
next layer has run, and forward and backward can both work in place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.dtypes import DType
from operad.operator import InferredTypes
from operad_activation.precision import check_floating, scratch, write
from operad_sdk import Array, Contract, OperatorProperty, Output, operator, param


def relu(data: Array, out: Array) -> None:
    """The larger of `data` and 0."""
    np.maximum(data, 0, out=out)


def relu_slope(ograd: Array, value: Array, out: Array) -> None:
    """`ograd` where the value is positive."""
    np.multiply(ograd, value > 0, out=out)


def sigmoid(data: Array, out: Array) -> None:
    """`1 / (1 + exp(-data))`."""
    np.negative(data, out=out)
    with np.errstate(over="ignore"):  # 1 / (1 + inf) is the 0 that is wanted
        np.exp(out, out=out)
    out += 1
    np.reciprocal(out, out=out)


def sigmoid_slope(ograd: Array, value: Array, out: Array) -> None:
    """`ograd * value * (1 - value)`."""
    slope = scratch(out, ograd, value)
    np.subtract(1, value, out=slope)
    slope *= value
    np.multiply(ograd, slope, out=out)


def tanh(data: Array, out: Array) -> None:
    """The hyperbolic tangent."""
    np.tanh(data, out=out)


def tanh_slope(ograd: Array, value: Array, out: Array) -> None:
    """`ograd * (1 - value**2)`."""
    slope = scratch(out, ograd, value)
    np.multiply(value, value, out=slope)
    np.subtract(1, slope, out=slope)
    np.multiply(ograd, slope, out=out)


def softrelu(data: Array, out: Array) -> None:
    """`log(1 + exp(data))`, as `max(data, 0) + log1p(exp(-abs(data)))`, which cannot overflow."""
    # logaddexp(data, 0) is one pass, and half as fast.
    tail = scratch(out, data)
    np.absolute(data, out=tail)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    np.add(tail, np.maximum(data, 0), out=out)


def softrelu_slope(ograd: Array, value: Array, out: Array) -> None:
    """`ograd * (1 - exp(-value))`."""
    slope = scratch(out, ograd)
    np.negative(value, out=slope)
    np.expm1(slope, out=slope)
    np.negative(slope, out=slope)
    np.multiply(ograd, slope, out=out)


def softsign(data: Array, out: Array) -> None:
    """`data / (1 + abs(data))`."""
    size = scratch(out, data)
    np.absolute(data, out=size)
    size += 1
    np.divide(data, size, out=out)


def softsign_slope(ograd: Array, value: Array, out: Array) -> None:
    """`ograd * (1 - abs(value))**2`."""
    slope = scratch(out, ograd)
    np.absolute(value, out=slope)
    np.subtract(1, slope, out=slope)
    slope *= slope
    np.multiply(ograd, slope, out=out)


@final
class Curve(NamedTuple):
    """A function, called with (data, out), and its gradient, called with (ograd, value, out)."""

    value: Callable[[Array, Array], None]
    slope: Callable[[Array, Array, Array], None]


CURVES: Final = {
    "relu": Curve(relu, relu_slope),
    "sigmoid": Curve(sigmoid, sigmoid_slope),
    "softrelu": Curve(softrelu, softrelu_slope),
    "softsign": Curve(softsign, softsign_slope),
    "tanh": Curve(tanh, tanh_slope),
}


_FORMULAS: Final[dict[str, Callable[[Array], Array]]] = {
    "relu": lambda data: (data + np.abs(data)) / 2,
    "sigmoid": lambda data: (1 + np.tanh(data / 2)) / 2,
    "softrelu": lambda data: np.log(1 + np.exp(data)),
    "softsign": lambda data: np.where(data < 0, data / (1 - data), data / (1 + data)),
    "tanh": lambda data: 1 - 2 / (np.exp(2 * data) + 1),
}
"""What the contract checks compare with."""


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
    spec = "data:(...) -> output:(...)"
    contract = Contract(reference=lambda data, act_type: _FORMULAS[act_type](data))
    forward_inplace = (("data", "output"),)
    backward_inplace = (("output_grad", "data_grad"), ("output", "data_grad"))

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type."""
        check_floating(self.name, in_types)
        return super().infer_type(in_types)

    def forward(self, data: Array, output: Output) -> None:
        """Apply the function."""
        write(CURVES[self.act_type].value, output, data)

    def backward(self, output_grad: Array, output: Array, data_grad: Output) -> None:
        """Apply the slope, which the output's value determines."""
        write(CURVES[self.act_type].slope, data_grad, output_grad, output)

    def cost(self, in_shapes: Any, out_shapes: Any) -> float:
        """Some functions take many operations an element."""
        return super().cost(in_shapes, out_shapes) * (1 if self.act_type == "relu" else 8)
