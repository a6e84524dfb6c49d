"""`take` and `Embedding`: parts of an array, by their numbers along an axis.

Their gradients add to the parts that were taken and touch no others, so that a step on a large table
costs what its indices cost, not what the table does.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_indexing.accumulate import LOOPS, add_rows
from operad_indexing.positions import Lookup, axis_positions, whole
from operad_sdk import (
    Array,
    Contract,
    DType,
    Index,
    InferredTypes,
    OpContext,
    Shape,
    ShapeError,
    as_dtype,
    gradient,
    operator,
    param,
)


def _taken(shape: Shape, indices: Shape, axis: int) -> Shape:
    """The indices' shape in the place of the axis."""
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(f"axis is {axis}, expected {-len(shape)} to {len(shape) - 1} for a of shape {shape}")
    axis %= len(shape)
    if shape[axis] == 0 and 0 not in indices:
        raise ShapeError(
            f"axis {axis} of a, of shape {shape}, has no elements, of which {indices} are asked for"
        )
    return shape[:axis] + indices + shape[axis + 1 :]


def _read(table: Array, indices: Array, axis: int, mode: str, output: Array) -> None:
    """Write parts of `table` into `output`."""
    if isinstance(table, np.ndarray):
        np.take(table, whole(indices), axis, output, mode)  # type: ignore[call-overload]
    else:
        output[...] = table.take(axis_positions(indices, table.shape[axis], mode), axis)


def _add_back(
    xp: Any, parts: Array, indices: Array, axis: int, mode: str, table: Array, *, by_loop: bool = False
) -> None:
    """Add to `table` the gradients of its parts."""
    outer, length, inner = prod(table.shape[:axis]), table.shape[axis], prod(table.shape[axis + 1 :])
    positions = axis_positions(indices, length, mode).reshape(-1)
    if outer != 1:
        positions = (xp.arange(outer)[:, None] * length + positions).reshape(-1)
    add_rows(xp, table, positions, parts.reshape(len(positions), inner), by_loop=by_loop)


def _chosen(a: Array, indices: Array, axis: int) -> Array:
    """A product with rows that have a single 1, for the contract checks."""
    axis %= a.ndim
    ones = np.arange(a.shape[axis]) == indices.reshape(-1, 1)
    rows = np.tensordot(ones.astype(np.float64), a, (1, axis))
    return np.moveaxis(rows, 0, axis).reshape(a.shape[:axis] + indices.shape + a.shape[axis + 1 :])


@operator("take")
class take(Lookup):
    """Parts of an array along an axis, by their numbers.

    `d output / d a` is 1 where an element was taken; one that was taken several times gets the sum.

    Shapes:
        a: (...)
        indices: (...), of any type; fractions are cut off.
        output: The shape of `a` with that of `indices` in the place of the axis.

    Example:
        >>> import operad as od
        >>> a = od.nd.array([[1, 2], [3, 4], [5, 6]])
        >>> od.nd.take(a, od.nd.array([2, 0])).asnumpy()
        array([[5., 6.],
               [1., 2.]], dtype=float32)

    Source: TakeParam, src/operator/tensor/indexing_op.h.
    """

    axis = param(int, 0, doc="The axis, from the last if negative.")
    mode = param(
        str,
        "clip",
        choices=("clip", "raise", "wrap"),
        doc="Indices out of range become the nearest, are an error, or count modulo the length.",
    )
    spec = "a:(*S), indices:any(*I) -> output:(*taken(S, I, axis))"
    functions: ClassVar = {"taken": _taken}
    contract = Contract(inputs={"indices": Index("a", axis="axis")}, reference=_chosen)

    def forward(a: Array, indices: Array, axis: int, mode: str, output: Array) -> None:
        """Copy the parts."""
        if mode == "raise":
            _check_range(indices, a.shape[axis], axis)
        _read(a, indices, axis, "clip" if mode == "raise" else mode, output)

    @gradient(accumulate=True)
    def a_grad(
        output_grad: Array, op_ctx: OpContext, indices: Array, axis: int, mode: str, a_grad: Array
    ) -> None:
        """Add each gradient where its element came from."""
        _add_back(op_ctx.xp, output_grad, indices, axis % a_grad.ndim, mode, a_grad)


MANY: Final = LOOPS.when(lambda call: call.size("output"))


@take.kernel("a_grad", accumulate=True, priority=1, when=MANY)
def add_parts_by_loop(output_grad: Array, indices: Array, axis: int, mode: str, a_grad: Array) -> None:
    """The same additions in the same order."""
    _add_back(np, output_grad, indices, axis % a_grad.ndim, mode, a_grad, by_loop=True)


def _check_range(indices: Array, length: int, axis: int) -> None:
    positions = whole(indices)
    if positions.size and (int(positions.min()) < 0 or int(positions.max()) >= length):
        raise IndexOutOfRangeError(
            f"take: indices are {int(positions.min())} to {int(positions.max())}, expected 0 to "
            f"{length - 1}, the length of axis {axis} less one; mode='clip' or 'wrap' takes any"
        )


@operator("Embedding")
class Embedding(Lookup):
    """Rows of a table, by their numbers; numbers out of range stand for the nearest row.

    `d output / d weight` is 1 where a row was looked up; one that several numbers name gets the sum.

    Shapes:
        data: (...), numbers of any type; fractions are cut off.
        weight: (input_dim, output_dim)
        output: (..., output_dim)

    Example:
        >>> import operad as od
        >>> table = od.nd.array([[1, 2], [3, 4], [5, 6]])
        >>> od.nd.Embedding(od.nd.array([2, 0]), table, input_dim=3, output_dim=2).asnumpy()
        array([[5., 6.],
               [1., 2.]], dtype=float32)

    Source: EmbeddingParam, src/operator/tensor/indexing_op.h. Differs: gradients are dense.
    """

    input_dim = param(int, ge=1, doc="Rows of the table.")
    output_dim = param(int, ge=1, doc="Length of a row.")
    dtype = param("dtype", "float32", doc="Element type of a table whose type nothing else says.")
    sparse_grad = param(bool, False, ignored="Gradients are dense here.")
    spec = "data:any(*I), weight:(input_dim, output_dim) -> output:(*I, output_dim)"
    contract = Contract(
        inputs={"data": Index("input_dim")},
        params={"dtype": ["float32"]},
        narrowed={"dtype": "a weight has it where nothing else says its type; the checks say every type"},
        reference=lambda data, weight: _chosen(weight, data, 0),
    )

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A table whose type is not given has that of the parameter, where it asks for another than usual."""
        data, weight = in_types
        if weight is None and self.dtype != "float32":
            weight = as_dtype(self.dtype)
        return super().infer_type([data, weight])

    def forward(data: Array, weight: Array, output: Array) -> None:
        """Copy the rows."""
        _read(weight, data, 0, "clip", output)

    @gradient(accumulate=True)
    def weight_grad(output_grad: Array, op_ctx: OpContext, data: Array, weight_grad: Array) -> None:
        """Add each gradient to the row that it came from."""
        _add_back(op_ctx.xp, output_grad, data, 0, "clip", weight_grad)


@Embedding.kernel("weight_grad", accumulate=True, priority=1, when=MANY)
def add_rows_by_loop(output_grad: Array, data: Array, weight_grad: Array) -> None:
    """The same additions in the same order."""
    _add_back(np, output_grad, data, 0, "clip", weight_grad, by_loop=True)
