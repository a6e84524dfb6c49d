"""`pick` and `batch_take`: one element of each row, by its number. `fill_element_0index` writes such."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from operad_indexing.positions import CLIP_OR_WRAP, Lookup, axis_positions, whole
from operad_sdk import (
    Array,
    Contract,
    Drawn,
    Index,
    InferredShapes,
    OpContext,
    OperatorProperty,
    ParamError,
    PartialShape,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
    unify_shapes,
)


def elements(xp: Any, positions: Array, axis: int) -> Any:
    """An index of the elements at `positions` along an axis, and else at their own position."""
    shape = positions.shape
    axis %= len(shape)
    return tuple(
        [
            positions if i == axis else xp.arange(length).reshape(length, *[1] * (len(shape) - 1 - i))
            for i, length in enumerate(shape)
        ]
    )


def _picked(shape: Shape, axis: int, keepdims: bool) -> Shape:
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"axis is {axis}, expected {-len(shape)} to {len(shape) - 1} for data of shape {shape}"
        )
    axis %= len(shape)
    if shape[axis] == 0 and 0 not in shape[:axis] + shape[axis + 1 :]:
        raise ShapeError(f"data has shape {shape}, expected at least one element along axis {axis} to pick")
    return shape[:axis] + ((1,) if keepdims else ()) + shape[axis + 1 :] or (1,)


def _of_rows(data: Array, index: Array, axis: int, keepdims: bool, mode: str) -> Array:
    """A sum over the axis of all but one element, for the contract checks."""
    rows = np.moveaxis(data, axis, -1)
    length = max(1, rows.shape[-1])
    numbers = index.astype(np.int64).reshape(*rows.shape[:-1], 1)
    numbers = np.clip(numbers, 0, length - 1) if mode == "clip" else numbers % length
    is_picked = np.arange(rows.shape[-1]) == numbers
    picked = np.where(is_picked, rows, 0).sum(-1)
    return np.expand_dims(picked, axis) if keepdims else np.atleast_1d(picked)


@operator("pick")
class pick(Lookup):
    """One element of each row along an axis, by its number.

    `d output / d data` is 1 where an element was picked, else 0.

    Shapes:
        data: (...)
        index: That of `data` without the axis, or with length 1 there. Of any type; fractions are cut off.
        output: That of `data` without the axis, (1,) of a vector; with `keepdims` it has a length of 1.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[1, 2], [3, 4], [5, 6]])
        >>> od.nd.pick(data, od.nd.array([0, 1, 0])).asnumpy()
        array([1., 4., 5.], dtype=float32)

    Source: PickParam, src/operator/tensor/broadcast_reduce_op.h.
    """

    axis = param(int, -1, optional=True, doc="The axis of a row, from the last if negative; None is refused.")
    keepdims = param(bool, False, doc="Keep the axis, with length 1.")
    mode = CLIP_OR_WRAP
    spec = "data:(*S), index:any(*I) -> output:(*picked(S, axis, keepdims))"
    functions: ClassVar = {"picked": _picked}
    contract = Contract(
        inputs={"index": Index("data", axis="axis")},
        params={"axis": [-1, 0, 1, -2]},
        assumes_shapes="an index without a shape lacks the axis; one that keeps it with length 1 does too",
        reference=_of_rows,
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line; an index that is not known lacks the axis."""
        if self.axis is None:
            raise ParamError("pick: axis is None, expected a number: pick takes an element of each row")
        data, index = in_shapes
        if data is not None and -len(data) <= self.axis < len(data):
            axis = self.axis % len(data)
            keeps = index is not None and len(index) == len(data)
            expected = data[:axis] + ((1,) if keeps else ()) + data[axis + 1 :] or (1,)
            index = unify_shapes(index, expected, "pick: index")
        return super().infer_shape([data, index])

    def forward(data: Array, op_ctx: OpContext, index: Array, axis: int, mode: str, output: Array) -> None:
        """Read the elements."""
        positions = _along(index, data.shape, axis, mode)
        output[...] = data[elements(op_ctx.xp, positions, axis)].reshape(output.shape)

    @gradient
    def data_grad(
        output_grad: Array, op_ctx: OpContext, index: Array, axis: int, mode: str, data_grad: Array
    ) -> None:
        """Write the gradient to the elements that were picked, each of which is picked once."""
        positions = _along(index, data_grad.shape, axis, mode)
        data_grad.fill(0)
        data_grad[elements(op_ctx.xp, positions, axis)] = output_grad.reshape(positions.shape)


def _along(index: Array, shape: Shape, axis: int, mode: str) -> Array:
    """Positions along an axis of an array of `shape`, with a length of 1 there."""
    axis %= len(shape)
    return axis_positions(index, shape[axis], mode).reshape(*shape[:axis], 1, *shape[axis + 1 :])


def _row_numbers(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    return rng.integers(0, max(1, shapes["a"][-1]), shape)


@operator("batch_take")
class batch_take(Lookup):
    """One element of each row, by its number; numbers out of range stand for the nearest element.

    `d output / d a` is 1 where an element was taken, else 0. `pick` does more.

    Shapes:
        a: (..., K)
        indices: Any with as many elements as `a` has rows; of int32.
        output: That of `indices`.

    Example:
        >>> import operad as od
        >>> a = od.nd.array([[1, 2], [3, 4], [5, 6]])
        >>> od.nd.batch_take(a, od.nd.array([0, 1, 0], dtype="int32")).asnumpy()
        array([1., 4., 5.], dtype=float32)

    Source: batch_take, src/operator/tensor/indexing_op.cc. Differs: it has a gradient.
    """

    spec = "a:(*S), indices:int32(*I) -> output:(*I)"
    contract = Contract(
        inputs={"indices": Drawn(_row_numbers)},
        shapes=lambda prop, choose: [((n := choose((1, 2, 3, 0))), choose((1, 3, 5))), (n,)],
        reference=lambda a, indices: np.array(
            [
                row[position]
                for row, position in zip(a.reshape(-1, a.shape[-1]), indices.reshape(-1), strict=True)
            ]
        ).reshape(indices.shape),
    )

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from the shape line, with one index for each row."""
        a, indices = in_shapes
        if a is not None and indices is not None and None not in a and None not in indices:
            rows = prod(a[:-1])  # type: ignore[arg-type]
            if not a or prod(indices) != rows or (rows and a[-1] == 0):  # type: ignore[arg-type]
                raise ShapeError(
                    f"batch_take: indices have shape {indices}, expected {rows} elements, one for each "
                    f"row of a, of shape {a}"
                )
        return super().infer_shape(in_shapes)

    def forward(a: Array, op_ctx: OpContext, indices: Array, output: Array) -> None:
        """Read the elements."""
        rows = a.reshape(output.size, a.shape[-1])
        positions = axis_positions(indices.reshape(-1), a.shape[-1], "clip")
        output[...] = rows[op_ctx.xp.arange(output.size), positions].reshape(output.shape)

    @gradient(accumulate=True)
    def a_grad(output_grad: Array, op_ctx: OpContext, indices: Array, a_grad: Array) -> None:
        """Add the gradient to the elements that were taken, each of which is taken once."""
        positions = axis_positions(indices.reshape(-1), a_grad.shape[-1], "clip")
        rows = op_ctx.xp.unravel_index(op_ctx.xp.arange(positions.size), a_grad.shape[:-1])
        a_grad[(*rows, positions)] += output_grad.reshape(-1)


def _filled(lhs: Array, mhs: Array, rhs: Array) -> Array:
    return np.where(np.arange(lhs.shape[1]) == np.trunc(rhs)[:, None], mhs[:, None], lhs)


@operator("fill_element_0index")
class fill_element_0index(OperatorProperty):
    """A copy of `lhs` with one element of each row, that of the number in `rhs`, replaced by that of `mhs`.

    A row whose number is out of range stays as it is. `d output / d mhs` is 1 at the elements that were
    replaced, `d output / d lhs` at the others.

    Shapes:
        lhs: (N, K)
        mhs: (N,)
        rhs: (N,), of any type; fractions are cut off.
        output: (N, K)

    Example:
        >>> import operad as od
        >>> lhs, mhs = od.nd.zeros((2, 3)), od.nd.array([7, 8])
        >>> od.nd.fill_element_0index(lhs, mhs, od.nd.array([2, 0])).asnumpy()
        array([[0., 0., 7.],
               [8., 0., 0.]], dtype=float32)

    Source: fill_element_0index, src/ndarray/ndarray.cc. Differs: it has a gradient.
    """

    spec = "lhs:(N, K), mhs:(N), rhs:any(N) -> output:(N, K)"
    inplace = "lhs -> output"
    contract = Contract(inputs={"rhs": Index("lhs", axis=1)}, reference=_filled)

    def forward(lhs: Array, mhs: Array, rhs: Array, output: Array) -> None:
        """Copy, and write."""
        if not np.may_share_memory(lhs, output):
            output[...] = lhs
        rows, positions = _replaced(rhs, output.shape[1])
        output[rows, positions] = mhs[rows]

    def lhs_grad(output_grad: Array, rhs: Array, lhs_grad: Array) -> None:
        """The gradient of the elements that stayed."""
        lhs_grad[...] = output_grad
        lhs_grad[_replaced(rhs, lhs_grad.shape[1])] = 0

    def mhs_grad(output_grad: Array, rhs: Array, mhs_grad: Array) -> None:
        """The gradient of the elements that were replaced."""
        mhs_grad.fill(0)
        rows, positions = _replaced(rhs, output_grad.shape[1])
        # mutant: +=: equivalent, because there are zeros, and each row is named once
        mhs_grad[rows] = output_grad[rows, positions]


def _replaced(rhs: Array, length: int) -> tuple[Array, Array]:
    """Rows whose number is in range, and those numbers."""
    positions = whole(rhs)
    (rows,) = np.nonzero((positions >= 0) & (positions < length))
    return rows, positions[rows]
