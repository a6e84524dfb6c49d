"""`softmax_cross_entropy`: the loss of a batch as one number."""

from __future__ import annotations

import numpy as np

from operad_loss.classes import label_places, write_softmax
from operad_loss.scalars import cross_entropy
from operad_sdk import Array, Contract, OpContext, OperatorProperty, Output, operator
from operad_sdk.domains import Integers


@operator("softmax_cross_entropy")
class SoftmaxCrossEntropy(OperatorProperty):
    """Sum over the items of the cross-entropy of a label and the softmax of the scores.

    An item whose label is no class number adds nothing, and has no gradient.

    Shapes:
        data: (N, K)
        label: (N,)
        output: (1,)

    Example:
        >>> import operad as od
        >>> x, label = od.nd.array([[0, 0], [3, 1]]), od.nd.array([1, 0])
        >>> od.nd.softmax_cross_entropy(x, label).asnumpy().round(4)
        array([0.8201], dtype=float32)

    Source: SoftmaxCrossEntropyForward, src/operator/loss_binary_op-inl.h. Differs: computed from
    scores, so a probability too small to represent has its true loss, where MXNet's ends at 18.42.
    """

    spec = "data:(N, K), label:any(N) -> output:(1)"
    accepts = "floating"
    backward_inplace = (("data", "data_grad"),)
    contract = Contract(inputs={"label": Integers(-1, 4)}, reference=cross_entropy)

    def forward(self, op_ctx: OpContext, data: Array, label: Array, output: Output) -> None:
        """The logarithm of each item's sum of exponentials, less the labelled score."""
        scores = data.astype(np.float32) if data.dtype == np.float16 else data
        if scores.size == 0:
            output.assign(0)
            return
        shifted = scores - scores.max(1, keepdims=True)
        places, known = label_places(op_ctx.xp, label, data.shape[1])
        losses = np.log(np.exp(shifted).sum(1)) - shifted[places]
        output.assign(np.where(known, losses, 0).sum())

    def backward(
        self, op_ctx: OpContext, output_grad: Array, data: Array, label: Array, data_grad: Output
    ) -> None:
        """Probabilities less the labels, times the gradient from above."""
        with data_grad.writing() as out:
            if not out.size:
                return
            write_softmax(data, 1, out)
            places, known = label_places(op_ctx.xp, label, data.shape[1])
            out[places] -= 1
            np.multiply(out, np.where(known[:, None], output_grad, 0), out=out)
