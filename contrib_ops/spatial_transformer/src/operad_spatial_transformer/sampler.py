"""`BilinearSampler`: an image at the points of a grid."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Real, ShapeError, operator, param
from operad_spatial_transformer.bilinear import grid_gradient, image_gradient, sample

CUDNN_OFF: Final[Any] = param(bool, None, ignored="operad does not use cuDNN.")


def interpolated(data: Array, grid: Array) -> Array:
    """Each output is a sum over all pixels, weighted with tents of width 1 around the point."""
    height, width = data.shape[2:]
    x, y = (grid[:, 0] + 1) * (width - 1) / 2, (grid[:, 1] + 1) * (height - 1) / 2
    tent_x = np.maximum(0, 1 - abs(x[..., None] - np.arange(width)))
    tent_y = np.maximum(0, 1 - abs(y[..., None] - np.arange(height)))
    return np.einsum("nchw,nijh,nijw->ncij", data, tent_y, tent_x)


class Sampled(OperatorProperty):
    """Base class of operators that take images between their pixels."""

    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 30

    def infer_shape(self, in_shapes: Any) -> Any:
        """Infer shapes from the shape line, where there is something to sample."""
        inferred = super().infer_shape(in_shapes)
        shape = inferred[0][0]
        if shape is not None and 0 in shape[2:]:
            raise ShapeError(
                f"{self.name}: data has shape {shape}, expected at least one pixel: height or width is 0"
            )
        return inferred


@operator("BilinearSampler")
class BilinearSampler(Sampled):
    """The image at the points of a grid, interpolated between pixels; beyond its edges it is 0.

    On a pixel the gradient of the grid is that towards larger coordinates.

    Shapes:
        data: (N, C, H, W).
        grid: (N, 2, height, width): x and y of each point, -1 and 1 being the middles of edge pixels.
        output: (N, C, height, width).

    Example:
        >>> import operad as od
        >>> image = od.nd.array([[[[1, 2], [3, 4]]]])
        >>> grid = od.nd.array([[[[-1, 0, 1]], [[-1, 0, 0]]]])
        >>> od.nd.BilinearSampler(image, grid).asnumpy()
        array([[[[1. , 2.5, 3. ]]]], dtype=float32)

    Source: BilinearSamplerForward, src/operator/bilinear_sampler.cc.
    """

    cudnn_off = CUDNN_OFF
    spec = "data:(N, C, H, W), grid:(N, 2, I, J) -> output:(N, C, I, J)"
    contract: ClassVar = Contract(
        reference=interpolated, inputs={"data": Real(-2.0, 2.0), "grid": Real(-1.5, 1.5)}
    )

    def forward(data: Array, grid: Array, output: Array) -> None:
        """Image by image."""
        for image, points, target in zip(data, grid, output, strict=True):
            sample(image, points, target)

    def data_grad(output_grad: Array, grid: Array, data_grad: Array) -> None:
        """The weights of the pixels."""
        for head, points, target in zip(output_grad, grid, data_grad, strict=True):
            image_gradient(head, points, target)

    def grid_grad(output_grad: Array, data: Array, grid: Array, grid_grad: Array) -> None:
        """The slopes of the weights, times the pixels."""
        for head, image, points, target in zip(output_grad, data, grid, grid_grad, strict=True):
            grid_gradient(head, image, points, target)
