"""`SpatialTransformer`: an image under an affine map."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from operad_sdk import Array, Contract, Real, Shape, operator, param
from operad_spatial_transformer.bilinear import grid_gradient, image_gradient, sample
from operad_spatial_transformer.grid import TARGET, affine_base, affine_gradient, affine_grid, check_target
from operad_spatial_transformer.sampler import CUDNN_OFF, Sampled, interpolated


def _reference(data: Array, loc: Array, target_shape: Shape) -> Array:
    """The pixels' positions under the map, and the image there."""
    axes = [np.linspace(-1, 1, length) if length > 1 else np.zeros(1) for length in target_shape]
    y, x = np.meshgrid(*axes, indexing="ij")
    homogeneous = np.stack([x, y, np.ones_like(x)])
    return interpolated(data, np.einsum("nac,cij->naij", loc.reshape(-1, 2, 3), homogeneous))


@operator("SpatialTransformer")
class SpatialTransformer(Sampled):
    """The image under an affine map: `BilinearSampler` of the data with `GridGenerator` of `loc`.

    After Jaderberg et al., "Spatial transformer networks", 2015.

    Shapes:
        data: (N, C, H, W).
        loc: (N, 6): the rows of a matrix that maps (x, y, 1) of the output to x and y of the data.
        output: (N, C, *target_shape).
        grid: (N, 2, *target_shape), hidden: where each output pixel comes from.

    Example:
        >>> import operad as od
        >>> image = od.nd.array([[[[1, 2], [3, 4]]]])
        >>> mirrored = od.nd.array([[-1, 0, 0, 0, 1, 0]])
        >>> options = {"transform_type": "affine", "sampler_type": "bilinear"}
        >>> od.nd.SpatialTransformer(image, mirrored, target_shape=(2, 2), **options).asnumpy()
        array([[[[2., 1.],
                 [4., 3.]]]], dtype=float32)

    Source: SpatialTransformerOp, src/operator/spatial_transformer-inl.h.
    """

    target_shape = TARGET
    transform_type = param(str, choices=("affine",), doc="Meaning of `loc`.")
    sampler_type = param(str, choices=("bilinear",), doc="Interpolation between pixels.")
    cudnn_off = CUDNN_OFF
    spec = "data:(N, C, H, W), loc:(N, 6) -> output:(N, C, *target_shape), hidden grid:(N, 2, *target_shape)"
    contract: ClassVar = Contract(
        reference=_reference,
        inputs={"data": Real(-2.0, 2.0), "loc": Real(-2.0, 2.0)},
        params={"target_shape": ((2, 3), (3, 2), (4, 4), (1, 1))},
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        check_target(self.name, self.target_shape)

    def forward(
        op_ctx: Any, data: Array, loc: Array, target_shape: Shape, output: Array, grid: Array
    ) -> None:
        """The grid, and the images there."""
        grid[...] = affine_grid(op_ctx.xp, loc, target_shape)
        for image, points, target in zip(data, grid, output, strict=True):
            sample(image, points, target)

    def data_grad(op_ctx: Any, output_grad: Array, loc: Array, target_shape: Shape, data_grad: Array) -> None:
        """Gradient of the data, as of `BilinearSampler`."""
        grid = affine_grid(op_ctx.xp, loc, target_shape)
        for head, points, target in zip(output_grad, grid, data_grad, strict=True):
            image_gradient(head, points, target)

    def loc_grad(op_ctx: Any, output_grad: Array, data: Array, loc: Array, target_shape: Shape) -> Array:
        """`d/d loc`: through the grid, whose gradient is that of `BilinearSampler`."""
        grid = affine_grid(op_ctx.xp, loc, target_shape)
        grid_grad = np.empty_like(grid)
        for head, image, points, target in zip(output_grad, data, grid, grid_grad, strict=True):
            grid_gradient(head, image, points, target)
        return affine_gradient(grid_grad, affine_base(op_ctx.xp, target_shape, grid.dtype))
