"""Definition of the operators, one box and one pair after the other, for the contract checks to compare."""

from __future__ import annotations

from math import floor

import numpy as np

from operad_sdk import Array

Box = list[float]


def _overlap(first: Box, second: Box) -> float:
    """Intersection over union, of boxes whose corners belong to them."""
    width = min(first[2], second[2]) - max(first[0], second[0]) + 1
    height = min(first[3], second[3]) - max(first[1], second[1]) + 1
    shared = max(width, 0) * max(height, 0)
    areas = [(box[2] - box[0] + 1) * (box[3] - box[1] + 1) for box in (first, second)]
    return shared / (sum(areas) - shared)


def proposals(
    cls_prob: Array,
    bbox_pred: Array,
    im_info: Array,
    rpn_pre_nms_top_n: int,
    rpn_post_nms_top_n: int,
    threshold: float,
    rpn_min_size: int,
    scales: tuple[float, ...],
    ratios: tuple[float, ...],
    feature_stride: int,
    iou_loss: bool,
) -> tuple[Array, Array]:
    """One image after the other."""
    output, scores = [], []
    shapes = []
    for ratio in ratios:
        width = floor(np.sqrt(feature_stride**2 // ratio) + 0.5)
        shapes += [(width * scale, floor(width * ratio + 0.5) * scale) for scale in scales]
    for image, (height, width, scale) in enumerate(im_info):
        rows: list[tuple[float, Box]] = []
        for i, j, n in np.ndindex(*cls_prob.shape[2:], len(shapes)):
            w, h = shapes[n]
            x, y = (place * feature_stride + (feature_stride - 1) / 2 for place in (j, i))
            dx, dy, dw, dh = bbox_pred[image, 4 * n : 4 * n + 4, i, j]
            if iou_loss:
                box = [x - (w - 1) / 2 + dx, y - (h - 1) / 2 + dy, x + (w - 1) / 2 + dw, y + (h - 1) / 2 + dh]
            else:
                x, y, w, h = x + dx * w, y + dy * h, np.exp(dw) * w, np.exp(dh) * h
                box = [x - (w - 1) / 2, y - (h - 1) / 2, x + (w - 1) / 2, y + (h - 1) / 2]
            box = [min(max(side, 0), (width, height)[k % 2] - 1) for k, side in enumerate(box)]
            score = cls_prob[image, len(shapes) + n, i, j]
            if i >= int(height / feature_stride) or j >= int(width / feature_stride):
                score = -1
            least = rpn_min_size * scale
            if box[2] - box[0] + 1 < least or box[3] - box[1] + 1 < least:
                box = [side + (-least / 2 if k < 2 else least / 2) for k, side in enumerate(box)]
                score = -1
            rows.append((score, box))
        rows.sort(key=lambda row: -row[0])
        stay: list[tuple[float, Box]] = []
        for row in rows[: rpn_pre_nms_top_n if rpn_pre_nms_top_n > 0 else None]:
            if len(stay) < rpn_post_nms_top_n and all(
                _overlap(row[1], other) <= threshold for _, other in stay
            ):
                stay.append(row)
        for number in range(rpn_post_nms_top_n):
            score, box = stay[number % len(stay)]
            output.append([image, *box])
            scores.append([score])
    return np.reshape(output, (-1, 5)), np.reshape(scores, (-1, 1))
