"""`SVMOutput`: the data itself, with the gradient of the hinge loss to a label."""

from __future__ import annotations

import numpy as np

from operad_loss.classes import LabelledProperty, label_positions
from operad_loss.scalars import hinge, prediction
from operad_sdk import Array, Contract, Integers, OpContext, gradient, operator, param


@operator("SVMOutput")
class SVMOutput(LabelledProperty):
    """Scores of classes; the gradient is that of the hinge loss.

    Each class of an item is distinguished from the others: the labelled one should score above
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

    margin = param(float, 1.0, doc="Margin: required distance of a score from 0.")
    regularization_coefficient = param(float, 1.0, doc="Factor of the gradient.")
    use_linear = param(bool, False, doc="The loss is the shortfall, not its square.")
    spec = "data:(*S, K), label:any(*S) -> output:(*S, K)"
    compute_dtype = "float32"
    inplace = "data -> output"
    contract = Contract(
        inputs={"label": Integers(-1, 4)},
        reference=prediction,
        ignores_head_gradient="a loss, at the end of a network",
        loss=hinge,
    )

    def forward(data: Array) -> Array:
        """The data itself."""
        return data

    @gradient(inplace="output")
    def data_grad(
        output: Array,
        label: Array,
        op_ctx: OpContext,
        margin: float,
        regularization_coefficient: float,
        use_linear: bool,
        data_grad: Array,
    ) -> None:
        """`2 side max(margin + side * data, 0)`, or `side` where it is positive; side is -1 at the label."""
        side = np.ones_like(output)
        if output.shape[-1]:
            positions, known = label_positions(op_ctx.xp, label, output.shape[-1])
            side[positions] -= 2 * known.astype(output.dtype)
        shortfall = np.add(np.multiply(output, side, out=data_grad), margin, out=data_grad)
        if use_linear:
            np.greater(shortfall, 0, out=data_grad)
        else:
            np.multiply(np.maximum(shortfall, 0, out=data_grad), 2, out=data_grad)
        # mutant: np.divide: equivalent, because sides are 1 and -1
        np.multiply(data_grad, side, out=data_grad)
        np.multiply(data_grad, regularization_coefficient, out=data_grad)
