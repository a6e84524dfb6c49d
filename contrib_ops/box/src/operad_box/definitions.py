"""Definitions of the operators, one box and one pair after the other, for the contract checks to compare.

Boxes are four numbers, and nothing is shared with the operators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log, sqrt

import numpy as np

from operad_sdk import Array

Box = Sequence[float]
Floats = tuple[float, ...]


def overlap(first: Box, second: Box) -> float:
    """Intersection over union of corners; 0 without a union."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(width, 0) * max(height, 0)
    union = sum(max(box[2] - box[0], 0) * max(box[3] - box[1], 0) for box in (first, second)) - shared
    return shared / union if union > 0 else 0


def corner(box: Box, box_format: str) -> Box:
    """The corners of a box."""
    if box_format == "corner":
        return box
    x, y, width, height = box
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def center(box: Box, box_format: str) -> Box:
    """The centre and size of a box."""
    if box_format == "center":
        return box
    left, top, right, bottom = box
    return (left + right) / 2, (top + bottom) / 2, right - left, bottom - top


def box_iou(lhs: Array, rhs: Array, format: str) -> Array:
    """Every pair."""
    output = np.empty((*lhs.shape[:-1], *rhs.shape[:-1]))
    for i in np.ndindex(lhs.shape[:-1]):
        for j in np.ndindex(rhs.shape[:-1]):
            output[(*i, *j)] = overlap(corner(lhs[i], format), corner(rhs[j], format))
    return output


def greedy(count: int, suppresses: Callable[[int, int], bool]) -> list[int]:
    """Numbers of the boxes that stay, out of `count`, best first: none that stays suppresses another."""
    stay: list[int] = []
    for n in range(count):
        if not any(suppresses(m, n) for m in stay):
            stay.append(n)
    return stay


def box_nms(
    data: Array,
    overlap_thresh: float,
    valid_thresh: float,
    topk: int,
    coord_start: int,
    score_index: int,
    id_index: int,
    background_id: int,
    force_suppress: bool,
    in_format: str,
    out_format: str,
) -> tuple[Array, Array]:
    """One image after the other."""
    position = slice(coord_start, coord_start + 4)
    output, index = np.full(data.shape, -1.0), np.full(data.shape[:-1], -1)
    for image in np.ndindex(data.shape[:-2]):
        rows = data[image]
        valid = [n for n, row in enumerate(rows) if row[score_index] > valid_thresh]
        if id_index >= 0:
            valid = [n for n in valid if rows[n, id_index] != background_id]
        best = sorted(valid, key=lambda n, rows=rows: -rows[n, score_index])[: topk if topk > 0 else None]  # type: ignore[misc]
        boxes = [corner(rows[n, position], in_format) for n in best]
        classes = [0 if id_index < 0 or force_suppress else int(rows[n, id_index]) for n in best]

        def suppresses(m: int, n: int, classes: list[int] = classes, boxes: list[Box] = boxes) -> bool:
            return classes[m] == classes[n] and overlap(boxes[m], boxes[n]) > overlap_thresh

        for k, n in enumerate(greedy(len(best), suppresses)):
            index[image][k] = best[n]
            output[image][k] = rows[best[n]]
            output[image][k, position] = (corner if out_format == "corner" else center)(
                rows[best[n], position], in_format
            )
    return output, index


def prior(data: Array, sizes: Floats, ratios: Floats, clip: bool, steps: Floats, offsets: Floats) -> Array:
    """One anchor after the other."""
    height, width = data.shape[2:]
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    found = []
    for row, column in np.ndindex(height, width):
        y = (row + offsets[0]) * (steps[0] if steps[0] > 0 else 1 / height)
        x = (column + offsets[1]) * (steps[1] if steps[1] > 0 else 1 / width)
        for size, ratio in shapes:
            box = x, y, size * height / width * sqrt(ratio), size / sqrt(ratio)
            found.append(corner(box, "center"))
    anchors = np.reshape(np.asarray(found, "float64"), (1, -1, 4))
    return np.clip(anchors, 0, 1) if clip else anchors


def target(
    anchor: Array,
    label: Array,
    cls_pred: Array,
    overlap_threshold: float,
    ignore_label: float,
    negative_mining_ratio: float,
    negative_mining_thresh: float,
    variances: Floats,
) -> tuple[Array, Array, Array]:
    """One image, one true box and one anchor after the other."""
    images, anchors = len(label), anchor.shape[1]
    location, mask = np.zeros((images, anchors, 4)), np.zeros((images, anchors, 4))
    classes = np.full((images, anchors), ignore_label)
    for image, rows in enumerate(label):
        count = next((n for n, row in enumerate(rows) if row[0] == -1), len(rows))
        if count == 0 or anchors == 0:
            continue
        table = [[overlap(box, row[1:5]) for row in rows[:count]] for box in anchor[0]]
        match = matches(table, overlap_threshold)
        chosen = [n for n in range(anchors) if n not in match]
        if negative_mining_ratio > 0:
            weights = np.exp(cls_pred[image])
            chosen = [n for n in chosen if max(table[n]) < negative_mining_thresh]
            chosen.sort(key=lambda n, weights=weights: weights[0, n] / weights[:, n].sum())  # type: ignore[misc]
            chosen = chosen[: int(len(match) * negative_mining_ratio)]
        classes[image, chosen] = 0
        for n, truth in match.items():
            mask[image, n] = 1
            classes[image, n] = rows[truth, 0] + 1
            (x, y, width, height), box = center(anchor[0, n], "corner"), center(rows[truth, 1:5], "corner")
            offset = (box[0] - x) / width, (box[1] - y) / height, log(box[2] / width), log(box[3] / height)
            location[image, n] = np.divide(offset, variances)
    return location.reshape(images, -1), mask.reshape(images, -1), classes


def matches(table: list[list[float]], threshold: float) -> dict[int, int]:
    """The true box of each anchor that has one."""
    pairs = sorted((-value, n, m) for n, row in enumerate(table) for m, value in enumerate(row))
    match: dict[int, int] = {}
    for value, n, m in pairs:
        if -value > 1e-6 and n not in match and m not in match.values():
            match[n] = m
    if threshold > 0:
        for n, row in enumerate(table):
            if n not in match and max(row) > threshold:
                match[n] = row.index(max(row))
    return match


def detection(
    cls_prob: Array,
    loc_pred: Array,
    anchor: Array,
    clip: bool,
    threshold: float,
    nms_threshold: float,
    force_suppress: bool,
    variances: Floats,
    nms_topk: int,
) -> Array:
    """One anchor after the other, then one pair after the other."""
    output = np.full((len(cls_prob), anchor.shape[1], 6), -1.0)
    for image, (probabilities, offsets) in enumerate(zip(cls_prob[:, 1:], loc_pred, strict=True)):
        rows: list[list[float]] = []
        for n, values in enumerate(probabilities.T):
            score = max(values, default=-1)
            if score > -1 and score >= threshold:
                (x, y, width, height), (dx, dy, dw, dh) = (
                    center(anchor[0, n], "corner"),
                    offsets[4 * n : 4 * n + 4] * variances,
                )
                box = corner((x + dx * width, y + dy * height, width * exp(dw), height * exp(dh)), "center")
                rows.append([list(values).index(score), score, *(np.clip(box, 0, 1) if clip else box)])
        if 0 < nms_threshold <= 1:
            best = sorted(rows, key=lambda row: -row[1])[: nms_topk if nms_topk > 0 else None]

            def suppresses(m: int, n: int, best: list[list[float]] = best) -> bool:
                same = force_suppress or best[m][0] == best[n][0]
                return same and overlap(best[m][2:], best[n][2:]) >= nms_threshold

            stay = greedy(len(best), suppresses)
            rows = best + rows[len(best) :]
            rows = [[row[0] if n in stay else -1, *row[1:]] for n, row in enumerate(rows)]
        output[image, : len(rows)] = np.reshape(rows, (-1, 6))
    return output


def bipartite_matching(data: Array, is_ascend: bool, threshold: float, topk: int) -> tuple[Array, Array]:
    """One table after the other: its best pair, without its row and column the next best, and so on."""
    sign = -1 if is_ascend else 1
    rows, columns = np.full(data.shape[:-1], -1.0), np.full((*data.shape[:-2], data.shape[-1]), -1.0)
    for table in np.ndindex(data.shape[:-2]):
        scores = sign * data[table]
        pairs = [pair for pair in np.ndindex(scores.shape) if scores[pair] > sign * threshold]
        for _ in range(topk if topk > 0 else scores.size):
            if not pairs:
                break
            row, column = best = max(pairs, key=lambda pair, scores=scores: scores[pair])  # type: ignore[misc]
            rows[(*table, row)], columns[(*table, column)] = column, row
            pairs = [pair for pair in pairs if pair[0] != best[0] and pair[1] != best[1]]
    return rows, columns


def box_encode(
    samples: Array, matches: Array, anchors: Array, refs: Array, means: Array, stds: Array
) -> tuple[Array, Array]:
    """One anchor after the other."""
    targets, masks = np.zeros(anchors.shape), np.zeros(anchors.shape)
    for image, n in np.ndindex(samples.shape):
        if samples[image, n] > 0.5:
            x, y, width, height = center(anchors[image, n], "corner")
            box = center(refs[image, int(matches[image, n])], "corner")
            offset = (box[0] - x) / width, (box[1] - y) / height, log(box[2] / width), log(box[3] / height)
            targets[image, n] = (np.asarray(offset) - means) / stds
            masks[image, n] = 1
    return targets, masks


def box_decode(
    data: Array, anchors: Array, std0: float, std1: float, std2: float, std3: float, clip: float, format: str
) -> Array:
    """One anchor after the other."""
    output = np.empty(data.shape)
    for image, n in np.ndindex(data.shape[:2]):
        x, y, width, height = center(anchors[0, n], format)
        dx, dy, dw, dh = data[image, n] * (std0, std1, std2, std3)
        if clip > 0:
            dw, dh = min(dw, clip), min(dh, clip)
        box = x + dx * width, y + dy * height, np.exp(dw) * width, np.exp(dh) * height
        output[image, n] = corner(box, "center")
    return output
