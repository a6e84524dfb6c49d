"""`softmax_cross_entropy`: the loss of a batch as one number."""

from __future__ import annotations

import numpy as np

from operad_loss.classes import LabelledProperty, label_positions, write_softmax
from operad_loss.scalars import LARGEST_LOSS, cross_entropy
from operad_sdk import Array, Contract, Integers, OpContext, gradient, operator


@operator("softmax_cross_entropy")
class SoftmaxCrossEntropy(LabelledProperty):
    """Sum over the items of the cross-entropy of a label and the softmax of the scores.

    An item whose label is no class number adds nothing, and has no gradient. The least probability
    that counts is 1e-8, but not in the gradient.

    Shapes:
        data: (N, K)
        label: (N,)
        output: (1,)

    Example:
        >>> import operad as od
        >>> x, label = od.nd.array([[0, 0], [3, 1]]), od.nd.array([1, 0])
        >>> od.nd.softmax_cross_entropy(x, label).asnumpy().round(4)
        array([0.8201], dtype=float32)

    Source: SoftmaxCrossEntropyForward, src/operator/loss_binary_op-inl.h.
    """

    spec = "data:(N, K), label:any(N) -> output:(1)"
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 15
    contract = Contract(inputs={"label": Integers(-1, 4)}, reference=cross_entropy)

    def forward(data: Array, label: Array, op_ctx: OpContext) -> Array | float:
        """The logarithm of each item's sum of exponentials, less the labelled score."""
        if data.size == 0:
            return 0.0
        shifted = data - data.max(1, keepdims=True)
        positions, known = label_positions(op_ctx.xp, label, data.shape[1])
        losses = np.log(np.exp(shifted).sum(1)) - shifted[positions]
        return np.where(known, np.minimum(losses, LARGEST_LOSS), 0).sum(keepdims=True)

    @gradient(inplace="data")
    def data_grad(output_grad: Array, data: Array, label: Array, op_ctx: OpContext, data_grad: Array) -> None:
        """`d loss / d data = softmax(data) - onehot(label)`, in the rows whose label is a class."""
        if not data.size:
            return
        write_softmax(data, 1, data_grad)
        positions, known = label_positions(op_ctx.xp, label, data.shape[1])
        data_grad[positions] -= 1
        np.multiply(data_grad, np.where(known[:, None], output_grad, 0), out=data_grad)
