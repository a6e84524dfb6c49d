"""`_contrib_BilinearResize2D`: an image of another size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad_bilinear_resize.axis import axis_of, sampled, spread
from operad_sdk import (
    Array,
    Contract,
    InferredShapes,
    OpContext,
    OperatorProperty,
    PartialShape,
    Shape,
    ShapeError,
    operator,
    param,
)

MODES: Final = (
    "size", "odd_scale", "like", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up",
)  # fmt: skip


def _length(mode: str, size: int, length: int, scale: float | None) -> int:
    """Length of an axis of `size` pixels when it was resized; `mode` is not `like`."""
    if mode == "size":
        return length if scale is None else int(scale * size)
    if mode == "odd_scale":
        odd = size % 2
        return int((size - odd) * (1.0 if scale is None else scale)) + odd
    is_right = size % 2 == (0 if "even" in mode else 1)
    return size if is_right else size + (1 if mode.endswith("up") else -1)


def _resized(
    image: Shape, height: int, width: int, scale_height: float | None, scale_width: float | None, mode: str
) -> Shape:
    """Height and width of the output."""
    if len(image) != 2:
        raise ShapeError(f"data has {len(image) + 2} axes, expected 4: (N, C, H, W)")
    asked = zip(image, (height, width), (scale_height, scale_width), strict=True)
    lengths = tuple(_length(mode, *each) for each in asked)
    if min(lengths) < 1:
        raise ShapeError(f"of height and width {image} mode={mode!r} makes {lengths}, expected at least 1")
    return lengths


def _reference(
    data: Array,
    like: Array | None = None,
    *,
    height: int,
    width: int,
    scale_height: float | None,
    scale_width: float | None,
    mode: str,
    align_corners: bool,
) -> Array:
    """One pixel after the other: each is the mean of all pixels, weighted by tents around its place."""
    size = data.shape[2:]
    if like is not None:
        lengths: Sequence[int] = like.shape[2:]
    elif mode == "size":
        lengths = [
            n if scale is None else int(scale * s)
            for s, n, scale in zip(size, (height, width), (scale_height, scale_width), strict=True)
        ]
    elif mode == "odd_scale":
        lengths = [
            int((s - s % 2) * (scale or 1)) + s % 2
            for s, scale in zip(size, (scale_height, scale_width), strict=True)
        ]
    else:
        wanted, step = (0 if "even" in mode else 1), (1 if "up" in mode else -1)
        lengths = [s if s % 2 == wanted else s + step for s in size]
    tents = []
    for s, n in zip(size, lengths, strict=True):
        if align_corners:
            at = np.linspace(0, s - 1, n)
        else:
            at = np.clip((np.arange(n) + 0.5) * s / n - 0.5, 0, s - 1)
        tents.append(np.maximum(0, 1 - abs(at[:, None] - np.arange(s))))
    return np.einsum("nchw,ih,jw->ncij", data, *tents)


def _shapes(prop: Any, choose: Any) -> list[Shape]:
    data = (choose((1, 2)), choose((1, 2, 0)), choose((3, 4, 2, 5)), choose((4, 3, 2, 7)))
    return [data, (1, 1, choose((2, 5)), choose((6, 3)))] if prop.mode == "like" else [data]


@operator("_contrib_BilinearResize2D")
class BilinearResize2D(OperatorProperty):
    """An image of another size, each pixel interpolated between four.

    With `align_corners` the corners of the output are pixels of the data; else they are centres of equal
    parts, and pixels at the edge count beyond it.

    The size is, by `mode`: `size`: `height` and `width`, or the data's times the scales; `odd_scale`: the
    data's times the scales, odd where the data's is; `like`: that of another array; `to_even_down`,
    `to_even_up`, `to_odd_down`, `to_odd_up`: the data's, or one less or more.

    Shapes:
        data: (N, C, H, W), at least one pixel.
        like: (..., height, width), of four axes; with `mode='like'` alone.
        output: (N, C, height, width).

    Example:
        >>> import operad as od
        >>> od.nd._contrib_BilinearResize2D(od.nd.array([[[[1, 3]]]]), height=1, width=3).asnumpy()
        array([[[[1., 2., 3.]]]], dtype=float32)

    Source: BilinearSampleParam, src/operator/contrib/bilinear_resize-inl.h.
    """

    height = param(int, 1, ge=1, doc="Height of the output, without `scale_height`.")
    width = param(int, 1, ge=1, doc="Width of the output, without `scale_width`.")
    scale_height = param(float, None, gt=0, doc="Height of the output per height of the data.")
    scale_width = param(float, None, gt=0, doc="Width of the output per width of the data.")
    mode = param(str, "size", choices=MODES, doc="Rule for the size of the output.")
    align_corners = param(bool, True, doc="Align the corner pixels of both images.")

    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 12
    functions = {"resized": _resized}
    contract = Contract(
        params={
            "height": (2, 1, 5),
            "width": (3, 1, 4),
            "scale_height": (None, 2.0, 0.5),
            "scale_width": (None, 1.5, 0.75),
        },
        shapes=_shapes,
        reference=_reference,
    )

    def spec(self) -> str:
        """One line of the shape language, which depends on the mode."""
        if self.mode == "like":
            return "data:(N, C, H, W), like:(A, B, I, J) -> output:(N, C, I, J)"
        lengths = "resized(S, height, width, scale_height, scale_width, mode)"
        return f"data:(N, C, *S) -> output:(N, C, *{lengths})"

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; interpolation needs a pixel."""
        data = in_shapes[0]
        if data is not None and 0 in data[2:]:
            raise ShapeError(f"{self.name}: data has shape {data}, expected at least one pixel")
        return super().infer_shape(in_shapes)

    def forward(self, op_ctx: OpContext, data: Array, output: Array) -> None:
        """Sample the rows, then the columns."""
        rows, columns = self._axes(op_ctx.xp, data, output)
        output[...] = sampled(sampled(data.swapaxes(2, 3), rows).swapaxes(2, 3), columns)

    def data_grad(self, op_ctx: OpContext, output_grad: Array, data_grad: Array) -> None:
        """`d output / d pixel` is the weight of its row times that of its column."""
        rows, columns = self._axes(op_ctx.xp, data_grad, output_grad)
        of_columns = spread(op_ctx.xp, output_grad, columns, data_grad.shape[3])
        data_grad[...] = spread(op_ctx.xp, of_columns.swapaxes(2, 3), rows, data_grad.shape[2]).swapaxes(2, 3)

    def _axes(self, xp: Any, data: Array, output: Array) -> Any:
        return (
            axis_of(xp, data.shape[axis], output.shape[axis], self.align_corners, data.dtype)
            for axis in (2, 3)
        )
