"""Boxes and detectors as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]

_TRAINING: Final = "it makes targets of a training"


def _columns(node: Any, boxes: str, start: int = 0) -> list[str]:
    """Four columns of a value."""
    return [node.slice(boxes, [start + i], [start + i + 1], [-1]) for i in range(4)]


def _corners(node: Any, boxes: str, form: str, start: int = 0) -> list[str]:
    """The four sides of boxes."""
    columns = _columns(node, boxes, start)
    if form == "corner":
        return columns
    x, y, width, height = columns
    halves = [node.add("Mul", size, node.const(0.5)) for size in (width, height)]
    low = [node.add("Sub", centre, half) for centre, half in zip((x, y), halves, strict=True)]
    high = [node.add("Add", centre, half) for centre, half in zip((x, y), halves, strict=True)]
    return [*low, *high]


def _decoded(node: Any, offsets: list[str], sides: list[str], stds: Any, clip: float = 0.0) -> list[str]:
    """Boxes that have such offsets from anchors: `centre + offset size`, `size exp(offset)`."""
    found = []
    for axis in (0, 1):
        low, high = sides[axis], sides[axis + 2]
        size = node.add("Sub", high, low)
        middle = node.add("Mul", node.add("Add", low, high), node.const(0.5))
        moved = node.add("Mul", node.add("Mul", offsets[axis], node.const(stds[axis])), size)
        centre = node.add("Add", moved, middle)
        ratio = node.add("Mul", offsets[axis + 2], node.const(stds[axis + 2]))
        ratio = node.add("Min", ratio, node.const(clip)) if clip > 0 else ratio
        half = node.add("Mul", node.add("Mul", node.add("Exp", ratio), size), node.const(0.5))
        found.append((node.add("Sub", centre, half), node.add("Add", centre, half)))
    (left, right), (top, bottom) = found
    return [left, top, right, bottom]


def _box_decode(node: Any) -> Any:
    op = node.op
    stds = (op.std0, op.std1, op.std2, op.std3)
    sides = _decoded(
        node, _columns(node, node.inputs[0]), _corners(node, node.inputs[1], op.format), stds, op.clip
    )
    return node.add("Concat", *sides, axis=-1)


def _box_iou(node: Any) -> Any:
    """The intersection over the union, of each box with each."""
    lhs, rhs = (len(shape) - 1 for shape in node.shapes)
    one = [node.reshape(side, (*node.shapes[0][:-1], *(1,) * rhs), like=(*node.shapes[0][:-1], 1))
           for side in _corners(node, node.inputs[0], node.op.format)]  # fmt: skip
    other = [node.reshape(side, (*(1,) * lhs, *node.shapes[1][:-1]), like=(*node.shapes[1][:-1], 1))
             for side in _corners(node, node.inputs[1], node.op.format)]  # fmt: skip
    zero = node.const(0)
    spans = [
        node.add(
            "Max",
            node.add("Sub", node.add("Min", one[i + 2], other[i + 2]), node.add("Max", one[i], other[i])),
            zero,
        )
        for i in (0, 1)
    ]
    areas = [node.add("Mul", node.add("Sub", b[2], b[0]), node.add("Sub", b[3], b[1])) for b in (one, other)]
    inner = node.add("Mul", *spans)
    union = node.add("Sub", node.add("Add", *areas), inner)
    is_empty = node.add("LessOrEqual", union, zero)
    safe = node.add("Where", is_empty, node.const(1), union)
    return node.add("Where", is_empty, zero, node.add("Div", inner, safe))


def _stays(
    node: Any, boxes: str, scores: str, threshold: float, shape: tuple[int, int], least: float | None
) -> str:
    """1 for each of the boxes (N, K, 4) that non-maximum suppression keeps, in the shape (N, K)."""
    limit = [] if least is None else [node.const([least], "float32")]
    if node.dtypes[0].name != "float32":
        boxes, scores = node.cast(boxes, "float32"), node.cast(scores, "float32")
    chosen = node.add(
        "NonMaxSuppression", boxes, scores, node.ints(shape[1]), node.const([threshold], "float32"), *limit
    )
    places = node.add("Gather", chosen, node.ints(0, 2), axis=1)
    count = node.slice(node.add("Shape", chosen), [0], [1], [0])
    zeros = node.add("Expand", node.const(0.0), node.ints(*shape))
    return str(node.add("ScatterND", zeros, places, node.add("Expand", node.const(1.0), count)))


def _by_score(node: Any, scores: str, count: int) -> tuple[str, str]:
    """Scores from the best on, and the numbers of their rows."""
    best, order = node.add("TopK", scores, node.ints(count), outputs=2, axis=1, largest=1, sorted=1)
    return best, order


def _rows(node: Any, values: str, order: str) -> Any:
    return node.add("GatherND", values, node.unsqueeze(order, -1), batch_dims=1)


def _box_nms(node: Any) -> Any:
    """Rows that NonMaxSuppression keeps, best first, and then -1."""
    op, shape = node.op, node.fixed()
    if op.id_index >= 0 and not (op.force_suppress and op.background_id < 0):
        node.refuse(
            "suppression within classes has no counterpart, as their number is not known; force_suppress"
        )
    (count, width), batch = shape[-2:], int(np.prod(shape[:-2]))
    data = node.add("Reshape", node.inputs[0], node.ints(batch, count, width))
    scores = node.squeeze(node.slice(data, [op.score_index], [op.score_index + 1], [-1]), -1)
    best, order = _by_score(node, scores, min(op.topk, count) if op.topk > 0 else count)
    data = _rows(node, data, order)
    kept_count = min(op.topk, count) if op.topk > 0 else count
    boxes = node.add("Concat", *_corners(node, data, op.in_format, op.coord_start), axis=-1)
    stays = _stays(
        node, boxes, node.unsqueeze(best, 1), op.overlap_thresh, (batch, kept_count), op.valid_thresh
    )
    first, order = _by_score(node, stays, kept_count)
    if op.in_format != op.out_format:
        data = _converted(node, data, boxes, op, width)
    is_kept = node.unsqueeze(node.truth(first), -1)
    made = node.add("Where", is_kept, _rows(node, data, order), node.const(-1.0))
    if kept_count < count:
        pads = node.ints(0, 0, 0, 0, count - kept_count, 0)
        made = node.add("Pad", made, pads, node.const(-1.0))
    return node.reshape(made, shape)


def _converted(node: Any, data: str, corners: str, op: Any, width: int) -> str:
    """Rows with their boxes in the other format."""
    sides = corners
    if op.out_format == "center":
        left, top, right, bottom = _columns(node, corners)
        middles = [
            node.add("Mul", node.add("Add", a, b), node.const(0.5)) for a, b in ((left, right), (top, bottom))
        ]
        sizes = [node.add("Sub", b, a) for a, b in ((left, right), (top, bottom))]
        sides = node.add("Concat", *middles, *sizes, axis=-1)
    parts = [
        node.slice(data, [0], [op.coord_start], [-1]),
        sides,
        node.slice(data, [op.coord_start + 4], [width], [-1]),
    ]
    kept = [
        part
        for part, size in zip(parts, (op.coord_start, 4, width - op.coord_start - 4), strict=True)
        if size
    ]
    return str(node.add("Concat", *kept, axis=-1))


def _detection(node: Any) -> Any:
    """Decode, sort by score, and suppress within each class: the classes are known here."""
    op, (batch, classes, count) = node.op, node.fixed()
    if op.nms_topk > 0 or not 0 < op.nms_threshold <= 1:
        node.refuse("a limit of boxes, and boxes that are not suppressed, have no counterpart")
    shares = node.slice(node.inputs[0], [1], [classes], [1])
    best = node.reduce("ReduceMax", shares, [1], keepdims=False)
    label = node.add("ArgMax", shares, axis=1, keepdims=0)
    offsets = node.add("Reshape", node.inputs[1], node.ints(batch, count, 4))
    sides = _decoded(node, _columns(node, offsets), _columns(node, node.inputs[2]), op.variances)
    boxes = node.add("Concat", *sides, axis=-1)
    boxes = node.add("Clip", boxes, node.const(0.0), node.const(1.0)) if op.clip else boxes
    counts = node.add("GreaterOrEqual", best, node.const(op.threshold))
    best, order = _by_score(node, node.add("Where", counts, best, node.const(-2.0)), count)
    boxes, label = _rows(node, boxes, order), _rows(node, label, order)
    if op.force_suppress:
        scores = node.unsqueeze(best, 1)
    else:
        own = node.add(
            "Equal", node.unsqueeze(label, 1), node.const(np.arange(classes - 1)[:, None], "int64")
        )
        scores = node.add("Where", own, node.unsqueeze(best, 1), node.const(-2.0))
    below = float(np.nextafter(np.float32(op.nms_threshold), np.float32(0)))  # as much is enough here
    stays = node.truth(_stays(node, boxes, scores, below, (batch, count), -1.0))
    label = node.add("Where", stays, node.cast(label, node.dtypes[0]), node.const(-1.0))
    rows = node.add("Concat", node.unsqueeze(label, -1), node.unsqueeze(best, -1), boxes, axis=-1)
    is_row = node.unsqueeze(node.add("Greater", best, node.const(-1.5)), -1)
    return node.add("Where", is_row, rows, node.const(-1.0))


EXPORTS: Final[Mapping[str, Rule]] = {
    "_contrib_MultiBoxPrior": lambda node: node.of_shapes(),
    "_contrib_MultiBoxDetection": _detection,
    "_contrib_box_decode": _box_decode,
    "_contrib_box_iou": _box_iou,
    "_contrib_box_nms": _box_nms,
}
ABSENT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("_contrib_MultiBoxTarget", "_contrib_box_encode"), _TRAINING),
    "_contrib_bipartite_matching": "ONNX has no matching of rows and columns",
}
