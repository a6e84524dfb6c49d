"""`MakeLoss`: any value as a loss."""

from __future__ import annotations

import numpy as np

from operad_loss.scalars import prediction, scaled_sum
from operad_sdk import Array, Contract, OperatorProperty, Output, gradient, operator, param


@operator("MakeLoss")
class MakeLoss(OperatorProperty):
    """The data itself; its gradient is `grad_scale` everywhere, whatever comes from above.

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
        doc="What the gradient is divided by: nothing, the length of axis 0, or the valid elements.",
    )
    spec = "data:(...) -> output:(...)"
    forward_inplace = (("data", "output"),)
    contract = Contract(reference=prediction, ignores_head_gradient="the data is the loss", loss=scaled_sum)

    def forward(self, data: Array, output: Output) -> None:
        """The data itself."""
        output.assign(data)

    @gradient(when=lambda prop: prop.normalization != "valid")
    def constant_gradient(self, data_grad: Output) -> None:
        """Reads nothing."""
        items = data_grad.shape[0] if self.normalization == "batch" and data_grad.ndim else 1
        data_grad.assign(data_grad.dtype.type(self.grad_scale / max(items, 1)))

    @gradient(when=lambda prop: prop.normalization == "valid")
    def gradient_by_valid(self, output: Array, data_grad: Output) -> None:
        """Counts the elements above the threshold."""
        valid = max(int(np.count_nonzero(output > self.valid_thresh)), 1)
        data_grad.assign(data_grad.dtype.type(self.grad_scale / valid))
