"""`GridGenerator`: where each pixel of an output is sampled from.

A grid holds x and y of each output pixel in the coordinates of the input image, whose edges are at -1 and
1 whatever its size.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, ParamError, Shape, gradient, operator, param

TARGET: Final[Any] = param("shape", (0, 0), ge=0, doc="Height and width of the output.")


def coordinates(xp: Any, length: int, dtype: Any) -> Array:
    """Positions of the pixels of an axis, from -1 to 1; the middle, 0, where there is only one."""
    if length == 1:
        return xp.zeros(1, dtype)
    return xp.arange(length).astype(dtype) * 2 / xp.asarray(length - 1, dtype) - 1


def affine_base(xp: Any, shape: Shape, dtype: Any) -> Array:
    """The matrix of (x, y, 1) of all pixels, one column each."""
    height, width = shape
    x, y = coordinates(xp, width, dtype), coordinates(xp, height, dtype)
    return xp.stack([xp.tile(x, height), xp.repeat(y, width), xp.ones(height * width, dtype)])


def affine_grid(xp: Any, theta: Array, shape: Shape) -> Array:
    """`theta (x, y, 1)` for each of the matrices `theta`, which have 2 rows and 3 columns."""
    base = affine_base(xp, shape, theta.dtype)
    return np.matmul(theta.reshape(len(theta), 2, 3), base).reshape(len(theta), 2, *shape)


def affine_gradient(grid_grad: Array, base: Array) -> Array:
    """`d/d theta`: the outer products of the gradient with (x, y, 1), summed over the pixels in double."""
    pixels = grid_grad.reshape(len(grid_grad), 2, base.shape[1])
    return np.matmul(pixels.astype(np.float64), base.T).reshape(len(grid_grad), 6)


def check_target(operator: str, target_shape: Shape) -> None:
    """Refuse an output without a size."""
    if len(target_shape) != 2 or min(target_shape) < 1:
        raise ParamError(
            f"{operator}: parameter 'target_shape' is {target_shape!r}, expected height and width of the "
            "output, both at least 1"
        )


def _reference(data: Array, transform_type: str, target_shape: Shape) -> Array:
    """Pixel by pixel."""
    height, width = target_shape if transform_type == "affine" else data.shape[2:]
    grid = np.empty((len(data), 2, height, width))
    for y, x in np.ndindex(height, width):
        if transform_type == "affine":
            position = [2 * i / (n - 1) - 1 if n > 1 else 0 for i, n in ((x, width), (y, height))]
            grid[:, :, y, x] = data.reshape(-1, 2, 3) @ [*position, 1]
        else:
            half = np.array([width - 1 or 1, height - 1 or 1]) / 2
            grid[:, :, y, x] = (data[:, :, y, x] + [x, y]) / half - [width > 1, height > 1]
    return grid


@operator("GridGenerator")
class GridGenerator(OperatorProperty):
    """A grid for `BilinearSampler`: an affine map of the output's pixels, or a flow of the input's.

    With `transform_type='affine'` the data are six numbers for each image, the rows of a matrix that maps
    (x, y, 1). With `'warp'` they are how far each pixel moves, in pixels; `target_shape` then says nothing.
    Along an axis of one pixel that pixel is in the middle, at 0.

    Shapes:
        data: With `'affine'` (N, 6), with `'warp'` (N, 2, H, W).
        output: With `'affine'` (N, 2, *target_shape), with `'warp'` as data. First x, then y.

    Example:
        >>> import operad as od
        >>> theta = od.nd.array([[1, 0, 0.5, 0, 1, 0]])  # half the image to the right
        >>> od.nd.GridGenerator(theta, transform_type="affine", target_shape=(2, 2)).asnumpy()[0]
        array([[[-0.5,  1.5],
                [-0.5,  1.5]],
        <BLANKLINE>
               [[-1. , -1. ],
                [ 1. ,  1. ]]], dtype=float32)

    Source: GridGeneratorOp, src/operator/grid_generator-inl.h. Differs: an axis of one pixel has no NaN.
    """

    transform_type = param(str, choices=("affine", "warp"), doc="Meaning of the data.")
    target_shape = TARGET
    spec = (
        "data:(N, 6) if transform_type == 'affine', data:(N, 2, H, W) if transform_type == 'warp'"
        " -> output:(N, 2, *target_shape) if transform_type == 'affine',"
        " output:(N, 2, H, W) if transform_type == 'warp'"
    )
    accepts = "floating"
    compute_dtype = "float32"
    inplace = "data -> output"
    contract: ClassVar = Contract(
        reference=_reference,
        params={"target_shape": ((2, 3), (3, 2), (1, 1))},
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.transform_type == "affine":
            check_target(self.name, self.target_shape)

    def forward(op_ctx: Any, data: Array, transform_type: str, target_shape: Shape, output: Array) -> None:
        """Map the pixels, or move them."""
        if transform_type == "affine":
            output[...] = affine_grid(op_ctx.xp, data, target_shape)
            return
        for axis, length in enumerate(data.shape[:1:-1]):
            position = op_ctx.xp.arange(length, dtype=data.dtype).reshape(-1, *[1] * axis)
            half = op_ctx.xp.asarray(max(length - 1, 1) / 2, data.dtype)
            output[:, axis] = (data[:, axis] + position) / half - (length > 1)

    @gradient
    def data_grad(
        op_ctx: Any, output_grad: Array, transform_type: str, target_shape: Shape, data_grad: Array
    ) -> None:
        """`d output / d data`: (x, y, 1); of a flow `2 / (length - 1)`."""
        if transform_type == "affine":
            base = affine_base(op_ctx.xp, target_shape, output_grad.dtype)
            data_grad[...] = affine_gradient(output_grad, base)
            return
        for axis, length in enumerate(output_grad.shape[:1:-1]):
            half = op_ctx.xp.asarray(max(length - 1, 1) / 2, output_grad.dtype)
            np.divide(output_grad[:, axis], half, out=data_grad[:, axis])
