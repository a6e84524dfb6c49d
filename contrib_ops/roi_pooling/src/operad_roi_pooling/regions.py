"""Regions of interest: rows of (image, left, top, right, bottom), read on the host.

Where a region lies decides what is read, so its five numbers are needed before anything is launched on a
device. Positions are computed in the type of the regions: they are rounded, and MXNet rounds there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from operad_sdk import (
    Array,
    InferredShapes,
    OperatorProperty,
    ParamError,
    PartialShape,
    Shape,
    ShapeError,
    param,
)

NOWHERE: Final = -1
"""Image number of a region that lies in no image; all its bins are 0."""
TRIED: Final = {"pooled_size": ((2, 2), (1, 2), (3, 1)), "spatial_scale": (1.0, 0.5)}
"""Parameters that checks try."""


class Regions(NamedTuple):
    """Images, and the ends of each region along x and y: arrays of one number per region."""

    image: Array
    left: Array
    top: Array
    right: Array
    bottom: Array


def regions(rois: Array, images: int, scale: float) -> Regions:
    """Regions in pixels of data.

    Numbers of images are rounded towards zero. A region with NaN or infinity lies nowhere.
    """
    rows = np.asarray(rois.tolist(), rois.dtype).reshape(-1, 5)
    is_somewhere = np.isfinite(rows).all(axis=1) & (rows[:, 0] > -1) & (rows[:, 0] < images)
    rows[~is_somewhere] = 0
    image = np.where(is_somewhere, rows[:, 0].astype(np.intp), NOWHERE)
    return Regions(image, *(rows[:, 1:] * rows.dtype.type(scale)).T)


class PooledRegions(OperatorProperty):
    """Regions of images that become so many bins each."""

    pooled_size = param("shape", ge=1, doc="Number of bins, (h, w).")
    accepts = "floating"
    compute_dtype = "float32"

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.pooled_size) != 2:
            raise ParamError(f"{self.name}: pooled_size is {self.pooled_size}, expected two numbers (h, w)")


class SampledRegions(PooledRegions):
    """Bins that are means of samples between pixels."""

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; a sample needs a pixel."""
        data = in_shapes[0]
        if data is not None and 0 in data[2:]:
            raise ShapeError(f"{self.name}: data has shape {data}, expected at least one pixel")
        return super().infer_shape(in_shapes)


def between_pixels(plane: Array, y: float, x: float) -> float:
    """Definition of a sample: the plane between its pixels; 0 more than a pixel outside."""
    height, width = plane.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return 0.0
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    tents = (np.maximum(0, 1 - abs(at - np.arange(n))) for at, n in ((y, height), (x, width)))
    return float(np.einsum("hw,h,w->", plane, *tents))


def drawn_regions(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Regions for the contract checks: within the data, across its edge, and some in no image."""
    rows = rng.integers(-2, 12, shape) / 2
    rows[:, 3:] = rows[:, 1:3] + rng.integers(0, 12, rows[:, 3:].shape) / 2
    rows[:, 0] = rng.integers(0, shapes["data"][0] + 1, len(rows)) - (rng.random(len(rows)) < 0.25)
    return rows
