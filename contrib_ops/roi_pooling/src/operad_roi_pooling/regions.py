"""Regions of interest: rows of (image, left, top, right, bottom), read on the host.

Where a region lies decides what is read, so its five numbers are needed before anything is launched on a
device. Positions are computed in the type of the regions: they are rounded, and MXNet rounds there.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from operad_sdk import Array, ParamError, Shape

NOWHERE: Final = -1
"""Image number of a region that lies in no image; all its bins are 0."""


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


def check_pooled_size(prop: Any) -> None:
    """Raise ParamError unless `pooled_size` has two numbers."""
    if len(prop.pooled_size) != 2:
        raise ParamError(f"{prop.name}: pooled_size is {prop.pooled_size}, expected two numbers (h, w)")


def drawn_regions(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Regions for the contract checks: within the data, across its edge, and some in no image."""
    rows = rng.integers(-2, 12, shape) / 2
    rows[:, 3:] = rows[:, 1:3] + rng.integers(0, 12, rows[:, 3:].shape) / 2
    rows[:, 0] = rng.integers(0, shapes["data"][0] + 1, len(rows)) - (rng.random(len(rows)) < 0.25)
    return rows
