"""`_contrib_box_iou`: the overlap of every pair of boxes."""

from __future__ import annotations

from collections.abc import Sequence

from operad_box import definitions
from operad_box.examples import BOXES_AND_POINTS
from operad_box.geometry import corners, format_param, overlaps
from operad_sdk import Array, Contract, InferredShapes, OperatorProperty, PartialShape, ShapeError, operator


@operator("_contrib_box_iou")
class box_iou(OperatorProperty):
    """Intersection over union of every box of `lhs` with every box of `rhs`; there is no gradient.

    It is 0 where the union has no area. A box whose sides are exchanged has none.

    Shapes:
        lhs: (..., 4), at least two axes.
        rhs: (..., 4), likewise.
        output: the axes of lhs but the last, then those of rhs but the last.

    Example:
        >>> import operad as od
        >>> boxes = od.nd.array([[0, 0, 2, 2], [1, 0, 3, 2]])
        >>> od.nd._contrib_box_iou(boxes, boxes[:1]).asnumpy().round(3)
        array([[1.   ],
               [0.333]], dtype=float32)

    Source: BoxOverlapParam, src/operator/contrib/bounding_box-inl.h.
    """

    format = format_param("Format of a box's four numbers.")

    spec = "lhs:(*L, 4), rhs:(*R, 4) -> output:(*L, *R)"
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"lhs": BOXES_AND_POINTS, "rhs": BOXES_AND_POINTS}, reference=definitions.box_iou
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; a single box needs an axis of its own."""
        for name, shape in zip(("lhs", "rhs"), in_shapes, strict=True):
            if shape is not None and len(shape) < 2:
                raise ShapeError(f"{self.name}: {name} has shape {shape}, expected at least 2 axes")
        return super().infer_shape(in_shapes)

    def forward(lhs: Array, rhs: Array, format: str) -> Array:
        """Each of `lhs` is a row, each of `rhs` a column."""
        rows = corners(lhs.reshape(-1, 1, 4), format)
        columns = corners(rhs.reshape(1, -1, 4), format)
        return overlaps(rows, columns).reshape(*lhs.shape[:-1], *rhs.shape[:-1])
