"""`_contrib_MultiBoxDetection`: from what a detector predicts to boxes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from operad_box import definitions
from operad_box.coding import check_variances, decoded
from operad_box.examples import anchors
from operad_box.geometry import Corners, corners
from operad_box.suppression import LOOPS, Kept, by_score, kept, kept_by_loop
from operad_sdk import (
    Array,
    Contract,
    Distinct,
    Drawn,
    KernelCall,
    OpContext,
    OperatorProperty,
    operator,
    param,
)


@operator("_contrib_MultiBoxDetection")
class MultiBoxDetection(OperatorProperty):
    """The boxes that a detector found: class, score and corners; there is no gradient.

    An anchor counts if its best class but the first, which is the background, has at least the score
    `threshold`. The boxes are decoded, sorted by score, equal ones in order, and of those of one class
    that overlap by `nms_threshold` or more the best one stays; all others get the class -1. Where
    `nms_threshold` is not within 0 and 1, 0 excluded, boxes are neither sorted nor suppressed. With
    `nms_topk` the boxes beyond so many are those of the last anchors, with the class -1.

    Shapes:
        cls_prob: (N, classes, A).
        loc_pred: (N, 4 A), offsets of boxes from anchors.
        anchor: (1, A, 4), corners.
        output: (N, A, 6): class less one, score, left, top, right, bottom; -1 where there are no more boxes.

    Example:
        >>> import operad as od
        >>> anchor = od.nd.array([[[0, 0, 0.5, 0.5], [0, 0, 0.5, 0.625]]])
        >>> found = od.nd._contrib_MultiBoxDetection(
        ...     od.nd.array([[[0.25, 0.5], [0.75, 0.5]]]), od.nd.zeros((1, 8)), anchor)
        >>> found.asnumpy()
        array([[[ 0.   ,  0.75 ,  0.   ,  0.   ,  0.5  ,  0.5  ],
                [-1.   ,  0.5  ,  0.   ,  0.   ,  0.5  ,  0.625]]], dtype=float32)

    Source: MultiBoxDetectionParam, src/operator/contrib/multibox_detection-inl.h.
    """

    clip = param(bool, True, doc="Clip boxes to the image, the unit square.")
    threshold = param(float, 0.01, doc="The least score that counts.")
    background_id = param(int, 0, ignored="The background is the first class, as in MXNet.")
    nms_threshold = param(float, 0.5, doc="Boxes that overlap by as much are suppressed.")
    force_suppress = param(bool, False, doc="Let boxes suppress boxes of other classes too.")
    variances = param("floats", (0.1, 0.1, 0.2, 0.2), doc="Factors of the offsets.")
    nms_topk = param(int, -1, doc="Maximum number of boxes; not positive: no limit.")

    spec = "cls_prob:(N, 1 + foreground, A), loc_pred:(N, 4*A), anchor:(1, A, 4) -> output:(N, A, 6)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"cls_prob": Distinct(), "anchor": Drawn(anchors)},
        params={
            "threshold": (0.01, 0.5),
            "nms_threshold": (0.5, 0.25, 0.0),
            "variances": ((0.1, 0.1, 0.2, 0.2), (0.25, 0.25, 0.5, 0.5)),
            "nms_topk": (-1, 1, 3),
        },
        reference=definitions.detection,
        nan_policy="a score that is NaN is not the best one, as in MXNet",
        no_numeric_gradient="MXNet gives it none: a detector is trained on its targets",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        check_variances(self)

    def _detect(
        self, op_ctx: OpContext, cls_prob: Array, loc_pred: Array, anchor: Array, output: Array, kept: Kept
    ) -> None:
        """Decode the boxes of each image that count, and suppress some."""
        xp = op_ctx.xp
        output[...] = -1
        if cls_prob.shape[1] == 1:
            return
        sides = corners(anchor[0], "corner")
        for probabilities, offsets, found in zip(cls_prob[:, 1:], loc_pred, output, strict=True):
            # A score that is no number, or not above -1, is the class's that is none.
            scores = xp.where(probabilities > -1, probabilities, -1)
            best = scores.max(axis=0)
            counts = xp.nonzero((best > -1) & (best >= self.threshold))[0]
            rows = found[: len(counts)]
            rows[:, 0] = scores[:, counts].argmax(axis=0)
            rows[:, 1] = best[counts]
            boxes = decoded(offsets.reshape(-1, 4)[counts], sides.at(counts), self.variances)
            for column, side in enumerate(boxes):
                rows[:, 2 + column] = np.clip(side, 0, 1) if self.clip else side
            if 0 < self.nms_threshold <= 1:
                self._suppress(kept, xp, rows)

    forward = partial(_detect, kept=kept)

    def _suppress(self, kept: Kept, xp: Any, rows: Array) -> None:
        """Sort rows by score, and set the class of those that do not stay to -1."""
        best = rows[by_score(xp, rows[:, 1], self.nms_topk)]
        boxes = Corners(*(best[:, column] for column in range(2, 6)))
        classes = None if self.force_suppress else best[:, 0]
        stay = kept(xp, boxes, classes, self.nms_threshold, is_inclusive=True)
        rows[:, 0] = -1
        rows[: len(best), 1:] = best[:, 1:]
        rows[stay, 0] = best[stay, 0]


def _candidates(call: KernelCall) -> int:
    """Largest number of candidate boxes in an image."""
    anchors, most = call.shape("anchor")[1], call.prop.nms_topk
    return min(anchors, most) if most > 0 else anchors


MultiBoxDetection.kernel("forward", name="detect_by_loop", priority=1, when=LOOPS.when(_candidates))(
    partial(MultiBoxDetection._detect, kept=kept_by_loop)
)
