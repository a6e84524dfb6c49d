"""`SoftmaxActivation`, MXNet's older form of the softmax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.operator import InferredTypes
from operad_activation.precision import check_floating, scratch, write
from operad_sdk import Array, Contract, OperatorProperty, Output, operator, param


def _shares(data: Array, mode: str) -> Array:
    """The quotient itself, for the contract checks."""
    powers = np.exp(data)
    return powers / powers.sum(1 if mode == "channel" else tuple(range(1, data.ndim)), keepdims=True)


@operator("SoftmaxActivation")
class SoftmaxActivation(OperatorProperty):
    """The softmax over all of each instance, or over its channels.

    Shapes:
        data: (N, ...); with mode "channel" (N, C, ...).
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.SoftmaxActivation(od.nd.array([[1, 1], [0, 1000]])).asnumpy()
        array([[0.5, 0.5],
               [0. , 1. ]], dtype=float32)

    Source: SoftmaxActivationParam, src/operator/nn/softmax_activation-inl.h.
    """

    mode = param(str, "instance", choices=("instance", "channel"), doc="What sums to one.")
    contract = Contract(reference=_shares)
    forward_inplace = (("data", "output"),)
    backward_inplace = (("output_grad", "data_grad"), ("output", "data_grad"))

    def spec(self) -> str:
        """Channels need an axis."""
        return (
            "data:(N, C, *S) -> output:(N, C, *S)"
            if self.mode == "channel"
            else "data:(N, *S) -> output:(N, *S)"
        )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type."""
        check_floating(self.name, in_types)
        return super().infer_type(in_types)

    def forward(self, data: Array, output: Output) -> None:
        """Shift, exponentiate, divide by the sum."""
        write(self._write, output, data)

    def backward(self, output_grad: Array, output: Array, data_grad: Output) -> None:
        """`(g - sum(g * y)) * y`."""
        write(self._write_gradient, data_grad, output_grad, output)

    def cost(self, in_shapes: Any, out_shapes: Any) -> float:
        """Exponentials take many operations an element."""
        return super().cost(in_shapes, out_shapes) * 8

    def _axes(self, array: Array) -> tuple[int, ...]:
        return (1,) if self.mode == "channel" else tuple(range(1, array.ndim))

    def _write(self, data: Array, out: Array) -> None:
        axes = self._axes(data)
        with np.errstate(invalid="ignore"):  # where all are -inf the result is NaN
            np.subtract(data, data.max(axes, keepdims=True, initial=-np.inf), out=out)
        np.exp(out, out=out)
        out /= out.sum(axes, keepdims=True)

    def _write_gradient(self, ograd: Array, value: Array, out: Array) -> None:
        product = scratch(out, ograd, value)
        np.multiply(ograd, value, out=product)
        total = product.sum(self._axes(value), keepdims=True)
        np.subtract(ograd, total, out=product)
        np.multiply(product, value, out=out)
