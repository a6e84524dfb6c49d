"""`_contrib_box_nms`: the best of boxes that overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from operad_box import definitions
from operad_box.examples import DETECTIONS
from operad_box.geometry import converted, converted_grad, corners, format_param
from operad_box.suppression import LOOPS, Kept, by_score, kept, kept_by_loop
from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    KernelCall,
    OpContext,
    OperatorProperty,
    ParamError,
    PartialShape,
    Shape,
    ShapeError,
    operator,
    param,
)


def _shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Rows that are wide enough."""
    width = max(prop.coord_start + 4, prop.score_index + 1, prop.id_index + 1) + choose((0, 0, 1))
    count = choose((3, 5, 2, 1, 8, 0))
    batch: Shape = ((), (2,), (1, 2))[choose((0, 1, 2))]
    return [(*batch, count, width)]


@operator("_contrib_box_nms")
class box_nms(OperatorProperty):
    """Non-maximum suppression: of boxes that overlap, the one of the best score stays.

    Candidates are rows whose score exceeds `valid_thresh` and whose class is not `background_id`, best
    first and equal scores in order, `topk` of them. A better one of the same class suppresses a candidate
    where they overlap by more than `overlap_thresh`. The rows that stay come first, best first; the
    others are -1. Gradients go to the rows that stayed, through the conversion between formats.

    Shapes:
        data: (..., N, W), N rows that hold a score, four coordinates and what else there is.
        output0: As data.

    Example:
        >>> import operad as od
        >>> rows = od.nd.array([[0.8, 0, 0, 2, 2], [0.9, 0, 0, 2, 1.5], [0.7, 5, 5, 6, 6]])
        >>> od.nd._contrib_box_nms(rows, score_index=0, coord_start=1).asnumpy()
        array([[ 0.9,  0. ,  0. ,  2. ,  1.5],
               [ 0.7,  5. ,  5. ,  6. ,  6. ],
               [-1. , -1. , -1. , -1. , -1. ]], dtype=float32)

    Source: BoxNMSParam, src/operator/contrib/bounding_box-inl.h. Differs: the gradient is that of the
    conversion between formats too; the hidden output has a row's number, in int64, or -1.
    """

    overlap_thresh = param(float, 0.5, doc="Boxes that overlap by more are suppressed.")
    valid_thresh = param(float, 0.0, doc="Scores that are not more do not count.")
    topk = param(int, -1, doc="Maximum number of candidates; not positive: no limit.")
    coord_start = param(int, 2, ge=0, doc="Position of the first of four coordinates in a row.")
    score_index = param(int, 1, ge=0, doc="Position of the score in a row.")
    id_index = param(int, -1, doc="Position of the class in a row; negative: no class.")
    background_id = param(int, -1, doc="Rows of this class are no candidates.")
    force_suppress = param(bool, False, doc="Let boxes suppress boxes of other classes too.")
    in_format = format_param("Format of the boxes of data.")
    out_format = format_param("Format of the boxes of the output.")

    spec = "data:(*B, N, W) -> output0:(*B, N, W), hidden output1:int64(*B, N)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"data": DETECTIONS},
        params={
            "overlap_thresh": (0.5, 0.2, 0.8),
            "valid_thresh": (0.0, 0.25),
            "topk": (-1, 2, 4),
            "coord_start": (2, 3),
            "score_index": (1, 0),
            "id_index": (-1, 0),
            "background_id": (-1, 0, 1),
        },
        shapes=_shapes,
        reference=definitions.box_nms,
        nan_policy="a score that is NaN does not exceed valid_thresh: its box is no candidate, as in MXNet",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.id_index == self.score_index:
            raise ParamError(f"{self.name}: id_index and score_index are both {self.id_index}")
        last = self.coord_start + 3
        for name in ("score_index", "id_index"):
            if self.coord_start <= getattr(self, name) <= last:
                raise ParamError(
                    f"{self.name}: {name} is {getattr(self, name)}, among the coordinates "
                    f"{self.coord_start} to {last}"
                )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; rows must be long enough for all indices."""
        data = in_shapes[0]
        least = max(self.coord_start + 4, self.score_index + 1, self.id_index + 1)
        if data and data[-1] is not None and data[-1] < least:
            raise ShapeError(
                f"{self.name}: data has shape {data}, expected rows of at least {least} numbers: axis "
                f"{len(data) - 1} is {data[-1]}"
            )
        return super().infer_shape(in_shapes)

    @property
    def compares_classes(self) -> bool:
        """True if boxes suppress boxes of their own class alone."""
        return self.id_index >= 0 and not self.force_suppress

    def is_candidate(self, rows: Array) -> Array:
        """Mask of the rows that count."""
        found = rows[:, self.score_index] > self.valid_thresh
        if self.id_index >= 0:
            found &= rows[:, self.id_index] != self.background_id
        return found

    def stay(self, kept: Kept, xp: Any, rows: Array) -> Array:
        """Numbers of the rows that stay, best first."""
        candidates = xp.nonzero(self.is_candidate(rows))[0]
        order = candidates[by_score(xp, rows[candidates, self.score_index], self.topk)]
        boxes = corners(rows[order, self.coord_start : self.coord_start + 4], self.in_format)
        classes = np.trunc(rows[order, self.id_index]) if self.compares_classes else None
        return order[kept(xp, boxes, classes, self.overlap_thresh)]

    def _select(self, op_ctx: OpContext, data: Array, output0: Array, output1: Array, kept: Kept) -> None:
        """Copy the rows that stay to the front, and note their numbers."""
        position = slice(self.coord_start, self.coord_start + 4)
        output0[...] = -1
        output1[...] = -1
        for image in np.ndindex(data.shape[:-2]):
            rows, output = data[image], output0[image]
            stay = self.stay(kept, op_ctx.xp, rows)
            output[: len(stay)] = rows[stay]
            boxes = output[: len(stay), position]
            boxes[...] = converted(boxes, self.in_format, self.out_format)
            output1[image][: len(stay)] = stay

    forward = partial(_select, kept=kept)

    def data_grad(self, output0_grad: Array, output1: Array, data_grad: Array) -> None:
        """`d output0[n] / d data[stay[n]] = 1`, but for the conversion of coordinates."""
        position = slice(self.coord_start, self.coord_start + 4)
        data_grad[...] = 0
        for image in np.ndindex(output1.shape[:-1]):
            index, grad = output1[image], output0_grad[image]
            stay = index[index >= 0]
            rows = grad[: len(stay)].copy()
            rows[:, position] = converted_grad(rows[:, position], self.in_format, self.out_format)
            data_grad[image][stay] = rows


def _candidates(call: KernelCall) -> int:
    """Largest number of candidate rows in an image."""
    rows, most = call.shape("data")[-2], call.prop.topk
    return min(rows, most) if most > 0 else rows


box_nms.kernel("forward", name="select_by_loop", priority=1, when=LOOPS.when(_candidates))(
    partial(box_nms._select, kept=kept_by_loop)
)
