"""Common parts of `Convolution` and its transpose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad_convolution.geometry import Geometry
from operad_sdk import (
    Array,
    OperatorProperty,
    ParamError,
    PartialShape,
    ResourceRequest,
    Shape,
    ShapeError,
    blocked_sum,
    param,
)


class Layer(OperatorProperty):
    """Parameters, types and scratch memory of layers with filters."""

    kernel = param("shape", ge=1, doc="Size of the filters: (w,), (h, w) or (d, h, w).")
    stride = param(
        "shape", (), ge=1, per="kernel", fill=1, doc="Distance of neighbouring windows; left out: 1."
    )
    dilate = param(
        "shape", (), ge=1, per="kernel", fill=1, doc="Distance of a window's elements; left out: 1."
    )
    pad = param("shape", (), ge=0, per="kernel", fill=0, doc="Zeros on either side; left out: none.")
    num_filter = param(int, ge=1, doc="Channels of the output.")
    num_group = param(int, 1, ge=1, doc="Parts of the channels that are treated apart.")
    workspace = param(int, 1024, ge=0, ignored="MXNet's limit of scratch memory in MB.")
    no_bias = param(bool, False, doc="Leave the bias out.")
    cudnn_tune = param(
        str,
        None,
        choices=("fastest", "limited_workspace", "off"),
        ignored="operad does not use cuDNN.",
    )
    cudnn_off = param(bool, False, ignored="operad does not use cuDNN.")
    layout = param(
        str,
        None,
        choices=("NCW", "NCHW", "NCDHW", "NHWC", "NDHWC"),
        doc="Order of the axes; channels come first.",
    )

    accepts = "floating"
    compute_dtype = "float32"
    resource = ResourceRequest.TEMP_SPACE  # for what is unrolled

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        axes = len(self.kernel)
        if not 1 <= axes <= 3:
            raise ParamError(f"{self.name}: kernel is {self.kernel}, expected one to three sizes")
        if self.layout is not None and len(self.layout) != axes + 2:
            raise ParamError(
                f"{self.name}: layout is {self.layout!r}, but kernel {self.kernel} has {axes} axes"
            )
        if self.layout is not None and self.layout.endswith("C"):
            raise ParamError(
                f"{self.name}: layout is {self.layout!r}, which MXNet has on a GPU alone; expected channels "
                "first, as transpose brings them"
            )

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

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """As in the forward pass."""
        return [ResourceRequest.TEMP_SPACE]

    def bias_grad(output_grad: Array, bias_grad: Array) -> None:
        """`d/d bias[f] = sum of output_grad[n, f, o]` over all n and o."""
        blocked_sum(output_grad, (0, *range(2, output_grad.ndim)), out=bias_grad)

    def geometry(self, images: Shape, out: Shape, pad: Shape) -> Geometry:
        """The correlation that maps `images` to `out`."""
        return Geometry.of(images, out, self.kernel, self.stride, self.dilate, pad, self.num_group)
