"""`SVMOutput`: the data itself, with the gradient of the hinge loss to a label."""

from __future__ import annotations

import numpy as np

from operad_loss.classes import label_places
from operad_loss.scalars import hinge, prediction
from operad_sdk import Array, Contract, OpContext, OperatorProperty, Output, operator, param
from operad_sdk.domains import Integers


@operator("SVMOutput")
class SVMOutput(OperatorProperty):
    """Scores of classes; going back, the gradient of the hinge loss, whatever comes from above.

    Each class of an item is told apart from the others: the labelled one should score above
    `margin`, the others below `-margin`. The loss is the squared shortfall, or with `use_linear`
    the shortfall.

    Shapes:
        data: (..., K)
        label: (...)
        output: the shape of `data`

    Example:
        >>> import operad as od
        >>> od.nd.SVMOutput(od.nd.array([[0.5, 2]]), od.nd.array([0])).asnumpy()
        array([[0.5, 2. ]], dtype=float32)

    Source: L1_SVM and L2_SVM, src/operator/svm_output.cc.
    """

    margin = param(float, 1.0, doc="How far a score should be on its side of 0.")
    regularization_coefficient = param(float, 1.0, doc="Factor of the gradient.")
    use_linear = param(bool, False, doc="The loss is the shortfall, not its square.")
    spec = "data:(*S, K), label:any(*S) -> output:(*S, K)"
    forward_inplace = (("data", "output"),)
    backward_inplace = (("output", "data_grad"),)
    contract = Contract(
        inputs={"label": Integers(-1, 4)},
        reference=prediction,
        ignores_head_gradient="a loss, at the end of a network",
        loss=hinge,
    )

    def forward(self, data: Array, output: Output) -> None:
        """The data itself."""
        output.assign(data)

    def backward(self, op_ctx: OpContext, output: Array, label: Array, data_grad: Output) -> None:
        """Side by side: the labelled class is pushed up, the others down, where they fall short."""
        side = op_ctx.xp.ones(output.shape, output.dtype)
        if output.shape[-1]:
            places, known = label_places(op_ctx.xp, label, output.shape[-1])
            side[places] -= 2 * known.astype(output.dtype)
        with data_grad.writing() as out:
            np.multiply(output, side, out=out)
            np.add(out, self.margin, out=out)  # the shortfall, where it is positive
            if self.use_linear:
                np.greater(out, 0, out=out)
            else:
                np.maximum(out, 0, out=out)
                np.multiply(out, 2, out=out)
            np.multiply(out, side, out=out)
            np.multiply(out, self.regularization_coefficient, out=out)
