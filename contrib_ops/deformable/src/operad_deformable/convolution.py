"""`_contrib_DeformableConvolution` and `_contrib_ModulatedDeformableConvolution`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from operad_deformable import definitions
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
    gradient,
    operator,
    param,
)

_OUT: Final = "*((S + 2*pad - dilate*(kernel - 1) - 1)//stride + 1)"
_WEIGHTS: Final = "weight:(num_filter, C//num_group, *kernel), bias:(num_filter) if not no_bias"

_PARAMS: Final = {
    "kernel": ((2, 2), (1, 3), (3, 1), (1, 1)),
    "stride": ((1, 1), (2, 1)),
    "dilate": ((1, 1), (1, 2)),
    "pad": ((0, 0), (1, 1)),
    "num_filter": (2, 4),
    "num_group": (1, 2),
    "num_deformable_group": (1, 2),
    "layout": (None, "NCHW"),
}


def _shapes(prop: Any, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """Windows that fit, and channels that both kinds of groups divide."""
    size = tuple(
        max(1, dilate * (kernel - 1) + 1 - 2 * pad) + choose((1, 0, 2))
        for kernel, dilate, pad in zip(prop.kernel, prop.dilate, prop.pad, strict=True)
    )
    data = (choose((1, 2, 0)), 2 * choose((1, 2)), *size)
    arguments, _, _ = prop.infer_shape([data, *[None] * (len(prop.list_arguments()) - 1)])
    return [tuple(shape) for shape in arguments]


def _has_bias(prop: Any) -> bool:
    return not prop.no_bias


class _Deformable(OperatorProperty):
    """Common part of both convolutions."""

    kernel = param("shape", ge=1, doc="Height and width of the window.")
    stride = param("shape", (), per="kernel", fill=1, ge=1, doc="Steps between windows.")
    dilate = param("shape", (), per="kernel", fill=1, ge=1, doc="Steps between elements of a window.")
    pad = param("shape", (), per="kernel", fill=0, ge=0, doc="Zeros before and after the data.")
    num_filter = param(int, ge=1, doc="Number of filters, the channels of the output.")
    num_group = param(int, 1, ge=1, doc="Groups of channels that are convolved apart.")
    num_deformable_group = param(int, 1, ge=1, doc="Groups of channels with offsets of their own.")
    workspace = param(int, 1024, ge=0, ignored="Memory is planned here.")
    no_bias = param(bool, False, doc="Leave the bias out.")

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

    def _convolve(
        self,
        xp: Any,
        data: Array,
        offset: Array,
        mask: Array | None,
        weight: Array,
        bias: Array | None,
        output: Array,
    ) -> None:
        filters = self._filters(weight)
        for n, columns in enumerate(self._columns(xp, data, offset, mask)):
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
        xp: Any,
        output_grad: Array,
        data: Array,
        offset: Array,
        mask: Array | None,
        weight: Array,
        targets: dict[str, Array],
    ) -> None:
        """Gradients of what decides the columns: `targets` by argument, those that are wanted."""
        if "data" in targets:
            targets["data"][...] = 0
        for n, columns in enumerate(self._columns(xp, data, offset, mask)):
            sent = self._sent(weight, output_grad[n], columns, data.shape[1])
            if "data" in targets:
                columns.spread(sent, targets["data"][n])
            if "offset" in targets:
                targets["offset"][n] = columns.offset_grad(sent)
            if "mask" in targets:
                targets["mask"][n] = columns.mask_grad(sent)

    def _weight_gradient(
        self, xp: Any, output_grad: Array, data: Array, offset: Array, mask: Array | None, weight_grad: Array
    ) -> None:
        total = xp.zeros_like(self._filters(weight_grad))
        for n, columns in enumerate(self._columns(xp, data, offset, mask)):
            heads = output_grad[n].reshape(*total.shape[:2], -1)
            total += np.matmul(heads, self._matrices(columns).swapaxes(1, 2))
        weight_grad[...] = total.reshape(weight_grad.shape)


@operator("_contrib_DeformableConvolution")
class DeformableConvolution(_Deformable):
    """A convolution of images, each element of whose windows is sampled where an offset moves it.

    Between pixels the data are interpolated. A sample before the first row or column, or a pixel and more
    behind the last, is 0; in between it is at the last. After Dai et al., "Deformable
    convolutional networks", 2017.

    Shapes:
        data: (N, C, H, W).
        offset: (N, 2 num_deformable_group kernel elements, height, width): y and x of each element.
        weight: (num_filter, C / num_group, *kernel).
        bias: (num_filter,), unless `no_bias`.
        output: (N, num_filter, height, width), as of `Convolution`.

    Example:
        >>> import operad as od
        >>> data, weight = od.nd.array([[[[1, 2, 4]]]]), od.nd.ones((1, 1, 1, 1))
        >>> offset = od.nd.array([[[[0, 0, 0]], [[0.5, -1, 0]]]])
        >>> options = {"kernel": (1, 1), "num_filter": 1, "no_bias": True}
        >>> od.nd.contrib.DeformableConvolution(data, offset, weight, **options).asnumpy()
        array([[[[1.5, 1. , 4. ]]]], dtype=float32)

    Source: DeformableConvolutionOp, src/operator/contrib/deformable_convolution-inl.h.
    """

    layout = param(str, None, choices=("NCHW",), doc="Order of the axes; channels come first.")
    spec = f"data:(N, C, *S), offset:(N, 2*offsets, {_OUT}), {_WEIGHTS} -> output:(N, num_filter, {_OUT})"
    contract = Contract(
        inputs={"offset": Real(-1.5, 1.5)},
        params=_PARAMS,
        shapes=_shapes,
        reference=definitions.deformable_convolution,
        nan_policy="a sample that is moved nowhere is 0",
    )

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        offset: Array,
        weight: Array,
        bias: Array | None,
        output: Array,
    ) -> None:
        """Image by image."""
        self._convolve(op_ctx.xp, data, offset, None, weight, bias, output)

    @gradient("data", "offset")
    def sampled_gradients(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        offset: Array,
        weight: Array,
        data_grad: Array,
        offset_grad: Array,
        wanted: frozenset[str],
    ) -> None:
        """Through the columns: pixels get what their weights say, offsets what weights' slopes do."""
        targets = {"data": data_grad, "offset": offset_grad}
        asked = {name: target for name, target in targets.items() if f"{name}_grad" in wanted}
        self._sampled_gradients(op_ctx.xp, output_grad, data, offset, None, weight, asked)

    def weight_grad(
        self, op_ctx: OpContext, output_grad: Array, data: Array, offset: Array, weight_grad: Array
    ) -> None:
        """Products with the columns, summed over the images."""
        self._weight_gradient(op_ctx.xp, output_grad, data, offset, None, weight_grad)

    @gradient(when=_has_bias)
    def bias_grad(output_grad: Array) -> Array:
        """Sums over all windows."""
        return output_grad.sum(axis=(0, 2, 3))


@operator("_contrib_ModulatedDeformableConvolution")
class ModulatedDeformableConvolution(_Deformable):
    """A `_contrib_DeformableConvolution` whose samples are multiplied with a mask each.

    Zeros lie around the data, between which and the edge is interpolated. After Zhu et al., "Deformable
    ConvNets v2: More deformable, better results", 2018.

    Shapes:
        data: (N, C, H, W).
        offset: (N, 2 num_deformable_group kernel elements, height, width): y and x of each element.
        mask: (N, num_deformable_group kernel elements, height, width).
        weight: (num_filter, C / num_group, *kernel).
        bias: (num_filter,), unless `no_bias`.
        output: (N, num_filter, height, width), as of `Convolution`.

    Example:
        >>> import operad as od
        >>> data, weight = od.nd.array([[[[1, 2, 4]]]]), od.nd.ones((1, 1, 1, 1))
        >>> offset, mask = od.nd.zeros((1, 2, 1, 3)), od.nd.array([[[[1, 0.5, 0]]]])
        >>> options = {"kernel": (1, 1), "num_filter": 1, "no_bias": True}
        >>> od.nd.contrib.ModulatedDeformableConvolution(data, offset, mask, weight, **options).asnumpy()
        array([[[[1., 1., 0.]]]], dtype=float32)

    Source: ModulatedDeformableConvolutionOp, src/operator/contrib/modulated_deformable_convolution-inl.h.
    """

    im2col_step = param(int, 64, ge=1, ignored="One image is unrolled at a time.")
    layout = param(str, None, choices=("NCHW",), doc="Order of the axes; channels come first.")
    is_modulated = True
    spec = (
        f"data:(N, C, *S), offset:(N, 2*offsets, {_OUT}), mask:(N, offsets, {_OUT}), {_WEIGHTS}"
        f" -> output:(N, num_filter, {_OUT})"
    )
    contract = Contract(
        inputs={"offset": Real(-1.5, 1.5)},
        params=_PARAMS,
        shapes=_shapes,
        reference=definitions.modulated_deformable_convolution,
        nan_policy="a sample that is moved nowhere is 0",
    )

    def forward(
        self,
        op_ctx: OpContext,
        data: Array,
        offset: Array,
        mask: Array,
        weight: Array,
        bias: Array | None,
        output: Array,
    ) -> None:
        """Image by image."""
        self._convolve(op_ctx.xp, data, offset, mask, weight, bias, output)

    @gradient("data", "offset", "mask")
    def sampled_gradients(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        offset: Array,
        mask: Array,
        weight: Array,
        data_grad: Array,
        offset_grad: Array,
        mask_grad: Array,
        wanted: frozenset[str],
    ) -> None:
        """As of `_contrib_DeformableConvolution`; the mask gets the samples."""
        targets = {"data": data_grad, "offset": offset_grad, "mask": mask_grad}
        asked = {name: target for name, target in targets.items() if f"{name}_grad" in wanted}
        self._sampled_gradients(op_ctx.xp, output_grad, data, offset, mask, weight, asked)

    def weight_grad(
        self,
        op_ctx: OpContext,
        output_grad: Array,
        data: Array,
        offset: Array,
        mask: Array,
        weight_grad: Array,
    ) -> None:
        """Products with the columns, summed over the images."""
        self._weight_gradient(op_ctx.xp, output_grad, data, offset, mask, weight_grad)

    @gradient(when=_has_bias)
    def bias_grad(output_grad: Array) -> Array:
        """Sums over all windows."""
        return output_grad.sum(axis=(0, 2, 3))
