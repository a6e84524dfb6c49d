"""`Pad`: the data with a margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    DType,
    DTypeError,
    InferredTypes,
    OpContext,
    OperatorProperty,
    Shape,
    ShapeError,
    operator,
    param,
)


def _data_shapes(prop: Pad, choose: Callable[[Sequence[int]], int]) -> list[Shape]:
    """One axis for each two margins, as long as the mode needs it."""
    margins = [max(pair) for pair in zip(prop.pad_width[::2], prop.pad_width[1::2], strict=True)]
    least = {"constant": [0] * len(margins), "edge": [1] * len(margins), "reflect": [m + 1 for m in margins]}
    return [tuple(length + choose((1, 0, 2)) for length in least[prop.mode])]


def _padded(data: Array, mode: Any, pad_width: Shape, constant_value: float) -> Array:
    values = {"constant_values": constant_value} if mode == "constant" else {}
    if not data.ndim:
        return data  # which NumPy cannot reflect
    return np.pad(data, np.reshape(np.array(pad_width, int), (-1, 2)), mode, **values)


def _shape(shape: Shape, mode: str, pad_width: Shape) -> Shape:
    if len(pad_width) != 2 * len(shape):
        raise ShapeError(
            f"{pad_width=} has {len(pad_width)} numbers, expected two for each of the {len(shape)} axes "
            f"of data {shape}"
        )
    for axis, (length, margins) in enumerate(zip(shape, _margins(pad_width), strict=True)):
        if any(margins) and length < {"constant": 0, "edge": 1, "reflect": max(margins) + 1}[mode]:
            raise ShapeError(f"axis {axis} of data {shape} is too short for {mode=} with margins {margins}")
    return tuple(length + sum(margins) for length, margins in zip(shape, _margins(pad_width), strict=True))


@operator("Pad")
class Pad(OperatorProperty):
    """The data with a margin of a constant, of its edge, or of its reflection.

    Shapes:
        data: Any.
        output: Each axis longer by its two numbers in `pad_width`.

    Example:
        >>> import operad as od
        >>> od.nd.Pad(od.nd.array([[1, 2]]), mode="edge", pad_width=(0, 1, 1, 0)).asnumpy()
        array([[1., 1., 2.],
               [1., 1., 2.]], dtype=float32)

    Source: PadParam, src/operator/pad-inl.h. Differs: any number of axes, each may be padded.
    """

    mode = param(str, choices=("constant", "edge", "reflect"), doc="Kind of margin.")
    pad_width = param("shape", ge=0, doc="Before and after, for each axis in turn.")
    constant_value = param(float, 0.0, doc="Value of a constant margin.")
    spec = "data:(*S) -> output:(*padded(S, mode, pad_width))"
    functions: ClassVar = {"padded": _shape}
    compute_dtype = "float32"
    contract = Contract(
        params={
            "pad_width": [
                *[(0, 1), (2, 0), (1, 2), (0, 0), ()],
                *[(0, 1, 2, 0), (1, 1, 1, 1), (0, 0, 1, 3), (1, 0, 0, 2), (2, 2, 0, 0)],
                *[(0, 0, 0, 0, 1, 1), (1, 0, 2, 1, 0, 1), (0, 0, 0, 0, 0, 0, 1, 2), (1, 1, 0, 0, 1, 0, 0, 1)],
            ]
        },
        shapes=_data_shapes,
        reference=_padded,
    )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The data's; a constant margin must be of that type."""
        (dtype,), value = in_types, self.constant_value
        if self.mode == "constant" and dtype is not None and dtype.kind in "iu":
            limits = np.iinfo(dtype)
            if not limits.min <= value <= limits.max:
                raise DTypeError(
                    f"Pad: constant_value is {value}, and data is {dtype}, from {limits.min} to {limits.max}"
                )
        return super().infer_type(in_types)

    def forward(data: Array, mode: str, pad_width: Shape, constant_value: float, output: Array) -> None:
        """Copy, then fill the margins axis by axis."""
        if mode == "constant":
            output[...] = constant_value
        output[_interior(pad_width, data.shape)] = data
        if mode != "constant":
            for axis, margins in enumerate(_margins(pad_width)):
                moved = output.swapaxes(0, axis)
                for margin, source in _mirrored(mode, margins, data.shape[axis]):
                    moved[margin] = moved[source]

    def data_grad(
        output_grad: Array, op_ctx: OpContext, mode: str, pad_width: Shape, data_grad: Array
    ) -> None:
        """`dy/dx = 1` for an element and each copy: margins are added to their sources, last axis first."""
        if mode != "constant":
            output_grad = output_grad.copy()
            for axis, margins in reversed(list(enumerate(_margins(pad_width)))):
                moved = output_grad.swapaxes(0, axis)
                for margin, source in _mirrored(mode, margins, data_grad.shape[axis]):
                    op_ctx.xp.add.at(moved, source, moved[margin])
        data_grad[...] = output_grad[_interior(pad_width, data_grad.shape)]


def _margins(pad_width: Shape) -> list[tuple[int, int]]:
    return list(zip(pad_width[::2], pad_width[1::2], strict=True))


def _interior(pad_width: Shape, shape: Shape) -> tuple[slice, ...]:
    return tuple(slice(n, n + length) for (n, _), length in zip(_margins(pad_width), shape, strict=True))


def _mirrored(mode: str, margins: tuple[int, int], length: int) -> list[tuple[Any, Any]]:
    """Indices of both margins of an axis, and what they repeat, all in the output."""
    before, after = margins
    first, last = before, before + length - 1
    left, right = np.arange(before), np.arange(last + 1, last + 1 + after)
    if mode == "edge":
        return [(left, np.full(before, first)), (right, np.full(after, last))]
    return [(left, 2 * first - left), (right, 2 * last - right)]
