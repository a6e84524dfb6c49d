"""`_contrib_DeformablePSROIPooling`: the mean of moved samples in each bin of a region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from operad_deformable import definitions
from operad_deformable.points import Corner, Place, corners, weighted
from operad_sdk import (
    Array,
    Contract,
    Drawn,
    InferredShapes,
    OpContext,
    OperatorProperty,
    PartialShape,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)


class Region(NamedTuple):
    """A region in pixels of data: where it starts, and how long it is, along both axes."""

    image: int
    start: tuple[float, float]
    length: tuple[float, float]


class Samples(NamedTuple):
    """The samples of a region: (output channels, bins, bins, samples, samples).

    Attributes:
        plane: Channel of data, and groups of bins: indices in front of a pixel's.
        corners: The pixels around each.
        share: What each counts in its bin's mean.
        is_free: Whether a sample lies within the data along both axes, and moves with its bin: (y, x).
        counts: Samples of each bin.
    """

    plane: tuple[Array, Array, Array]
    corners: list[Corner]
    share: Array
    is_free: tuple[Array, Array]
    counts: Array


def _drawn(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Regions within the data and across its edge, and some in no image."""
    rows = rng.integers(-2, 12, shape) / 2
    rows[:, 3:] = rows[:, 1:3] + rng.integers(0, 12, rows[:, 3:].shape) / 2
    rows[:, 0] = rng.integers(0, shapes["data"][0] + 1, len(rows)) - (rng.random(len(rows)) < 0.25)
    return rows


def _shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    size = (choose((3, 5, 1, 4)), choose((3, 5, 1, 4)))
    data, rois = (choose((1, 2)), prop.output_dim * prop.group_size**2, *size), (choose((2, 1, 3, 0)), 5)
    classes = choose((1, prop.output_dim))
    return [data, rois] if prop.no_trans else [data, rois, (rois[0], 2 * classes, prop.parts, prop.parts)]


def _rounded(value: float) -> float:
    """Halves away from zero."""
    return float(np.trunc(value + np.copysign(0.5, value)))


@operator("_contrib_DeformablePSROIPooling")
class DeformablePSROIPooling(OperatorProperty):
    """The mean of samples in each bin of a region, which are moved, in channels of the bin's own.

    Corners are rounded, halves away from zero, belong to the region, and are scaled; pixels are at the
    centres of unit squares. The region is divided into bins, and a bin into `sample_per_part` squared
    samples, which move by `trans`, in sizes of the region times `trans_std`. A sample more than half a pixel
    outside the data does not count, and one less far is moved to the edge. A region in no image is 0.
    Regions get no gradient. After Dai et al., "Deformable convolutional networks", 2017.

    Shapes:
        data: (N, output_dim * group_size^2, H, W).
        rois: (R, 5): number of the image, left, top, right, bottom.
        trans: (R, 2 classes, part_size, part_size), x and y of each class of channels; without `no_trans`.
        output: (R, output_dim, pooled_size, pooled_size).
        top_count (hidden): As output, how many samples of a bin count.

    Example:
        >>> import operad as od
        >>> data, rois = od.nd.arange(16).reshape((1, 1, 4, 4)), od.nd.array([[0, 0, 0, 3, 3]])
        >>> options = {"spatial_scale": 1.0, "output_dim": 1, "group_size": 1, "pooled_size": 2}
        >>> od.nd.contrib.DeformablePSROIPooling(
        ...     data, rois, sample_per_part=2, no_trans=True, **options
        ... ).asnumpy()
        array([[[[ 1.25,  3.  ],
                 [ 8.25, 10.  ]]]], dtype=float32)

    Source: DeformablePSROIPoolingParam, src/operator/contrib/deformable_psroi_pooling-inl.h.
    """

    spatial_scale = param(float, ge=0, le=1, doc="Pixels of data per unit of the corners.")
    output_dim = param(int, ge=1, doc="Number of channels of the output.")
    group_size = param(int, ge=1, doc="Number of groups of bins along each axis.")
    pooled_size = param(int, ge=1, doc="Number of bins along each axis.")
    part_size = param(int, 0, ge=0, doc="Number of offsets along each axis; 0: as many as bins.")
    sample_per_part = param(int, 1, ge=1, doc="Samples along each axis of a bin.")
    trans_std = param(float, 0.0, ge=0, le=1, doc="Factor of the offsets.")
    no_trans = param(bool, False, doc="Use no offsets.")

    spec = (
        "data:(N, output_dim*group_size*group_size, H, W), rois:(R, 5), "
        "trans:(R, 2*classes, parts, parts) if not no_trans "
        "-> output:(R, output_dim, pooled_size, pooled_size), "
        "hidden top_count:(R, output_dim, pooled_size, pooled_size)"
    )
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 100
    contract = Contract(
        inputs={"rois": Drawn(_drawn)},
        params={
            "spatial_scale": (1.0, 0.5),
            "output_dim": (2, 1),
            "group_size": (1, 2),
            "pooled_size": (2, 1, 3),
            "part_size": (0, 1, 2),
            "sample_per_part": (1, 2),
            "trans_std": (0.125, 0.0),
        },
        shapes=_shapes,
        reference=definitions.deformable_psroi_pooling,
        nan_policy="a sample that is moved nowhere does not count",
    )

    @property
    def parts(self) -> int:
        """Number of moves along each axis."""
        return int(self.part_size or self.pooled_size)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; classes share channels, and a sample needs a pixel."""
        inferred = super().infer_shape(in_shapes)
        data = inferred[0][0]
        if data is not None and 0 in data[2:]:
            raise ShapeError(f"{self.name}: data has shape {data}, expected at least one pixel")
        trans = None if self.no_trans else inferred[0][2]
        channels = trans[1] if trans is not None else None
        if channels is not None and (channels == 0 or self.output_dim % (channels // 2)):
            raise ShapeError(
                f"{self.name}: trans has shape {trans}, whose axis 1 is {channels}, expected twice a "
                f"divisor of output_dim, {self.output_dim}"
            )
        return inferred

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        rois: Array,
        trans: Array | None,
        output: Array,
        top_count: Array,
    ) -> None:
        """The samples of each region, and their means."""
        output[...] = 0
        top_count[...] = 0
        for n, region, samples in self._samples(op_ctx.xp, data.shape, rois, trans):
            image = self._grouped(data[region.image])
            found: Any = sum(
                weighted(image[(*samples.plane, corner.row, corner.column)], corner.weight)
                for corner in samples.corners
            )
            output[n] = (found * samples.share).sum(axis=(3, 4))
            top_count[n] = samples.counts

    def data_grad(
        self, op_ctx: OpContext, output_grad: Array, rois: Array, trans: Array | None, data_grad: Array
    ) -> None:
        """Pixels get their weights in the means."""
        data_grad[...] = 0
        for n, region, samples in self._samples(op_ctx.xp, data_grad.shape, rois, trans):
            sent = output_grad[n][..., None, None] * samples.share
            target = self._grouped(data_grad[region.image])
            for corner in samples.corners:
                index = (*samples.plane, corner.row, corner.column)
                op_ctx.xp.add.at(target, index, sent * corner.weight)

    @gradient(when=lambda prop: not prop.no_trans)
    def trans_grad(
        self, op_ctx: OpContext, output_grad: Array, data: Array, rois: Array, trans: Array, trans_grad: Array
    ) -> None:
        """Moves get the slopes of the weights, in sizes of the region."""
        trans_grad[...] = 0
        for n, region, samples in self._samples(op_ctx.xp, data.shape, rois, trans):
            sent = output_grad[n][..., None, None] * samples.share
            image = self._grouped(data[region.image])
            self._move(op_ctx.xp, sent, image, region, samples, trans_grad[n])

    def _move(
        self, xp: Any, sent: Array, image: Array, region: Region, samples: Samples, trans_grad: Array
    ) -> None:
        """Add the gradient of a region's moves."""
        for number, axis, slope in ((0, 1, "slope_x"), (1, 0, "slope_y")):
            moved: Any = sum(
                weighted(image[(*samples.plane, corner.row, corner.column)], getattr(corner, slope))
                for corner in samples.corners
            )
            moved = np.where(samples.is_free[axis], moved, 0)
            sums = (sent * moved).sum(axis=(3, 4)) * (self.trans_std * region.length[axis])
            kinds, part = self._parts(xp, trans_grad.shape[0] // 2)
            xp.add.at(trans_grad, (2 * kinds + number, *part), sums)

    def _grouped(self, image: Array) -> Array:
        """The channels of an image by those of the output and by group."""
        return image.reshape(self.output_dim, self.group_size, self.group_size, *image.shape[1:])

    def _bins(self, xp: Any) -> tuple[Array, Array, Array]:
        """Indices of output channels and bins, which broadcast."""
        bins = xp.arange(self.pooled_size)
        return xp.arange(self.output_dim)[:, None, None], bins[:, None], bins[None, :]

    def _parts(self, xp: Any, classes: int) -> tuple[Array, tuple[Array, Array]]:
        """The class of each output channel, and the part of each bin."""
        channel, i, j = self._bins(xp)
        kinds = channel // (self.output_dim // classes)
        return kinds, (i * self.parts // self.pooled_size, j * self.parts // self.pooled_size)

    def _samples(
        self, xp: Any, shape: Shape, rois: Array, trans: Array | None
    ) -> Iterator[tuple[int, Region, Samples]]:
        """The samples of each region that lies in an image, whose numbers are read on the host."""
        for n, (image, *sides) in enumerate(rois.tolist()):
            if -1 < image < shape[0] and np.isfinite(sides).all():
                left, top, right, bottom = (_rounded(side) * self.spatial_scale - 0.5 for side in sides)
                lengths = (
                    max(bottom + self.spatial_scale - top, 0.1),
                    max(right + self.spatial_scale - left, 0.1),
                )
                region = Region(int(image), (top, left), lengths)
                yield n, region, self._within(xp, shape, region, None if trans is None else trans[n])

    def _within(self, xp: Any, shape: Shape, region: Region, trans: Array | None) -> Samples:
        channel, i, j = self._bins(xp)
        steps = xp.arange(self.sample_per_part)
        groups = (at * self.group_size // self.pooled_size for at in (i, j))
        if trans is not None:
            kinds, part = self._parts(xp, trans.shape[0] // 2)
        places = []
        for axis, (bin, step) in enumerate(((i, steps[:, None]), (j, steps[None, :]))):
            length = region.length[axis] / self.pooled_size
            at = region.start[axis] + bin[..., None, None] * length + step * (length / self.sample_per_part)
            if trans is not None:
                move = trans[(2 * kinds + 1 - axis, *part)] * (self.trans_std * region.length[axis])
                at = at + move[..., None, None]
            places.append(at)
        whole = (self.output_dim, *[self.pooled_size] * 2, *[self.sample_per_part] * 2)
        y, x = (xp.broadcast_to(at, whole) for at in places)
        height, width = shape[2:]
        is_inside = (y >= -0.5) & (y <= height - 0.5) & (x >= -0.5) & (x <= width - 0.5)
        counts = is_inside.sum(axis=(3, 4))
        edge_y, edge_x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
        place_y, place_x = (Place(np.floor(at), at - np.floor(at)) for at in (edge_y, edge_x))
        plane = (at[..., None, None] for at in (channel, *groups))
        return Samples(
            tuple(plane),
            corners(place_y, place_x, (height, width), is_inside),
            1 / np.maximum(counts, 1)[..., None, None],
            (edge_y == y, edge_x == x),
            counts,
        )
