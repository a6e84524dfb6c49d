"""`_contrib_Proposal`, and `_contrib_MultiProposal` of several images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_proposal import definitions
from operad_proposal.anchors import Boxes, anchors, cut_off, moved, sizes, survivors
from operad_sdk import (
    Array,
    Contract,
    Distinct,
    Drawn,
    InferredShapes,
    OpContext,
    OperatorProperty,
    ParamError,
    PartialShape,
    Real,
    Shape,
    ShapeError,
    operator,
    param,
)


def _images(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Height, width and scale of images, whose feature maps may be padded."""
    height, width = shapes["cls_prob"][2:]
    rows = np.ones(shape)
    rows[:, 0] = height * prop.feature_stride - rng.integers(0, 3, len(rows))
    rows[:, 1] = width * prop.feature_stride - rng.integers(0, 3, len(rows))
    return rows


class _Proposals(OperatorProperty):
    """The forward pass, one image after the other."""

    rpn_pre_nms_top_n = param(int, 6000, doc="Number of boxes to compare; not positive: all.")
    rpn_post_nms_top_n = param(int, 300, ge=1, doc="Number of boxes per image.")
    threshold = param(float, 0.7, doc="A box that overlaps a better one by more is left out.")
    rpn_min_size = param(int, 16, ge=0, doc="Smallest side, in pixels of the image before it was scaled.")
    scales = param("floats", (4.0, 8.0, 16.0, 32.0), gt=0, doc="Sides of anchors, in strides.")
    ratios = param("floats", (0.5, 1.0, 2.0), gt=0, doc="Ratios of the anchors' height to their width.")
    feature_stride = param(int, 16, ge=1, doc="Pixels of the image per position of the feature map.")
    output_score = param(bool, False, doc="Show the scores.")
    iou_loss = param(bool, False, doc="`bbox_pred` shifts the sides in pixels.")

    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"cls_prob": Distinct(), "bbox_pred": Real(-0.5, 0.5), "im_info": Drawn(_images)},
        params={
            "rpn_pre_nms_top_n": (6000, 5, -1),
            "rpn_post_nms_top_n": (4, 1),
            "threshold": (0.7, 0.25),
            "rpn_min_size": (0, 4),
            "scales": ((2.0,), (1.0, 2.0)),
            "ratios": ((1.0,), (0.5, 2.0)),
            "feature_stride": (4, 3),
        },
        reference=definitions.proposals,
        no_numeric_gradient="boxes that are proposed are constants, as in MXNet",
        nan_policy="a box that is NaN is no box, and a score that is NaN counts last",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        for name in ("scales", "ratios"):
            if not getattr(self, name):
                raise ParamError(f"{self.name}: {name} is empty, expected at least one number")

    @property
    def anchor_count(self) -> int:
        """Anchors of a position."""
        return len(self.scales) * len(self.ratios)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; there must be a position to propose a box."""
        inferred = super().infer_shape(in_shapes)
        scores = inferred[0][0]
        if scores is not None and 0 in scores[2:]:
            raise ShapeError(f"{self.name}: cls_prob has shape {scores}, expected at least one position")
        return inferred

    def forward(
        self,
        op_ctx: OpContext,
        cls_prob: Array,
        bbox_pred: Array,
        im_info: Array,
        output: Array,
        score: Array,
    ) -> None:
        """Move the anchors, rank them, and leave out what overlaps."""
        xp, (height, width) = op_ctx.xp, cls_prob.shape[2:]
        boxes = sizes(self.feature_stride, self.scales, self.ratios)
        anchor = anchors(xp, (height, width), self.feature_stride, boxes)
        anchor = Boxes(*(side.astype(cls_prob.dtype) for side in anchor))
        for image, (image_height, image_width, scale) in enumerate(im_info.tolist()):
            offsets = bbox_pred[image].reshape(-1, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
            found = cut_off(moved(anchor, offsets, self.iou_loss), image_height, image_width)
            scores = cls_prob[image, self.anchor_count :].transpose(1, 2, 0).copy()
            scores[int(image_height / self.feature_stride) :] = -1
            scores[:, int(image_width / self.feature_stride) :] = -1
            scores = scores.reshape(-1)
            smallest = self.rpn_min_size * scale
            small = (found.width < smallest) | (found.height < smallest)
            scores[small] = -1
            grown = [
                xp.where(small, side + sign * smallest / 2, side)
                for side, sign in zip(found, (-1, -1, 1, 1), strict=True)
            ]
            rows = slice(image * self.rpn_post_nms_top_n, (image + 1) * self.rpn_post_nms_top_n)
            self._select(xp, Boxes(*grown), scores, output[rows], score[rows])
            output[rows, 0] = image

    def _select(self, xp: Any, boxes: Boxes, scores: Array, output: Array, score: Array) -> None:
        """The best boxes of an image."""
        order = np.argsort(-scores, kind="stable")
        if self.rpn_pre_nms_top_n > 0:
            order = order[: self.rpn_pre_nms_top_n]
        stay = survivors(boxes.at(order), self.threshold, len(output))
        if not stay:
            output[...] = score[...] = 0
            return
        chosen = order[xp.asarray(np.resize(stay, len(output)))]
        output[:, 1:] = xp.stack(list(boxes.at(chosen)), axis=1)
        score[:, 0] = scores[chosen]


def _spec(prop: Any, images: str) -> str:
    shown = "" if prop.output_score else "hidden "
    rows = f"{images}*rpn_post_nms_top_n"
    return (
        f"cls_prob:({images}, 2*anchor_count, H, W), bbox_pred:({images}, 4*anchor_count, H, W), "
        f"im_info:({images}, 3) -> output:({rows}, 5), {shown}score:({rows}, 1)"
    )


@operator("_contrib_Proposal")
class Proposal(_Proposals):
    """The boxes of an image that most likely hold an object, whatever it is.

    Around each position of a feature map stand anchors of all ratios of height to width and all scales.
    They are moved as `bbox_pred` says, cut off at the image's edge, and scored by the second half of
    `cls_prob`. A box smaller than `rpn_min_size` counts last, as does one of a position beyond the image.
    The best `rpn_pre_nms_top_n` are taken, and of these, best first, those that overlap no better one by
    more than `threshold`. Where fewer are left than asked for they are repeated. After Ren et al.,
    "Faster R-CNN: Towards real-time object detection with region proposal networks", 2015. There is no
    gradient.

    Shapes:
        cls_prob: (1, 2 A, H, W) of A anchors per position; the second A channels count.
        bbox_pred: (1, 4 A, H, W).
        im_info: (1, 3): height and width of the image in pixels, and its scale.
        output: (rpn_post_nms_top_n, 5): the image, left, top, right and bottom.
        score (hidden unless output_score): (rpn_post_nms_top_n, 1).

    Example:
        >>> import operad as od
        >>> scores, offsets = od.nd.array([[[[0.5]], [[0.5]]]]), od.nd.zeros((1, 4, 1, 1))
        >>> image = od.nd.array([[16, 16, 1]])
        >>> options = {"scales": (1,), "ratios": (1,), "rpn_post_nms_top_n": 2}
        >>> od.nd.contrib.Proposal(scores, offsets, image, **options).asnumpy()
        array([[ 0.,  0.,  0., 15., 15.],
               [ 0.,  0.,  0., 15., 15.]], dtype=float32)

    Source: ProposalOp, src/operator/contrib/proposal.cc.
    """

    def spec(self) -> str:
        """One line of the shape language, of one image."""
        return _spec(self, "1")


@operator("_contrib_MultiProposal")
class MultiProposal(_Proposals):
    """The boxes of each image that most likely hold an object: `_contrib_Proposal` of one after the other.

    Shapes:
        cls_prob: (N, 2 A, H, W) of A anchors per position; the second A channels count.
        bbox_pred: (N, 4 A, H, W).
        im_info: (N, 3): height and width of the image in pixels, and its scale.
        output: (N rpn_post_nms_top_n, 5): the image, left, top, right and bottom.
        score (hidden unless output_score): (N rpn_post_nms_top_n, 1).

    Example:
        >>> import operad as od
        >>> images, options = od.nd.array([[16, 16, 1], [8, 8, 1]]), {"scales": (1,), "ratios": (1,)}
        >>> arrays = od.nd.ones((2, 2, 1, 1)), od.nd.zeros((2, 4, 1, 1)), images
        >>> od.nd.contrib.MultiProposal(*arrays, **options, rpn_post_nms_top_n=1, rpn_min_size=1).asnumpy()
        array([[ 0.,  0.,  0., 15., 15.],
               [ 1.,  0.,  0.,  7.,  7.]], dtype=float32)

    Source: MultiProposalOp, src/operator/contrib/multi_proposal.cc.
    """

    def spec(self) -> str:
        """One line of the shape language, of any number of images."""
        return _spec(self, "N")
