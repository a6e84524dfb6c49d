"""`_contrib_ROIAlign`: the mean of interpolated samples in each bin of a region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil
from typing import Any

import numpy as np

from operad_roi_pooling.regions import NOWHERE, TRIED, SampledRegions, between_pixels, drawn_regions, regions
from operad_roi_pooling.samples import Samples, sampled, samples, spread
from operad_sdk import Array, Contract, Drawn, OpContext, Shape, operator, param


def _reference(
    data: Array,
    rois: Array,
    pooled_size: tuple[int, ...],
    spatial_scale: float,
    sample_ratio: int,
    position_sensitive: bool,
    aligned: bool,
) -> Array:
    """One sample after the other."""
    bins = pooled_size[0] * pooled_size[1] if position_sensitive else 1
    output = np.zeros((len(rois), data.shape[1] // bins, *pooled_size))
    for n, (image, *corners) in enumerate(rois):
        left, top, right, bottom = np.asarray(corners) * spatial_scale - (0.5 if aligned else 0)
        least = 0 if aligned else 1
        size = max(bottom - top, least), max(right - left, least)
        lengths = [extent / bins for extent, bins in zip(size, pooled_size, strict=True)]
        counts = [sample_ratio if sample_ratio > 0 else ceil(length) for length in lengths]
        for c, i, j in np.ndindex(output.shape[1:]) if -1 < image < len(data) else ():
            channel = (c * pooled_size[0] + i) * pooled_size[1] + j if position_sensitive else c
            values = [
                between_pixels(
                    data[int(image), channel],
                    top + (i + (u + 0.5) / counts[0]) * lengths[0],
                    left + (j + (v + 0.5) / counts[1]) * lengths[1],
                )
                for u, v in np.ndindex(*counts)
            ]
            output[n, c, i, j] = sum(values) / max(len(values), 1)
    return output


def _shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    bins = prop.pooled_size[0] * prop.pooled_size[1] if prop.position_sensitive else 1
    size = (choose((3, 5, 1, 4)), choose((3, 5, 1, 4)))
    return [(choose((1, 2)), bins * choose((1, 2, 1, 0)), *size), (choose((2, 1, 3, 0)), 5)]


@operator("_contrib_ROIAlign")
class ROIAlign(SampledRegions):
    """The mean of samples in each bin of a region, each interpolated between four pixels.

    Nothing is rounded. A region, one pixel wide and high at least, is divided into bins, and a bin into
    `sample_ratio` squared parts of which the centres are sampled. A sample up to one pixel outside the data
    has the value at the edge, one further away is 0. With `aligned`, corners are half a pixel less and
    regions may be smaller. A region in no image is 0. Regions get no gradient.

    Shapes:
        data: (N, C, H, W).
        rois: (R, 5): number of the image, left, top, right, bottom.
        output: (R, C, *pooled_size); with `position_sensitive` (R, C / bins, *pooled_size), where each bin
            has channels of its own.

    Example:
        >>> import operad as od
        >>> data = od.nd.arange(16).reshape((1, 1, 4, 4))
        >>> rois = od.nd.array([[0, 0, 0, 2, 2]])
        >>> od.nd._contrib_ROIAlign(data, rois, pooled_size=(1, 2), spatial_scale=1.0).asnumpy()
        array([[[[4.5, 5.5]]]], dtype=float32)

    Source: ROIAlignParam, src/operator/contrib/roi_align-inl.h. Differs: a region without area, with
    `aligned`, has no samples of its own and is 0; MXNet ends the process.
    """

    spatial_scale = param(float, ge=0, le=1, doc="Pixels of data per unit of the corners.")
    sample_ratio = param(int, -1, doc="Samples along each axis of a bin; not positive: one per pixel.")
    position_sensitive = param(bool, False, doc="Use separate channels for each bin.")
    aligned = param(bool, False, doc="Place pixels at the centres of unit squares.")

    contract = Contract(
        inputs={"rois": Drawn(drawn_regions)},
        params={**TRIED, "sample_ratio": (-1, 2, 1)},
        shapes=_shapes,
        reference=_reference,
    )

    @property
    def bins(self) -> int:
        """Number of channels of data per channel of the output."""
        return int(np.prod(self.pooled_size)) if self.position_sensitive else 1

    def spec(self) -> str:
        """One line of the shape language."""
        return f"data:(N, {self.bins}*C, H, W), rois:(R, 5) -> output:(R, C, *pooled_size)"

    def forward(self, op_ctx: OpContext, data: Array, rois: Array, output: Array) -> None:
        """Sample the rows of each bin, then the columns."""
        self.sample_by(sampled, op_ctx.xp, data, rois, output)

    def sample_by(
        self, sampled: Callable[..., Array], xp: Any, data: Array, rois: Array, output: Array
    ) -> None:
        """Fill `output` with what `sampled` gives for parts of regions.

        For kernels of other distributions, too.

        Args:
            sampled: Called with the arrays' module, pixels (channels, H, W), and the `Samples` of bins along
                rows and columns.
        """
        output[...] = 0
        for n, image, rows, columns in self._samples(data.shape, rois):
            for part, channels, of_rows, of_columns in self._parts(rows, columns):
                output[n][part] = sampled(xp, data[image][channels], of_rows, of_columns)

    def data_grad(self, op_ctx: OpContext, output_grad: Array, rois: Array, data_grad: Array) -> None:
        """`d output / d pixel` is the pixel's mean weight in the samples of a bin: rows' times columns'."""
        data_grad[...] = 0
        for n, image, rows, columns in self._samples(data_grad.shape, rois):
            for part, channels, of_rows, of_columns in self._parts(rows, columns):
                target = data_grad[image][channels]
                spread(op_ctx.xp, output_grad[n][part], of_rows, of_columns, target)

    def _samples(self, shape: Shape, rois: Array) -> Iterator[tuple[int, int, Samples, Samples]]:
        """Each region that lies in an image: its number, the image, and the samples along both axes."""
        where = regions(rois, shape[0], self.spatial_scale)
        for n, image in enumerate(where.image.tolist()):
            if image != NOWHERE:
                rows = self._along(where.top[n], where.bottom[n], self.pooled_size[0], shape[2])
                columns = self._along(where.left[n], where.right[n], self.pooled_size[1], shape[3])
                yield n, image, rows, columns

    def _along(self, start: Any, end: Any, bins: int, size: int) -> Samples:
        """The samples of a region between `start` and `end`."""
        extent = end - start if self.aligned else max(end - start, end.dtype.type(1))
        shift = end.dtype.type(0.5 if self.aligned else 0)
        return samples(start - shift, extent, bins, self.sample_ratio, size)

    def _parts(self, rows: Samples, columns: Samples) -> Iterator[tuple[Any, slice, Samples, Samples]]:
        """Parts that are pooled alike: bins of the output, their channels of data, and the samples."""
        if not self.position_sensitive:
            yield ..., slice(None), rows, columns
            return
        for n, (i, j) in enumerate(np.ndindex(*self.pooled_size)):
            part = (slice(None), slice(i, i + 1), slice(j, j + 1))
            yield part, slice(n, None, self.bins), rows.bin(i), columns.bin(j)
