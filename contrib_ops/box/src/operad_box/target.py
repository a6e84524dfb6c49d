"""`_contrib_MultiBoxTarget`: what each anchor should predict."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_box import definitions
from operad_box.coding import check_variances, encoded
from operad_box.examples import anchors, truths
from operad_box.geometry import corners, overlaps
from operad_box.matching import NONE, hardest, matches
from operad_sdk import Array, Contract, Drawn, OpContext, OperatorProperty, operator, param

END: Final = -1.0
"""The class of the row that ends an image's true boxes."""


@operator("_contrib_MultiBoxTarget")
class MultiBoxTarget(OperatorProperty):
    """The class and the offsets that each anchor of a detector should predict; there is no gradient.

    The anchor and the true box that overlap most are matched, then the best pair of those left, until each
    true box has an anchor or overlaps none. Any other anchor is matched with the true box that it
    overlaps most, if that is by more than `overlap_threshold`; 0 or less: with none.
    An anchor without a match is background. With `negative_mining_ratio` only some are, the rest gets
    `ignore_label`: ratio times as many as have a match, of those that overlap no true box by
    `negative_mining_thresh`, and of these the ones whose predicted probability of the background is least.

    Shapes:
        anchor: (1, A, 4), corners.
        label: (N, M, 5 or more): class, corners, anything; the first row of class -1 ends an image's boxes.
        cls_pred: (N, classes, A), before the softmax.
        loc_target: (N, 4 A), offsets of true boxes from anchors; 0 without a match.
        loc_mask: (N, 4 A), 1 with a match, else 0.
        cls_target: (N, A), class plus one, 0 for background, or `ignore_label`, which is that of every
            anchor of an image without true boxes.

    Example:
        >>> import operad as od
        >>> anchor = od.nd.array([[[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]]])
        >>> label = od.nd.array([[[2, 0.05, 0, 0.55, 0.5]]])
        >>> for target in od.nd._contrib_MultiBoxTarget(anchor, label, od.nd.zeros((1, 4, 2))):
        ...     print(target.asnumpy().round(3))
        [[1. 0. 0. 0. 0. 0. 0. 0.]]
        [[1. 1. 1. 1. 0. 0. 0. 0.]]
        [[3. 0.]]

    Source: MultiBoxTargetParam, src/operator/contrib/multibox_target-inl.h. Differs: where fewer anchors
    than wanted can be background, all of them are, and it is no error.
    """

    overlap_threshold = param(float, 0.5, doc="Anchors that overlap a true box by more are matched.")
    ignore_label = param(float, -1.0, doc="Class of anchors that do not count.")
    negative_mining_ratio = param(float, -1.0, doc="Background anchors per match; not positive: all others.")
    negative_mining_thresh = param(float, 0.5, doc="Anchors that overlap by as much are no background.")
    minimum_negative_samples = param(int, 0, ignored="MXNet reads it, and does not use it.")
    variances = param("floats", (0.1, 0.1, 0.2, 0.2), doc="Divisors of the offsets.")

    spec = (
        "anchor:(1, A, 4), label:(N, M, 5 + extra), cls_pred:(N, 1 + foreground, A) "
        "-> loc_target:(N, 4*A), loc_mask:(N, 4*A), cls_target:(N, A)"
    )
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"anchor": Drawn(anchors), "label": Drawn(truths)},
        params={
            "overlap_threshold": (0.5, 0.25, 0.0),
            "ignore_label": (-1.0, -2.0),
            "negative_mining_ratio": (-1.0, 1.0, 2.0),
            "negative_mining_thresh": (0.5, 0.25),
            "variances": ((0.1, 0.1, 0.2, 0.2), (0.25, 0.25, 0.5, 0.5)),
        },
        reference=definitions.target,
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        check_variances(self)

    def forward(
        self,
        op_ctx: OpContext,
        anchor: Array,
        label: Array,
        cls_pred: Array,
        loc_target: Array,
        loc_mask: Array,
        cls_target: Array,
    ) -> None:
        """One image after the other."""
        xp, sides = op_ctx.xp, corners(anchor[0], "corner")
        loc_target[...] = 0
        loc_mask[...] = 0
        cls_target[...] = self.ignore_label
        if not cls_target.size:
            return
        for image, rows in enumerate(label):
            ends = xp.nonzero(rows[:, 0] == END)[0]
            rows = rows[: int(ends[0])] if len(ends) else rows
            if not len(rows):
                continue
            truth = corners(rows[:, 1:5], "corner")
            overlap = overlaps(sides.at(np.s_[:, None]), truth.at(np.s_[None, :]))
            match = matches(xp, overlap, self.overlap_threshold)
            cls_target[image, self._background(xp, match, overlap, cls_pred[image])] = 0
            (matched,) = xp.nonzero(match != NONE)
            cls_target[image, matched] = rows[match[matched], 0] + 1
            offsets = encoded(truth.at(match[matched]), sides.at(matched), self.variances)
            loc_target[image].reshape(-1, 4)[matched] = offsets
            loc_mask[image].reshape(-1, 4)[matched] = 1

    def _background(self, xp: Any, match: Array, overlap: Array, scores: Array) -> Array:
        """Numbers of the anchors that are background."""
        (others,) = xp.nonzero(match == NONE)
        if self.negative_mining_ratio <= 0:
            return others
        wanted = int((len(match) - len(others)) * self.negative_mining_ratio)
        others = others[overlap[others].max(axis=1) < self.negative_mining_thresh]
        return hardest(xp, scores, others, wanted)
