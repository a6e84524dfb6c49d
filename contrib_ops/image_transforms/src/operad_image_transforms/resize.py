"""`_image_resize`: an image of another size."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_image_transforms.interpolation import AREA, weights
from operad_image_transforms.pixels import floats, write
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    ParamError,
    Shape,
    ShapeError,
    operator,
    param,
)


def _resized(shape: Shape, size: tuple[int, ...], keep_ratio: bool) -> Shape:
    """The shape of the output."""
    if len(shape) < 3 or 0 in shape[-3:-1]:
        raise ShapeError(f"data has shape {shape}, expected (..., H, W, C) with at least one pixel")
    width, height = size[0], size[-1]
    if keep_ratio and len(size) == 1:
        height, width = _shorter_edge(shape[-3:-1], size[0])
    return (*shape[:-3], height, width, shape[-1])


def _shorter_edge(image: Shape, length: int) -> tuple[int, int]:
    """Height and width that make the shorter edge `length`."""
    height, width = image
    return (length * height // width, length) if height > width else (length, length * width // height)


def _reference(data: Array, size: tuple[int, ...], keep_ratio: bool, interp: int) -> Array:
    """One pixel after the other, by the definition of the interpolation."""
    height, width = _resized(data.shape, size, keep_ratio)[-3:-1]
    scales = data.shape[-3] / height, data.shape[-2] / width
    by_area = all(scale >= 1 for scale in scales)
    output = np.empty((*data.shape[:-3], height, width, data.shape[-1]))
    for i, j in np.ndindex(height, width):
        rows = _shares(i, scales[0], data.shape[-3], interp, by_area)
        columns = _shares(j, scales[1], data.shape[-2], interp, by_area)
        found = sum(p * q * data[..., row, column, :] for row, p in rows for column, q in columns)
        output[..., i, j, :] = found
    return np.floor(output + 0.5) if data.dtype.kind in "iu" else output


def _shares(number: int, scale: float, size: int, interp: int, by_area: bool) -> list[tuple[int, float]]:
    """Pixels of an axis, each with its share in pixel `number` of the new one."""
    last = size - 1
    if interp == 0:
        return [(min(int(number * scale), last), 1.0)]
    if interp == 3 and by_area:
        start, stop = number * scale, (number + 1) * scale
        return [(pixel, max(0.0, min(stop, pixel + 1) - max(start, pixel)) / scale) for pixel in range(size)]
    if interp == 3:
        low = int(number * scale)
        share = number + 1 - (low + 1) / scale
        share = 0.0 if share <= 0 else share % 1
        return [(min(low, last), 1 - share), (min(low + 1, last), share)]
    at = (number + 0.5) * scale - 0.5
    low = int(np.floor(at))
    reach = {1: 1, 2: 2, 4: 4}[interp]
    found = []
    for pixel in range(low - reach + 1, low + reach + 1):
        x = abs(at - pixel)
        if interp == 1:
            share = 1 - x
        elif interp == 2:
            share = 1.25 * x**3 - 2.25 * x**2 + 1 if x <= 1 else -0.75 * (x**3 - 5 * x**2 + 8 * x - 4)
        else:
            share = 1.0 if x == 0 else np.sin(np.pi * x) * np.sin(np.pi * x / 4) * 4 / (np.pi * x) ** 2
        found.append((min(max(pixel, 0), last), float(share)))
    total = sum(share for _, share in found)
    return [(pixel, share / total) for pixel, share in found]


@operator("_image_resize")
class resize(OperatorProperty):
    """An image of another size.

    Shapes:
        data: (..., H, W, C), at least one pixel.
        output: (..., height, width, C).

    Example:
        >>> import operad as od
        >>> image = od.nd.array([[[0], [8]]])
        >>> od.nd.image.resize(image, size=(4, 1)).asnumpy()[:, :, 0]
        array([[0., 2., 6., 8.]], dtype=float32)

    Source: ResizeParam, src/operator/image/resize-inl.h. Differs: computed without OpenCV, whose bytes are
    rounded from other sums, so that some differ by 1; in any type of numbers; with a gradient.
    """

    size = param("shape", (), ge=1, doc="(width, height), or one number for both; it must be given.")
    keep_ratio = param(bool, False, doc="Of one number, make it the shorter edge.")
    interp = param(int, 1, ge=0, le=4, doc="0 nearest, 1 bilinear, 2 cubic, 3 by area, 4 Lanczos.")

    spec = "data:(*S) -> output:(*resized(S, size, keep_ratio))"
    functions = {"resized": _resized}
    accepts = "number"
    compute_dtype = "float32"
    element_cost = 10
    contract = Contract(
        params={"size": ((2,), (3, 2), (5, 4), (1,)), "interp": (1, 0, 2, 3, 4)},
        shapes=lambda prop, choose: [
            (*((), (2,))[choose((0, 1)) % 2], choose((2, 3, 4)), choose((4, 2, 3)), choose((1, 3, 0)))
        ],
        reference=_reference,
        undefined="an infinite pixel spoils its row and column: images are resized by products of matrices",
        expected_failures={"D607": "pixels that are integers stay so, as in MXNet: they are rounded"},
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.size) not in (1, 2):
            raise ParamError(f"{self.name}: size is {self.size}, expected (width, height) or one number")

    def _matrices(self, xp: Any, image: Shape, out: Shape, dtype: Any) -> tuple[Array, Array]:
        """Weights of the rows, and of the columns."""
        sizes, lengths = image[-3:-1], out[-3:-1]
        is_area = self.interp == AREA and sizes[0] >= lengths[0] and sizes[1] >= lengths[1]
        rows, columns = (
            xp.asarray(weights(size, length, self.interp, is_area).astype(dtype))
            for size, length in zip(sizes, lengths, strict=True)
        )
        return rows, columns

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """A matrix on either side; integers are rounded, halves upwards."""
        pixels = np.moveaxis(floats(data), -1, -3)
        rows, columns = self._matrices(op_ctx.xp, data.shape, output.shape, pixels.dtype)
        found = np.moveaxis(np.matmul(np.matmul(rows, pixels), columns.T), -3, -1)
        write(np.floor(found + 0.5) if output.dtype.kind in "iu" else found, output)

    def data_grad(self, op_ctx: OpContext, output_grad: Array, data_grad: Array) -> None:
        """The same matrices, transposed."""
        heads = np.moveaxis(output_grad, -1, -3)
        rows, columns = self._matrices(op_ctx.xp, data_grad.shape, output_grad.shape, output_grad.dtype)
        data_grad[...] = np.moveaxis(np.matmul(np.matmul(rows.T, heads), columns), -3, -1)
