"""`Pad`: the data with a margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from operad.dtypes import DType
from operad.errors import ShapeError
from operad.operator import InferredTypes
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    Output,
    PartialShape,
    Shape,
    gradient,
    operator,
    param,
)
from operad_shape.rearrange import expect_number, is_complete


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

    mode = param(str, "constant", choices=("constant", "edge", "reflect"), doc="What the margin holds.")
    pad_width = param("shape", ge=0, doc="Before and after, for each axis in turn.")
    constant_value = param(float, 0.0, doc="What a constant margin holds.")
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

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """Longer by the margins."""
        shape = in_shapes[0]
        return [shape], [self._out_shape(shape) if is_complete(shape) else None], []  # type: ignore[arg-type]

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """The data's; a constant margin must be of that type."""
        if self.mode == "constant":
            expect_number(self.name, in_types[0], constant_value=self.constant_value)
        return super().infer_type(in_types)

    def _out_shape(self, shape: Shape) -> Shape:
        if len(self.pad_width) != 2 * len(shape):
            raise ShapeError(
                f"Pad: pad_width={self.pad_width} has {len(self.pad_width)} numbers, expected two for "
                f"each of the {len(shape)} axes of data {shape}"
            )
        for axis, (length, margins) in enumerate(zip(shape, self._margins(), strict=True)):
            least = {"constant": 0, "edge": 1 if any(margins) else 0, "reflect": max(margins) + 1}[self.mode]
            if length < least and any(margins):
                raise ShapeError(
                    f"Pad: axis {axis} of data {shape} is too short for mode={self.mode!r} "
                    f"with margins {margins}"
                )
        return tuple(length + sum(margins) for length, margins in zip(shape, self._margins(), strict=True))

    def _margins(self) -> list[tuple[int, int]]:
        return list(zip(self.pad_width[::2], self.pad_width[1::2], strict=True))

    def forward(self, op_ctx: OpContext, data: Array, output: Output) -> None:
        """Copy, then fill the margins axis by axis."""
        with output.writing() as out:
            if self.mode == "constant":
                out[...] = self.constant_value
            out[self._interior(data.shape)] = data
            if self.mode != "constant":
                for axis in range(data.ndim):
                    for target, source in self._mirrored(axis, data.shape[axis]):
                        moved = out.swapaxes(0, axis)
                        moved[target] = moved[source]

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data_grad: Output) -> None:
        """Margins are added back to what they were copied from, last axis first."""
        if self.mode == "constant":
            data_grad.assign(output_grad[self._interior(data_grad.shape)])
            return
        wide = np.float32 if output_grad.dtype == np.float16 else output_grad.dtype
        folded = output_grad.astype(wide)
        for axis in reversed(range(folded.ndim)):
            moved = folded.swapaxes(0, axis)
            for margin, source in self._mirrored(axis, data_grad.shape[axis]):
                op_ctx.xp.add.at(moved, source, moved[margin])
        data_grad.assign(folded[self._interior(data_grad.shape)])

    def _interior(self, shape: Shape) -> tuple[slice, ...]:
        return tuple(
            slice(before, before + length) for (before, _), length in zip(self._margins(), shape, strict=True)
        )

    def _mirrored(self, axis: int, length: int) -> list[tuple[Any, Any]]:
        """Indices of each margin of an axis, and what they repeat, both in the output."""
        before, after = self._margins()[axis]
        first, last = before, before + length - 1
        left, right = np.arange(before), np.arange(last + 1, last + 1 + after)
        if self.mode == "edge":
            return [(left, np.full(before, first)), (right, np.full(after, last))]
        return [(left, 2 * first - left), (right, 2 * last - right)]
