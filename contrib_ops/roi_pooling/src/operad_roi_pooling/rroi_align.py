"""`_contrib_RROIAlign`: the mean of interpolated samples in each bin of a region that is turned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, cos, pi, sin
from typing import Any

import numpy as np

from operad_roi_pooling.regions import TRIED, SampledRegions, between_pixels
from operad_sdk import Array, Contract, Drawn, OpContext, Shape, operator, param


def _reference(
    data: Array, rois: Array, pooled_size: Shape, spatial_scale: float, sampling_ratio: int
) -> Array:
    """One sample after the other."""
    output = np.zeros((len(rois), data.shape[1], *pooled_size))
    for n, (image, x, y, width, height, angle) in enumerate(rois):
        sides = max(height * spatial_scale, 1), max(width * spatial_scale, 1)
        counts = [
            sampling_ratio if sampling_ratio > 0 else ceil(side / bins)
            for side, bins in zip(sides, pooled_size, strict=True)
        ]
        turn = angle * pi / 180
        for c, i, j in np.ndindex(output.shape[1:]) if -1 < image < len(data) else ():
            total = 0.0
            for u, v in np.ndindex(*counts):
                down = ((i + (u + 0.5) / counts[0]) / pooled_size[0] - 0.5) * sides[0]
                across = ((j + (v + 0.5) / counts[1]) / pooled_size[1] - 0.5) * sides[1]
                total += between_pixels(
                    data[int(image), c],
                    down * cos(turn) - across * sin(turn) + y * spatial_scale,
                    across * cos(turn) + down * sin(turn) + x * spatial_scale,
                )
            output[n, c, i, j] = total / (counts[0] * counts[1])
    return output


def _drawn(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Regions within the data and across its edge, and some in no image."""
    rows = rng.integers(0, 10, shape) / 2
    rows[:, 0] = rng.integers(0, shapes["data"][0] + 1, len(rows)) - (rng.random(len(rows)) < 0.25)
    rows[:, 5] = rng.integers(-6, 7, len(rows)) * 15
    return rows


def _shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    size = (choose((3, 5, 1, 4)), choose((3, 5, 1, 4)))
    return [(choose((1, 2)), choose((1, 2, 0)), *size), (choose((2, 1, 3, 0)), 6)]


@operator("_contrib_RROIAlign")
class RROIAlign(SampledRegions):
    """The mean of samples in each bin of a region that is turned; there is no gradient.

    A region, one pixel wide and high at least, is divided into bins, and a bin into `sampling_ratio` squared
    parts, of which the centres are sampled, each interpolated between four pixels. A sample up to one pixel
    outside the data has the value at the edge, one further away is 0. A region in no image is 0.

    Shapes:
        data: (N, C, H, W).
        rois: (R, 6): number of the image, x and y of the centre, width, height, and the angle in degrees
            by which it is turned against the clock.
        output: (R, C, *pooled_size).

    Example:
        >>> import operad as od
        >>> data = od.nd.arange(9).reshape((1, 1, 3, 3))
        >>> rois = od.nd.array([[0, 1, 1, 2, 2, 0], [0, 1, 1, 2, 2, 90]])
        >>> od.nd.contrib.RROIAlign(data, rois, (1, 2), 1.0, 1).asnumpy()
        array([[[[3.5, 4.5]]],
        <BLANKLINE>
        <BLANKLINE>
               [[[5.5, 2.5]]]], dtype=float32)

    Source: RROIAlignParam, src/operator/contrib/rroi_align-inl.h.
    """

    spatial_scale = param(float, ge=0, le=1, doc="Pixels of data per unit of the region.")
    sampling_ratio = param(int, -1, doc="Samples along each axis of a bin; not positive: one per pixel.")

    spec = "data:(N, C, H, W), rois:(R, 6) -> output:(R, C, *pooled_size)"
    element_cost = 100
    contract = Contract(
        inputs={"rois": Drawn(_drawn)},
        params={**TRIED, "sampling_ratio": (-1, 2, 1)},
        shapes=_shapes,
        reference=_reference,
        no_numeric_gradient="MXNet has the forward pass alone",
    )

    def forward(self, op_ctx: OpContext, data: Array, rois: Array, output: Array) -> None:
        """One region after the other, whose numbers are read on the host."""
        output[...] = 0
        for n, (image, *region) in enumerate(rois.tolist()):
            if -1 < image < len(data) and np.isfinite(region).all():
                y, x = (op_ctx.xp.asarray(at, data.dtype) for at in self._samples(*region))
                output[n] = _sampled(data[int(image)], y, x).mean(axis=(3, 4))

    def _samples(self, x: float, y: float, width: float, height: float, angle: float) -> tuple[Array, Array]:
        """Rows and columns of all samples: (*pooled_size, samples along y, samples along x)."""
        sides = max(height * self.spatial_scale, 1.0), max(width * self.spatial_scale, 1.0)
        down, across = (self._along(side, bins) for side, bins in zip(sides, self.pooled_size, strict=True))
        down, across = down[:, None, :, None], across[None, :, None, :]
        turn = angle * pi / 180
        return (
            down * cos(turn) - across * sin(turn) + y * self.spatial_scale,
            across * cos(turn) + down * sin(turn) + x * self.spatial_scale,
        )

    def _along(self, side: float, bins: int) -> Array:
        """Distances of the samples from the centre along one axis: (bins, samples)."""
        count = self.sampling_ratio if self.sampling_ratio > 0 else ceil(side / bins)
        part = (np.arange(bins)[:, None] + (np.arange(count) + 0.5) / count) / bins
        return (part - 0.5) * side


def _sampled(image: Array, y: Array, x: Array) -> Array:
    """The image (C, H, W) at points: (C, ...)."""
    height, width = image.shape[1:]
    is_inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    row, column = np.floor(y), np.floor(x)
    found: Any = 0
    for r, by_row in ((row, 1 - (y - row)), (np.minimum(row + 1, height - 1), y - row)):
        for c, by_column in ((column, 1 - (x - column)), (np.minimum(column + 1, width - 1), x - column)):
            weight = np.where(is_inside, by_row * by_column, 0)
            pixel = image[:, r.astype(np.intp), c.astype(np.intp)]
            found = found + np.where(weight == 0, 0, pixel * weight)
    return found
