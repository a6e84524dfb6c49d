"""What `Convolution` and its transpose have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.errors import DTypeError, ParamError, ShapeError
from operad.operator import InferredTypes, PartialShape
from operad_convolution.correlate import scratch_size
from operad_convolution.geometry import Geometry, with_three_axes
from operad_sdk import Array, OpContext, OperatorProperty, Output, ResourceRequest, Shape, param


class Layer(OperatorProperty):
    """Parameters, types and scratch memory of layers with filters."""

    kernel = param("shape", ge=1, doc="Size of the filters: (w,), (h, w) or (d, h, w).")
    stride = param("shape", (), ge=1, doc="Distance of neighbouring windows; left out: 1.")
    dilate = param("shape", (), ge=1, doc="Distance of a window's elements; left out: 1.")
    pad = param("shape", (), ge=0, doc="Zeros on either side; left out: none.")
    num_filter = param(int, ge=1, doc="Channels of the output.")
    num_group = param(int, 1, ge=1, doc="Parts of the channels that are treated apart.")
    workspace = param(int, 1024, ge=0, doc="MXNet's limit of scratch memory in MB; unused.")
    cudnn_tune = param(str, None, choices=("fastest", "limited_workspace", "off"), doc="Unused.")
    cudnn_off = param(bool, False, doc="Unused.")
    layout = param(str, None, choices=("NCW", "NCHW", "NCDHW"), doc="Order of the axes.")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        axes = len(self.kernel)
        if not 1 <= axes <= 3:
            raise ParamError(f"{self.name}: kernel is {self.kernel}, expected one to three sizes")
        if self.layout is not None and len(self.layout) != axes + 2:
            raise ParamError(
                f"{self.name}: layout is {self.layout!r}, but kernel {self.kernel} has {axes} axes"
            )
        self.fill_in("stride", 1)
        self.fill_in("dilate", 1)
        self.fill_in("pad", 0)

    def fill_in(self, name: str, missing: int) -> None:
        """Give a parameter that was left out one element for each axis of the kernel.

        Raises:
            ParamError: It has another number of elements.
        """
        axes = len(self.kernel)
        given = getattr(self, name) or (missing,) * axes
        if len(given) != axes:
            raise ParamError(
                f"{self.name}: {name} is {given}, expected {axes} elements as in kernel {self.kernel}"
            )
        setattr(self, name, given)

    def check_channels(self, data: PartialShape) -> None:
        """Refuse groups that are not whole.

        Raises:
            ShapeError: With the number of groups.
        """
        if self.num_filter % self.num_group:
            raise ShapeError(
                f"{self.name}: num_filter is {self.num_filter}, expected a multiple of num_group, "
                f"{self.num_group}"
            )
        channels = data[1] if data is not None and len(data) > 1 else None
        if channels is not None and channels % self.num_group:
            raise ShapeError(
                f"{self.name}: data has shape {data}, whose axis 1, channels, is {channels}; "
                f"expected a multiple of num_group, {self.num_group}"
            )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A floating type throughout."""
        for name, dtype in zip(self.list_arguments(), in_types, strict=True):
            if dtype is not None and dtype.kind != "f":
                raise DTypeError(
                    f"{self.name}: {name} is {dtype}, expected a floating type; cast with astype"
                )
        return super().infer_type(in_types)

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Scratch memory for what is unrolled."""
        return [ResourceRequest.TEMP_SPACE]

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """As in the forward pass."""
        return [ResourceRequest.TEMP_SPACE]

    def geometry(self, images: Shape, out: Shape, pad: Shape) -> Geometry:
        """The correlation that maps `images` to `out`."""
        return Geometry.of(images, out, self.kernel, self.stride, self.dilate, pad, self.num_group)


def widened(array: Array) -> Array:
    """`array`, in single precision if it is half, which BLAS lacks."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def scratch_for(op_ctx: OpContext, geometry: Geometry, dtype: DType) -> Array:
    """Scratch memory for one pass: (threads, elements)."""
    return op_ctx.requested[0].get_space((op_ctx.num_threads, scratch_size(geometry)), dtype)


def write(xp: Any, output: Output, function: Callable[[Array], None]) -> None:
    """Have `function` fill `output`, seen with three spatial axes, in at least single precision."""
    if output.dtype == np.float16:
        wide = xp.empty(output.shape, np.float32)
        function(with_three_axes(wide))
        output.assign(wide)
        return
    with output.writing() as out:
        function(with_three_axes(out))


def sum_over_positions(ograd: Array) -> Array:
    """The gradient of a bias."""
    return widened(ograd).sum((0, *range(2, ograd.ndim)))
