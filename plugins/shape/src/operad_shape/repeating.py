"""Operators that repeat the data.

How each axis of the output is made is a *fold*: (times before, length, times after), so that the output
in the shape of all these is the data broadcast. Splitting axes so always gives a view.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Shape, blocked_sum, operator, param
from operad_shape.rearrange import normal_axis

Folds = Sequence[tuple[int, int, int]]


def _unfolded(array: Array, folds: Folds) -> Array:
    """A view of the output with three axes for each of its own."""
    return array.reshape([times for fold in folds for times in fold])


def _repeat(data: Array, folds: Folds, output: Array) -> None:
    """Broadcast the data into the unfolded output."""
    _unfolded(output, folds)[...] = data.reshape([size for _, length, _ in folds for size in (1, length, 1)])


def _add_up(output_grad: Array, folds: Folds, data_grad: Array) -> None:
    """The sum over the repetitions: `d/dx = 1` for each."""
    unfolded = _unfolded(output_grad, folds)
    axes = tuple(axis for axis in range(unfolded.ndim) if axis % 3 != 1)
    data_grad[...] = blocked_sum(unfolded, axes).reshape(data_grad.shape)


def _tile_folds(shape: Shape, reps: Shape) -> Folds:
    ndim = max(len(shape), len(reps))
    lengths, times = (1,) * (ndim - len(shape)) + shape, (1,) * (ndim - len(reps)) + reps
    return [(before, length, 1) for before, length in zip(times, lengths, strict=True)]


@operator("tile")
class tile(OperatorProperty):
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

    reps = param("shape", ge=0, doc="Number of repetitions along each axis.")
    spec = "data:(*S) -> output:(*tiled(S, reps))"
    functions: ClassVar = {"tiled": lambda shape, reps: tuple(map(prod, _tile_folds(shape, reps)))}
    compute_dtype = "float32"
    contract = Contract(reference=np.tile)

    def forward(data: Array, reps: Shape, output: Array) -> None:
        """Whole axes repeated."""
        _repeat(data, _tile_folds(data.shape, reps), output)

    def data_grad(output_grad: Array, reps: Shape, data_grad: Array) -> None:
        """`d/d data`: the sum of `output_grad` over the repetitions."""
        _add_up(output_grad, _tile_folds(data_grad.shape, reps), data_grad)


def _repeat_folds(shape: Shape, repeats: int, axis: int | None) -> Folds:
    if axis is None:
        return [(1, prod(shape), repeats)]
    position = normal_axis(axis, len(shape))
    return [(1, length, repeats if i == position else 1) for i, length in enumerate(shape)]


@operator("repeat")
class repeat(OperatorProperty):
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

    repeats = param(int, ge=0, doc="Number of repetitions of each element.")
    axis = param(int, None, doc="The axis; None: the data is flattened.")
    spec = "data:(*S) -> output:(*repeated(S, repeats, axis))"
    functions: ClassVar = {"repeated": lambda *given: tuple(map(prod, _repeat_folds(*given)))}
    compute_dtype = "float32"
    contract = Contract(reference=np.repeat)

    def forward(data: Array, repeats: int, axis: int | None, output: Array) -> None:
        """Elements of one axis repeated."""
        _repeat(data, _repeat_folds(data.shape, repeats, axis), output)

    def data_grad(output_grad: Array, repeats: int, axis: int | None, data_grad: Array) -> None:
        """`d/d data`: the sum of `output_grad` over the repetitions."""
        _add_up(output_grad, _repeat_folds(data_grad.shape, repeats, axis), data_grad)
