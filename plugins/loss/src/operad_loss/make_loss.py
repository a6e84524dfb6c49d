"""`MakeLoss`: any value as a loss."""

from __future__ import annotations

from math import prod

import numpy as np

from operad_loss.scalars import prediction, scaled_sum
from operad_sdk import UNARY, Array, Contract, OperatorProperty, gradient, operator, param


@operator("MakeLoss")
class MakeLoss(OperatorProperty):
    """The data itself; its gradient is `grad_scale` everywhere.

    Shapes:
        data: (...)
        output: (...)

    Example:
        >>> import operad as od
        >>> od.nd.MakeLoss(od.nd.array([1, 2])).asnumpy()
        array([1., 2.], dtype=float32)

    Source: MakeLossOp, src/operator/make_loss-inl.h.
    """

    grad_scale = param(float, 1.0, doc="Gradient of every element.")
    valid_thresh = param(float, 0.0, doc="Elements above it count as valid.")
    normalization = param(
        str,
        "null",
        choices=("null", "batch", "valid"),
        doc="Divisor of the gradient: none, the number of rows (last axes), or of valid elements.",
    )
    spec = UNARY
    inplace = "data -> output"
    contract = Contract(reference=prediction, ignores_head_gradient="the data is the loss", loss=scaled_sum)

    def forward(data: Array) -> Array:
        """The data itself."""
        return data

    @gradient(when=lambda prop: prop.normalization != "valid")
    def constant_gradient(data_grad: Array, grad_scale: float, normalization: str) -> None:
        """`d loss / d data = grad_scale`, divided by the number of rows for "batch"; reads nothing."""
        rows = prod(data_grad.shape[:-1]) if normalization == "batch" else 1
        data_grad.fill(grad_scale / max(rows, 1))

    @gradient(when=lambda prop: prop.normalization == "valid")
    def gradient_by_valid(output: Array, grad_scale: float, valid_thresh: float, data_grad: Array) -> None:
        """`d loss / d data = grad_scale / n`, with n elements above the threshold."""
        # mutant: >=: equivalent, because no element is exactly the threshold
        data_grad.fill(grad_scale / max(int(np.count_nonzero(output > valid_thresh)), 1))
