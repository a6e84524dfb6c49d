"""Boxes, scores and classes that the contract checks try the operators on."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, Drawn, Shape


def boxes(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Corners on a grid of eighths, so that many boxes overlap; as centres and sizes they do too."""
    first = rng.integers(0, 8, (*shape[:-1], 2)) / 8
    return np.concatenate([first, first + rng.integers(1, 9, first.shape) / 8], -1)


def boxes_and_points(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Boxes, some of which have no area."""
    data = boxes(rng, shape, prop, shapes)
    return np.where(rng.random((*shape[:-1], 1)) < 0.25, np.concatenate([data[..., :2]] * 2, -1), data)


BOXES_AND_POINTS: Final = Drawn(boxes_and_points)


def detections(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Rows of class, score and box, wherever the parameters have them; no two scores are equal."""
    data = rng.integers(0, 16, shape) / 4
    count = shape[-2]
    start = prop.coord_start
    data[..., start : start + 4] = boxes(rng, (*shape[:-1], 4), prop, shapes)
    data[..., prop.score_index] = rng.permuted(np.arange(data[..., 0].size)).reshape(shape[:-1]) / 16 + 1 / 32
    if prop.id_index >= 0:
        data[..., prop.id_index] = rng.integers(-1, 3, (*shape[:-2], count))
    return data


DETECTIONS: Final = Drawn(detections, is_real=True)


def anchors(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Boxes of the unit square and its surroundings."""
    return boxes(rng, shape, prop, shapes) / 2


def truths(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Rows of class and box, some of which end an image's boxes."""
    data = rng.integers(0, 8, shape) / 4
    data[..., 0] = rng.integers(-1, 4, shape[:-1])
    data[..., 1:5] = anchors(rng, (*shape[:-1], 4), prop, shapes)
    return data


def samples(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Anchors with a true box (1), of the background (-1), and others (0); no 1 where there are no boxes."""
    signs = rng.integers(-1, 2, shape)
    return signs if shapes["refs"][1] else np.minimum(signs, 0)


def matched(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Numbers of true boxes."""
    return rng.integers(0, max(1, shapes["refs"][1]), shape)
