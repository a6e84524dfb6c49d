"""Operators that repeat the data."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

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
from operad_shape.rearrange import is_complete, normal_axis


class Repeated(OperatorProperty):
    """Every element several times: the data, broadcast along new axes and folded.

    Subclasses say in `folds` how each axis of the output is made: (times before, length, times
    after), so that the output in the shape of all these is the data broadcast.
    """

    def folds(self, shape: Shape) -> list[tuple[int, int, int]]:
        """For each axis of the output, how often the whole axis, its length, how often each element."""
        return [(1, length, 1) for length in shape]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """The product of each fold."""
        shape = in_shapes[0]
        if not is_complete(shape):
            return [shape], [None], []
        return [shape], [tuple(map(prod, self.folds(shape)))], []  # type: ignore[arg-type]

    def forward(self, data: Array, output: Output) -> None:
        """Broadcast into a view of the output with three axes for each of its own."""
        folds = self.folds(data.shape)
        with output.writing() as out:
            view = out.reshape([times for fold in folds for times in fold])
            view[...] = data.reshape([size for _, length, _ in folds for size in (1, length, 1)])
            if not _shares(view, out):
                out[...] = view.reshape(out.shape)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, data_grad: Output) -> None:
        """The sum over the repetitions."""
        folds = self.folds(data_grad.shape)
        unfolded = output_grad.reshape([times for fold in folds for times in fold])
        axes = tuple(axis for axis in range(unfolded.ndim) if axis % 3 != 1)
        wide = np.float32 if output_grad.dtype == np.float16 else None
        data_grad.assign(op_ctx.xp.sum(unfolded, axis=axes, dtype=wide).reshape(data_grad.shape))


def _shares(view: Array, array: Array) -> bool:
    """Whether reshaping gave a view and not a copy."""
    return bool(array.flags.c_contiguous or view.base is array or view.base is array.base)


@operator("tile")
class tile(Repeated):
    """The data repeated as a whole along each axis.

    Shapes:
        data: Any.
        output: Each length times its number in `reps`, aligned at the last axis.

    Example:
        >>> import operad as od
        >>> od.nd.tile(od.nd.array([[1, 2]]), reps=(2, 2)).asnumpy()
        array([[1., 2., 1., 2.],
               [1., 2., 1., 2.]], dtype=float32)

    Source: TileParam, src/operator/tensor/matrix_op-inl.h.
    """

    reps = param("shape", ge=0, doc="How often along each axis.")
    contract = Contract(reference=np.tile)

    def folds(self, shape: Shape) -> list[tuple[int, int, int]]:
        """Whole axes repeated."""
        ndim = max(len(shape), len(self.reps))
        lengths = (1,) * (ndim - len(shape)) + tuple(shape)
        reps = (1,) * (ndim - len(self.reps)) + tuple(self.reps)
        return [(times, length, 1) for times, length in zip(reps, lengths, strict=True)]


@operator("repeat")
class repeat(Repeated):
    """Each element repeated, along an axis or in the flattened data.

    Shapes:
        data: Any.
        output: As data, `repeats` times as long on `axis`; a vector if `axis` is None.

    Example:
        >>> import operad as od
        >>> od.nd.repeat(od.nd.array([1, 2]), repeats=2).asnumpy()
        array([1., 1., 2., 2.], dtype=float32)

    Source: RepeatParam, src/operator/tensor/matrix_op-inl.h.
    """

    repeats = param(int, ge=0, doc="How often each element.")
    axis = param(int, None, doc="The axis; None: the data is flattened.")
    contract = Contract(reference=np.repeat)

    def folds(self, shape: Shape) -> list[tuple[int, int, int]]:
        """Elements of one axis repeated."""
        if self.axis is None:
            return [(1, prod(shape), self.repeats)]
        axis = normal_axis("repeat", self.axis, len(shape))
        return [(1, length, self.repeats if i == axis else 1) for i, length in enumerate(shape)]
