"""`_contrib_AdaptiveAvgPooling2D`: means of as many windows as are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    ParamError,
    Shape,
    blocked_sum,
    operator,
    param,
)


def _window(size: int, length: int, number: int) -> slice:
    """Window `number` of `length` over an axis: from its share of the axis, rounded down, to rounded up."""
    return slice(number * size // length, -(-(number + 1) * size // length))


def _windows(size: int, length: int) -> list[slice]:
    """The windows of an axis."""
    return [_window(size, length, number) for number in range(length)]


def _counts(size: int, length: int) -> Array:
    """Number of elements of each window along an axis."""
    return np.array([window.stop - window.start for window in _windows(size, length)])


def _numbers(xp: Any, image: Array, pooled: Array) -> Array:
    """Number of elements of the image behind each mean."""
    return xp.asarray(np.multiply.outer(*map(_counts, image.shape[2:], pooled.shape[2:])), pooled.dtype)


def _reference(data: Array, output_size: Any) -> Array:
    height, width = (output_size[0], output_size[-1]) if output_size else (1, 1)
    rows = [data[:, :, _window(data.shape[2], height, i)] for i in range(height)]
    means = [[row[..., _window(data.shape[3], width, j)].mean((2, 3)) for j in range(width)] for row in rows]
    return np.array(means).reshape(height, width, *data.shape[:2]).transpose(2, 3, 0, 1)


@operator("_contrib_AdaptiveAvgPooling2D")
class AdaptiveAvgPooling2D(OperatorProperty):
    """The means of as many windows as the output has elements, which together cover the image.

    Window `i` of `n` over an axis of length `s` goes from `floor(i s / n)` to `ceil((i + 1) s / n)`.

    Shapes:
        data: (N, C, H, W)
        output: (N, C, height, width), as `output_size` says

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[[[1, 2, 3, 4]]]])
        >>> od.nd._contrib_AdaptiveAvgPooling2D(data, output_size=(1, 2)).asnumpy()
        array([[[[1.5, 3.5]]]], dtype=float32)

    Source: AdaptiveAvgPoolParam, src/operator/contrib/adaptive_avg_pooling-inl.h. Differs: more than two
    numbers are refused.
    """

    output_size = param("shape", (), ge=1, doc="(height, width), or one number for both; left out: (1, 1).")
    accepts = "floating"
    compute_dtype = "float32"
    spec = "data:(N, C, H, W) -> output:(N, C, height, width)"
    contract = Contract(
        reference=_reference,
        params={"output_size": [(), (1,), (2,), (3, 2), (1, 5)]},
        narrowed={"output_size": "any numbers above 0 make windows by the same rule"},
        undefined="the mean of no elements is no number",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if len(self.output_size) > 2:
            raise ParamError(
                f"{self.name}: output_size is {self.output_size}, expected (height, width) or one number"
            )

    @property
    def height(self) -> int:
        """Height of the output."""
        return self.output_size[0] if self.output_size else 1

    @property
    def width(self) -> int:
        """Width of the output."""
        return self.output_size[-1] if self.output_size else 1

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Additions along the rows, and of their sums along the columns."""
        (batch, channels, height, width), (_, _, rows, columns) = in_shapes[0], out_shapes[0]
        return float(batch * channels * ((height + rows) * width + rows * (width + columns)))

    def forward(data: Array, op_ctx: OpContext, output: Array) -> None:
        """Sums of the rows of each window, then of its columns, divided by their number."""
        xp, (height, width) = op_ctx.xp, output.shape[2:]
        rows = [blocked_sum(data[:, :, window], 2) for window in _windows(data.shape[2], height)]
        for j, window in enumerate(_windows(data.shape[3], width)):
            for i, row in enumerate(rows):
                output[:, :, i, j] = blocked_sum(row[..., window], 2)
        with np.errstate(invalid="ignore"):  # an image without elements
            xp.divide(output, _numbers(xp, data, output), output)

    def data_grad(output_grad: Array, op_ctx: OpContext, data_grad: Array) -> None:
        """`d/d data`: to each element of a window its share, by columns and then by rows."""
        xp = op_ctx.xp
        shares = output_grad / xp.maximum(_numbers(xp, data_grad, output_grad), 1)
        columns = xp.zeros((*output_grad.shape[:3], data_grad.shape[3]), output_grad.dtype)
        for j, window in enumerate(_windows(data_grad.shape[3], output_grad.shape[3])):
            columns[..., window] += shares[..., j : j + 1]
        data_grad[...] = 0
        for i, window in enumerate(_windows(data_grad.shape[2], output_grad.shape[2])):
            data_grad[:, :, window] += columns[:, :, i : i + 1]
