"""`ROIPooling`: the maximum of each bin of a region."""

from __future__ import annotations

import numpy as np

from operad_roi_pooling.bins import bins, pool
from operad_roi_pooling.regions import NOWHERE, TRIED, PooledRegions, Regions, drawn_regions, regions
from operad_sdk import Array, Contract, Distinct, Drawn, OpContext, gradient, operator, param


def _reference(
    data: Array, rois: Array, pooled_size: tuple[int, ...], spatial_scale: float
) -> tuple[Array, Array]:
    """One bin after the other."""
    images, channels, height, width = data.shape
    output = np.zeros((len(rois), channels, *pooled_size))
    maxidx = np.full(output.shape, -1)
    for n, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (np.trunc(c * spatial_scale + np.copysign(0.5, c)) for c in corners)
        rows, columns = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for c, i, j in np.ndindex(output.shape[1:]):
            first = max(int(top + i * rows // pooled_size[0]), 0)
            last = min(int(top - -(i + 1) * rows // pooled_size[0]), height)
            start = max(int(left + j * columns // pooled_size[1]), 0)
            stop = min(int(left - -(j + 1) * columns // pooled_size[1]), width)
            if first < last and start < stop and -1 < image < images:
                part = data[int(image), c, first:last, start:stop]
                row, column = np.unravel_index(part.argmax(), part.shape)
                output[n, c, i, j] = part.max()
                maxidx[n, c, i, j] = (first + row) * width + start + column
    return output, maxidx


@operator("ROIPooling")
class ROIPooling(PooledRegions):
    """The maximum of each bin of a region; its gradient goes to the first of equal elements.

    Corners are scaled and rounded, halves away from zero, and belong to the region, which is one pixel
    wide and high at least. It is divided into bins of equal size, rounded outwards. A bin outside the
    data, or of a region in no image, is 0. Regions get no gradient.

    Shapes:
        data: (N, C, H, W).
        rois: (R, 5): number of the image, left, top, right, bottom.
        output: (R, C, *pooled_size).

    Example:
        >>> import operad as od
        >>> data = od.nd.arange(16).reshape((1, 1, 4, 4))
        >>> rois = od.nd.array([[0, 0, 0, 3, 1]])
        >>> od.nd.ROIPooling(data, rois, pooled_size=(1, 2), spatial_scale=1.0).asnumpy()
        array([[[[5., 7.]]]], dtype=float32)

    Source: ROIPoolingParam, src/operator/roi_pooling-inl.h. Differs: NaN and negative infinity are passed
    on; the hidden output holds integers.
    """

    spatial_scale = param(float, ge=0, le=1, doc="Pixels of data per unit of the corners.")

    spec = (
        "data:(N, C, H, W), rois:(R, 5) "
        "-> output:(R, C, *pooled_size), hidden maxidx:int64(R, C, *pooled_size)"
    )
    contract = Contract(
        inputs={"data": Distinct(), "rois": Drawn(drawn_regions)},
        params=TRIED,
        reference=_reference,
    )

    def forward(self, op_ctx: OpContext, data: Array, rois: Array, output: Array, maxidx: Array) -> None:
        """Find the bins, then the maximum of each."""
        where, rows, columns = self.begin(data, rois, output, maxidx)
        for n, image in enumerate(where.image.tolist()):
            if image != NOWHERE:
                pool(op_ctx.xp, data[image], rows[n], columns[n], output[n], maxidx[n])

    def begin(self, data: Array, rois: Array, output: Array, maxidx: Array) -> tuple[Regions, Array, Array]:
        """The regions, and where their bins start and stop along both axes; empty the outputs.

        For kernels of other distributions, too.
        """
        where = regions(rois, len(data), self.spatial_scale)
        output[...] = 0
        maxidx[...] = -1
        rows = bins(where.top, where.bottom, output.shape[2], data.shape[2])
        return where, rows, bins(where.left, where.right, output.shape[3], data.shape[3])

    @gradient(accumulate=True)
    def data_grad(
        self, op_ctx: OpContext, output_grad: Array, maxidx: Array, rois: Array, data_grad: Array
    ) -> None:
        """`dy/dx = 1` for the largest element of each bin, else 0; added in the order of the bins."""
        xp, width = op_ctx.xp, data_grad.shape[3]
        region, channel, *_ = found = xp.nonzero(maxidx >= 0)
        image, position = rois[region, 0].astype(np.intp), maxidx[found]
        xp.add.at(data_grad, (image, channel, position // width, position % width), output_grad[found])
