"""`_contrib_DeformableConvolution` and `_contrib_ModulatedDeformableConvolution`."""

from __future__ import annotations

from operad_deformable import definitions
from operad_deformable.base import DeformableBase, contract
from operad_sdk import Array, OpContext, gradient, operator, param


@operator("_contrib_DeformableConvolution")
class DeformableConvolution(DeformableBase):
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
    contract = contract(definitions.deformable_convolution)

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
        columns = self._columns(op_ctx.xp, data, offset, None)
        self._sampled_gradients(columns, output_grad, weight, wanted, data_grad, offset_grad=offset_grad)


@operator("_contrib_ModulatedDeformableConvolution")
class ModulatedDeformableConvolution(DeformableBase):
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
    contract = contract(definitions.modulated_deformable_convolution)

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
        columns, targets = self._columns(op_ctx.xp, data, offset, mask), {"offset_grad": offset_grad}
        targets["mask_grad"] = mask_grad
        self._sampled_gradients(columns, output_grad, weight, wanted, data_grad, **targets)
