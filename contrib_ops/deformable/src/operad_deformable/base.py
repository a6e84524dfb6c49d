"""Base of the convolutions whose samples are moved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from operad_deformable.columns import Columns, Windows
from operad_sdk import (
    Array,
    Contract,
    Cost,
    InferredShapes,
    OpContext,
    OperatorProperty,
    ParamError,
    PartialShape,
    Real,
    Shape,
    ShapeError,
    blocked_sum,
    gradient,
    param,
)

_OUT: Final = "*((S + 2*pad - dilate*(kernel - 1) - 1)//stride + 1)"

PARAMS: Final = {
    "kernel": ((2, 2), (1, 3), (3, 1), (1, 1)),
    "stride": ((1, 1), (2, 1)),
    "dilate": ((1, 1), (1, 2)),
    "pad": ((0, 0), (1, 1)),
    "num_filter": (2, 4),
    "num_group": (1, 2),
    "num_deformable_group": (1, 2),
    "layout": (None, "NCHW"),
}


def shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Windows that fit, and channels that both kinds of groups divide."""
    size = tuple(
        max(1, dilate * (kernel - 1) + 1 - 2 * pad) + choose((1, 0, 2))
        for kernel, dilate, pad in zip(prop.kernel, prop.dilate, prop.pad, strict=True)
    )
    data = (choose((1, 2, 0)), 2 * choose((1, 2)), *size)
    arguments, _, _ = prop.infer_shape([data, *[None] * (len(prop.list_arguments()) - 1)])
    return [tuple(shape) for shape in arguments]


def contract(reference: Callable[..., Array]) -> Contract:
    """The contract of a convolution of moved samples."""
    return Contract(
        inputs={"offset": Real(-1.5, 1.5)},
        params=PARAMS,
        shapes=shapes,
        reference=reference,
        nan_policy="a sample that is moved nowhere is 0",
    )


class DeformableBase(OperatorProperty):
    """Base of both convolutions."""

    kernel = param("shape", ge=1, doc="Height and width of the window.")
    stride = param("shape", (), per="kernel", fill=1, ge=1, doc="Steps between windows.")
    dilate = param("shape", (), per="kernel", fill=1, ge=1, doc="Steps between elements of a window.")
    pad = param("shape", (), per="kernel", fill=0, ge=0, doc="Zeros before and after the data.")
    num_filter = param(int, ge=1, doc="Number of filters, the channels of the output.")
    num_group = param(int, 1, ge=1, doc="Groups of channels that are convolved apart.")
    num_deformable_group = param(int, 1, ge=1, doc="Groups of channels with offsets of their own.")
    workspace = param(int, 1024, ge=0, ignored="Memory is planned here.")
    no_bias = param(bool, False, doc="Leave the bias out.")

    spec = (
        f"data:(N, C, *S), offset:(N, 2*offsets, {_OUT}), mask:(N, offsets, {_OUT}) if is_modulated, "
        "weight:(num_filter, C//num_group, *kernel), bias:(num_filter) if not no_bias"
        f" -> output:(N, num_filter, {_OUT})"
    )
    accepts = "floating"
    compute_dtype = "float32"
    is_modulated: ClassVar[bool] = False

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.kernel) != 2:
            raise ParamError(f"{self.name}: kernel is {self.kernel}, expected two sizes (h, w)")
        if self.num_filter % self.num_group:
            raise ParamError(
                f"{self.name}: num_filter is {self.num_filter}, expected a multiple of num_group, "
                f"{self.num_group}"
            )

    @property
    def offsets(self) -> int:
        """Channels of the mask, half of those of the offsets."""
        return int(self.num_deformable_group * self.kernel[0] * self.kernel[1])

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; groups must be whole, and the window must fit."""
        data = in_shapes[0]
        channels = data[1] if data is not None and len(data) == 4 else None
        for name in ("num_group", "num_deformable_group"):
            if channels is not None and channels % getattr(self, name):
                raise ShapeError(
                    f"{self.name}: data has shape {data}, whose axis 1, channels, is {channels}; expected a "
                    f"multiple of {name}, {getattr(self, name)}"
                )
        found = super().infer_shape(in_shapes)
        (out,) = found[1]
        if out is not None and any(size is not None and size < 1 for size in out[2:]):
            raise ShapeError(
                f"{self.name}: the window of kernel {self.kernel} and dilate {self.dilate} does not fit into "
                f"data {data} with pad {self.pad}"
            )
        return found

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Samples of all windows, and their products with the filters."""
        images, channels, *_ = in_shapes[0]
        samples = images * channels * self.kernel[0] * self.kernel[1] * int(np.prod(out_shapes[0][2:]))
        return Cost(loops=40.0 * samples, flops=2.0 * samples * self.num_filter / self.num_group)

    @property
    def windows(self) -> Windows:
        """Places of windows before they are moved."""
        return Windows(
            self.kernel, self.stride, self.dilate, self.pad, self.num_deformable_group, self.is_modulated
        )

    def _columns(self, xp: Any, data: Array, offset: Array, mask: Array | None) -> Iterator[Columns]:
        for n in range(len(data)):
            yield Columns(xp, self.windows, data[n], offset[n], None if mask is None else mask[n])

    def _by_group(self, values: Array) -> Array:
        """A matrix for each group of channels: an element of the window and a channel per row."""
        return values.reshape(self.num_group, -1, values.shape[-1])

    def _filters(self, weight: Array) -> Array:
        return weight.reshape(self.num_group, self.num_filter // self.num_group, -1)

    def _matrices(self, columns: Columns) -> Array:
        """The columns by channel and element of the window, and then by group."""
        values = columns.values()
        return self._by_group(values.reshape(-1, int(np.prod(columns.out))))

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        offset: Array,
        mask: Array | None,
        weight: Array,
        bias: Array | None,
        output: Array,
    ) -> None:
        """Image by image."""
        filters = self._filters(weight)
        for n, columns in enumerate(self._columns(op_ctx.xp, data, offset, mask)):
            output[n] = np.matmul(filters, self._matrices(columns)).reshape(output.shape[1:])
        if bias is not None:
            output += bias[:, None, None]

    def _sent(self, weight: Array, head: Array, columns: Columns, channels: int) -> Array:
        """The gradient of the columns of one image."""
        heads = head.reshape(self.num_group, self.num_filter // self.num_group, -1)
        sent = np.matmul(self._filters(weight).swapaxes(1, 2), heads)
        return sent.reshape(self.num_deformable_group, channels // self.num_deformable_group, -1)

    def _sampled_gradients(
        self,
        columns_of_images: Iterator[Columns],
        output_grad: Array,
        weight: Array,
        wanted: frozenset[str],
        data_grad: Array,
        **targets: Array,
    ) -> None:
        """Gradients of what decides the columns."""
        if "data_grad" in wanted:
            data_grad[...] = 0
        for n, columns in enumerate(columns_of_images):
            sent = self._sent(weight, output_grad[n], columns, data_grad.shape[1])
            if "data_grad" in wanted:
                columns.spread(sent, data_grad[n])
            for name in targets.keys() & wanted:
                targets[name][n] = getattr(columns, name)(sent)

    def weight_grad(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        offset: Array,
        mask: Array | None,
        weight_grad: Array,
    ) -> None:
        """Products with the columns, summed over the images."""
        total = op_ctx.xp.zeros_like(self._filters(weight_grad))
        for n, columns in enumerate(self._columns(op_ctx.xp, data, offset, mask)):
            heads = output_grad[n].reshape(*total.shape[:2], -1)
            total += np.matmul(heads, self._matrices(columns).swapaxes(1, 2))
        weight_grad[...] = total.reshape(weight_grad.shape)

    @gradient(when=lambda prop: not prop.no_bias)
    def bias_grad(output_grad: Array) -> Array:
        """Sums over all windows."""
        return blocked_sum(output_grad, (0, 2, 3))
