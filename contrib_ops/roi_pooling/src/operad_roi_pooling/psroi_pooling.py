"""`_contrib_PSROIPooling`: the mean of each bin of a region, in channels of the bin's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, floor
from typing import Any

import numpy as np

from operad_roi_pooling.regions import NOWHERE, drawn_regions, regions
from operad_sdk import Array, Contract, Drawn, OperatorProperty, Shape, operator, param


def _rounded(values: Array) -> Array:
    """Halves away from zero."""
    return np.trunc(values + np.copysign(values.dtype.type(0.5), values))


def _reference(
    data: Array, rois: Array, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int
) -> Array:
    """One bin after the other."""
    groups = group_size or pooled_size
    images, _, height, width = data.shape
    output = np.zeros((len(rois), output_dim, pooled_size, pooled_size))
    for n, (image, *corners) in enumerate(rois):
        left, top, right, bottom = (np.trunc(c + np.copysign(0.5, c)) for c in corners)
        for c, i, j in np.ndindex(output.shape[1:]) if -1 < image < images else ():
            spans = []
            for low, high, number, size in ((top, bottom, i, height), (left, right, j, width)):
                start = low * spatial_scale
                length = max((high + 1) * spatial_scale - start, 0.1) / pooled_size
                ends = floor(number * length + start), ceil((number + 1) * length + start)
                spans.append(slice(*np.clip(ends, 0, size)))
            channel = (c * groups + i * groups // pooled_size) * groups + j * groups // pooled_size
            part = data[int(image), channel][tuple(spans)]
            output[n, c, i, j] = part.mean() if part.size else 0
    return output


def _shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    channels = prop.output_dim * prop.groups**2
    return [(choose((1, 2)), channels, choose((3, 5, 1, 4)), choose((3, 5, 1, 4))), (choose((2, 1, 3, 0)), 5)]


@operator("_contrib_PSROIPooling")
class PSROIPooling(OperatorProperty):
    """The mean of each bin of a region, which has channels of its own.

    Corners are rounded, halves away from zero, belong to the region, and are scaled; a region is a tenth
    of a pixel wide and high at least. It is divided into bins, rounded outwards. Bins are put together to
    `group_size` squared groups, and of data's channels `group_size` squared belong to each of the
    output's. A bin outside the data, or of a region in no image, is 0. Regions get no gradient. After Dai
    et al., "R-FCN: Object detection via region-based fully convolutional networks", 2016.

    Shapes:
        data: (N, output_dim * group_size^2, H, W).
        rois: (R, 5): number of the image, left, top, right, bottom.
        output: (R, output_dim, pooled_size, pooled_size).

    Example:
        >>> import operad as od
        >>> data = od.nd.arange(16).reshape((1, 4, 2, 2))
        >>> rois = od.nd.array([[0, 0, 0, 1, 1]])
        >>> options = {"spatial_scale": 1.0, "output_dim": 1, "pooled_size": 2}
        >>> od.nd.contrib.PSROIPooling(data, rois, **options).asnumpy()
        array([[[[ 0.,  5.],
                 [10., 15.]]]], dtype=float32)

    Source: PSROIPoolingParam, src/operator/contrib/psroi_pooling-inl.h. Differs: a region in no image is 0.
    """

    spatial_scale = param(float, ge=0, le=1, doc="Pixels of data per unit of the corners.")
    output_dim = param(int, ge=1, doc="Number of channels of the output.")
    pooled_size = param(int, ge=1, doc="Number of bins along each axis.")
    group_size = param(int, 0, ge=0, doc="Number of groups of bins along each axis; 0: as many as bins.")

    spec = (
        "data:(N, output_dim*groups*groups, H, W), rois:(R, 5) "
        "-> output:(R, output_dim, pooled_size, pooled_size)"
    )
    accepts = "floating"
    compute_dtype = "float32"
    contract = Contract(
        inputs={"rois": Drawn(drawn_regions)},
        params={
            "spatial_scale": (1.0, 0.5),
            "output_dim": (1, 2),
            "pooled_size": (2, 1, 3),
            "group_size": (0, 1, 2),
        },
        shapes=_shapes,
        reference=_reference,
    )

    @property
    def groups(self) -> int:
        """Number of groups along each axis."""
        return int(self.group_size or self.pooled_size)

    def forward(self, data: Array, rois: Array, output: Array) -> None:
        """The mean of each bin."""
        output[...] = 0
        for (n, i, j), image, group, part in self._bins(data.shape, rois):
            output[n, :, i, j] = self._grouped(data[image])[:, *group, *part].mean(axis=(1, 2))

    def data_grad(self, output_grad: Array, rois: Array, data_grad: Array) -> None:
        """`d output / d pixel` is one over the number of pixels in the bin."""
        data_grad[...] = 0
        for (n, i, j), image, group, part in self._bins(data_grad.shape, rois):
            target = self._grouped(data_grad[image])[:, *group, *part]
            target += (output_grad[n, :, i, j] / (target.shape[1] * target.shape[2]))[:, None, None]

    def _grouped(self, image: Array) -> Array:
        """The channels of an image by those of the output and by group."""
        return image.reshape(self.output_dim, self.groups, self.groups, *image.shape[1:])

    def _bins(self, shape: Shape, rois: Array) -> Iterator[tuple[tuple[int, int, int], int, Any, Any]]:
        """Each bin that has a pixel: its place in the output, its image, its group and its pixels."""
        where = regions(rois, shape[0], 1.0)
        rows = self._along(where.top, where.bottom, shape[2])
        columns = self._along(where.left, where.right, shape[3])
        for n, image in enumerate(where.image.tolist()):
            if image == NOWHERE:
                continue
            for i, j in np.ndindex(self.pooled_size, self.pooled_size):
                (top, bottom), (left, right) = rows[n][i], columns[n][j]
                if top < bottom and left < right:
                    group = (i * self.groups // self.pooled_size, j * self.groups // self.pooled_size)
                    yield (n, i, j), image, group, (slice(top, bottom), slice(left, right))

    def _along(self, low: Array, high: Array, size: int) -> list[list[tuple[int, int]]]:
        """First pixel of each bin, and the one after its last, along an axis; for each region."""
        scale = low.dtype.type(self.spatial_scale)
        start, end = _rounded(low) * scale, (_rounded(high) + 1) * scale
        length = (np.maximum(end - start, low.dtype.type(0.1)) / self.pooled_size)[:, None]
        number = np.arange(self.pooled_size, dtype=low.dtype)
        first = np.floor(number * length + start[:, None])
        last = np.ceil((number + 1) * length + start[:, None])
        ends = np.clip(np.stack([first, last], axis=-1), 0, size).astype(int)
        return [[tuple(pair) for pair in region] for region in ends.tolist()]
