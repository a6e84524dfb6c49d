"""`CTCLoss`: the loss of a sequence of labels whose alignment is unknown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np

from operad_ctc_loss import examples
from operad_ctc_loss.alignment import LOOPS, aligned, aligned_by_loop
from operad_ctc_loss.labels import read_labels
from operad_sdk import (
    Array,
    Contract,
    Drawn,
    InferredShapes,
    KernelCall,
    OpContext,
    OperatorProperty,
    PartialShape,
    ShapeError,
    operator,
    param,
)


@operator("CTCLoss")
class CTCLoss(OperatorProperty):
    """Connectionist temporal classification: -log of the probability of the labels under all alignments.

    A sequence of classes, one per step, stands for the labels that are left when equal neighbours count
    once and blanks are removed. Their probabilities are softmaxes of the steps of data. With p the softmax
    and q the share of the alignments that give a class to a step, the gradient is `p - q`. Where labels do
    not fit into the steps, loss and gradient are 0: such a sample is left out.

    Shapes:
        data: (T, N, A), T steps of A classes, of which the first is the blank, or the last.
        label: (N, L), L at most T; classes, from 1 if the blank is first, else from 0. Padded with 0 or -1.
        data_lengths: (N,), how many steps count, with `use_data_lengths`.
        label_lengths: (N,), how many labels count, with `use_label_lengths`; then nothing is padding.
        output0: (N,).

    Example:
        >>> import operad as od
        >>> data = od.nd.zeros((2, 1, 3))  # three of nine sequences, "1 1", "1 _" and "_ 1", stand for 1
        >>> od.nd.exp(-od.nd.CTCLoss(data, od.nd.array([[1, 0]]))).asnumpy().round(4)
        array([0.3333], dtype=float32)

    Source: CTCLossOpParam, src/operator/nn/ctc_loss-inl.h; Graves et al., Connectionist Temporal
    Classification, ICML 2006. Differs: lengths and classes out of range are errors.
    """

    use_data_lengths = param(bool, False, doc="Use data_lengths; otherwise all steps are valid.")
    use_label_lengths = param(bool, False, doc="Use label_lengths; otherwise padding ends the labels.")
    blank_label = param(str, "first", choices=("first", "last"), doc="Class of the blank.")

    spec = (
        "data:(T, N, 1 + symbols), label:any(N, L), data_lengths:any(N) if use_data_lengths, "
        "label_lengths:any(N) if use_label_lengths -> output0:(N), hidden output1:(T, N, 1 + symbols)"
    )
    accepts = {"data": "floating"}
    compute_dtype = "float32"
    unknown_slopes = (
        "its gradient reads how often each class is expected at each step; how that changes is a sum over "
        "all pairs of steps, which is not computed"
    )
    contract = Contract(
        inputs={
            "label": Drawn(examples.drawn_labels),
            "data_lengths": Drawn(examples.data_lengths),
            "label_lengths": Drawn(examples.label_lengths),
        },
        params=examples.PARAMS,
        shapes=examples.drawn_shapes,
        reference=examples.definition,
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; every label takes a step."""
        inferred = super().infer_shape(in_shapes)
        data, label = inferred[0][:2]
        if data and label and data[0] is not None and label[1] is not None and label[1] > data[0]:
            raise ShapeError(
                f"{self.name}: label has shape {label}, expected at most {data[0]} labels, as many as data "
                f"{data} has steps"
            )
        return inferred

    def _lose(
        self,
        op_ctx: OpContext,
        data: Array,
        label: Array,
        data_lengths: Array | None,
        label_lengths: Array | None,
        output0: Array,
        output1: Array,
        aligned: Callable[..., tuple[Array, Array]],
    ) -> None:
        """The loss, and, because it costs little more, its gradient."""
        xp = op_ctx.xp
        blank = 0 if self.blank_label == "first" else data.shape[2] - 1
        given = read_labels(xp, data, label, data_lengths, label_lengths, blank)
        is_step = xp.arange(len(data))[:, None] < given.steps
        # What stands behind a sequence's last step may be anything, NaN too.
        log_probs = xp.where(is_step[..., None], data, 0).astype("float64")
        log_probs -= log_probs.max(axis=2, keepdims=True)
        log_probs -= np.log(np.exp(log_probs).sum(axis=2, keepdims=True))
        total, expected = aligned(xp, log_probs, given)
        fits = given.fit()
        output0[...] = xp.where(fits, -total, 0)
        counts = is_step & fits
        output1[...] = xp.where(counts[..., None], np.exp(log_probs) - expected, 0)

    forward = partial(_lose, aligned=aligned)

    def data_grad(self, output0_grad: Array, output1: Array, data_grad: Array) -> None:
        """`d loss / d data = p - q`."""
        np.multiply(output1, output0_grad[:, None], out=data_grad)


def _steps_of_states(call: KernelCall) -> int:
    """Number of sums over alignments: one for each step and each state of a sample."""
    samples, labels = call.shape("label")
    steps = call.shape("data")[0]
    return steps * samples * (2 * labels + 1)  # mutant: equivalent, because a cost is no result


_PAYS: Final = LOOPS.when(_steps_of_states)
CTCLoss.kernel("forward", name="align_by_loop", priority=1, when=_PAYS)(
    partial(CTCLoss._lose, aligned=aligned_by_loop)
)
