"""`SoftmaxActivation`, MXNet's older form of the softmax."""

from __future__ import annotations

import numpy as np

from operad_activation.softmax import fill_softmax, fill_softmax_gradient
from operad_sdk import Array, Contract, OperatorProperty, gradient, operator, param


def _axis(mode: str) -> int:
    return 1 if mode == "channel" else -1


def _shares(data: Array, mode: str) -> Array:
    """The quotient itself, for the contract checks."""
    powers = np.exp(data)
    return np.asarray(powers / powers.sum(_axis(mode), keepdims=True))


@operator("SoftmaxActivation")
class SoftmaxActivation(OperatorProperty):
    """The softmax over the last axis, or over the channels.

    Shapes:
        data: (..., K); with mode "channel" (N, C, ...).
        output: As data.

    Example:
        >>> import operad as od
        >>> od.nd.SoftmaxActivation(od.nd.array([[1, 1], [0, 1000]])).asnumpy()
        array([[0.5, 0.5],
               [0. , 1. ]], dtype=float32)

    Source: SoftmaxActivationOp, src/operator/nn/softmax_activation-inl.h. Differs: mode "instance" has
    the gradient of its values, where MXNet 1.9.1 sums over axis 1 even if that is not the last.
    """

    mode = param(
        str, "instance", choices=("instance", "channel"), doc="Axis of the softmax: the last axis, or axis 1."
    )
    spec = (
        "data:(N, C, *S) if mode == 'channel', data:(*S, K) if mode == 'instance'"
        " -> output:(N, C, *S) if mode == 'channel', output:(*S, K) if mode == 'instance'"
    )
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    element_cost = 3
    contract = Contract(reference=_shares)

    def forward(data: Array, mode: str, output: Array) -> None:
        """Shift, exponentiate, divide by the sum."""
        fill_softmax(data, _axis(mode), output)

    @gradient(inplace="output_grad, output")
    def data_grad(output_grad: Array, output: Array, mode: str, data_grad: Array) -> None:
        """`d/dx = (g - sum(g * y)) * y`."""
        fill_softmax_gradient(output_grad, output, _axis(mode), data_grad)
