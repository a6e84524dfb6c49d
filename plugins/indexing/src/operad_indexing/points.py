"""`gather_nd`, `scatter_nd` and what belongs to them: elements, or parts, at points.

The columns of `indices` are coordinates in the leading axes, one row for each axis. Negative coordinates
count from the end; what is out of range is an error before anything is read or written.
"""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_indexing.accumulate import LOOPS, add_rows
from operad_indexing.point_examples import (
    SHAPES,
    at_points,
    coordinates,
    some_points,
    summed,
    values_and_points,
    with_values,
)
from operad_indexing.positions import Lookup, whole
from operad_sdk import (
    Array,
    Contract,
    KernelCall,
    OpContext,
    OperatorProperty,
    Shape,
    ShapeError,
    gradient,
    operator,
    param,
)


def point_numbers(name: str, xp: Any, indices: Array, shape: Shape) -> Array:
    """The number of each point among the parts of an array of `shape` at its leading axes.

    Raises:
        IndexOutOfRangeError: A coordinate is out of range.
    """
    numbers = xp.zeros(prod(indices.shape[1:]), np.int64)
    for axis, (row, length) in enumerate(zip(indices, shape, strict=False)):
        positions = whole(row.reshape(-1))
        if positions.size and (int(positions.min()) < -length or int(positions.max()) >= length):
            raise IndexOutOfRangeError(
                f"{name}: indices of axis {axis} are {int(positions.min())} to {int(positions.max())}, "
                f"expected {-length} to {length - 1}, for a length of {length}"
            )
        numbers = numbers * length + np.where(positions < 0, positions + length, positions)
    return numbers


def _gathered(shape: Shape, axes: int, points: Shape) -> Shape:
    """The points' shape, and that of a part."""
    if not 1 <= axes <= len(shape):
        raise ShapeError(f"indices have {axes} rows, expected 1 to {len(shape)}, the axes of data {shape}")
    if 0 not in points and 0 in shape[:axes]:
        raise ShapeError(f"data has shape {shape}, which has no elements, and points are asked for")
    return points + shape[axes:]


def _scattered(shape: Shape, axes: int, points: Shape) -> Shape:
    """The shape of the values: `_gathered`, of an array of the shape that is given."""
    if not 1 <= axes <= len(shape):
        raise ShapeError(f"indices have {axes} rows, expected 1 to {len(shape)}, the axes of shape={shape}")
    if 0 not in points and 0 in shape[:axes]:
        raise ShapeError(f"shape={shape} has no elements, and points are given")
    return points + shape[axes:]


def _parts(xp: Any, array: Array, axes: int) -> Array:
    """An array, or a copy of one that is not contiguous, as rows: one for each point of its leading axes."""
    width = prod(array.shape[axes:])
    return xp.ascontiguousarray(array).reshape(prod(array.shape[:axes]), width)


def _read(xp: Any, name: str, array: Array, indices: Array, target: Array) -> None:
    numbers = point_numbers(name, xp, indices, array.shape)
    target[...] = _parts(xp, array, len(indices))[numbers].reshape(target.shape)


def _write(xp: Any, name: str, values: Array, indices: Array, target: Array) -> None:
    """Write parts of `target`; of several for one point the last one stays."""
    numbers = point_numbers(name, xp, indices, target.shape)
    positions = xp.unravel_index(numbers, target.shape[: len(indices)])
    target[positions] = values.reshape(len(numbers), *target.shape[len(indices) :])


def _add(xp: Any, name: str, values: Array, indices: Array, target: Array, *, by_loop: bool = False) -> None:
    numbers = point_numbers(name, xp, indices, target.shape)
    rows = values.reshape(len(numbers), prod(target.shape[len(indices) :]))
    add_rows(xp, target, numbers, rows, by_loop=by_loop)


@operator("gather_nd")
class gather_nd(Lookup):
    """The elements, or parts, of an array at points.

    `d output / d data` is 1 where an element was taken; one that was taken several times gets the sum.

    Shapes:
        data: (...)
        indices: (M, ...), of any type; fractions are cut off.
        output: The shape of the points, and of what `data` has behind its first M axes.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[1, 2, 3], [4, 5, 6]])
        >>> od.nd.gather_nd(data, od.nd.array([[0, 1], [2, 0]])).asnumpy()
        array([3., 4.], dtype=float32)

    Source: GatherNDForward, src/operator/tensor/indexing_op.h.
    """

    spec = "data:(*S), indices:any(M, *I) -> output:(*gathered(S, M, I))"
    functions: ClassVar = {"gathered": _gathered}
    contract = Contract(
        inputs={"indices": coordinates("data", once=False)},
        shapes=lambda prop, choose: some_points(tuple(choose((1, 2, 3)) for _ in "SSS"), choose),
        reference=at_points,
    )

    def forward(data: Array, op_ctx: OpContext, indices: Array, output: Array) -> None:
        """Read at the points."""
        _read(op_ctx.xp, "gather_nd", data, indices, output)

    @gradient(accumulate=True)
    def data_grad(output_grad: Array, op_ctx: OpContext, indices: Array, data_grad: Array) -> None:
        """Add each gradient at its point."""
        _add(op_ctx.xp, "gather_nd", output_grad, indices, data_grad)


@gather_nd.kernel("data_grad", accumulate=True, priority=1, when=LOOPS.when(lambda call: call.size("output")))
def add_by_loop(output_grad: Array, indices: Array, data_grad: Array) -> None:
    """The same additions in the same order."""
    _add(np, "gather_nd", output_grad, indices, data_grad, by_loop=True)


_SHAPE: Final[Any] = param("shape", ge=0, doc="Shape of the output.")


class _Scatter(OperatorProperty):
    """Base class of operators on values at points of a given shape."""

    shape = _SHAPE
    spec = "data:(*scattered(shape, M, I)), indices:any(M, *I) -> output:(*shape)"
    functions: ClassVar = {"scattered": _scattered}

    @gradient
    def data_grad(output_grad: Array, op_ctx: OpContext, indices: Array, data_grad: Array) -> None:
        """The gradient at each point."""
        _read(op_ctx.xp, "scatter_nd", output_grad, indices, data_grad)


def _contract(*, once: bool) -> Contract:
    """Values written or added at points, each of which comes once or may come again."""
    indices = coordinates("", once=once)
    return Contract(inputs={"indices": indices}, params=SHAPES, shapes=values_and_points, reference=summed)


@operator("scatter_nd")
class scatter_nd(_Scatter):
    """Zeros, with elements or parts written at points; of several at one point the last one stays.

    `d output / d data` is 1 between a value and its point (also, as in MXNet, for one that was overwritten).

    Shapes:
        data: The shape of the points, and of what `shape` has behind its first M axes.
        indices: (M, ...), of any type; fractions are cut off.
        output: `shape`.

    Example:
        >>> import operad as od
        >>> values, points = od.nd.array([7, 8]), od.nd.array([[0, 1], [2, 0]])
        >>> od.nd.scatter_nd(values, points, shape=(2, 3)).asnumpy()
        array([[0., 0., 7.],
               [8., 0., 0.]], dtype=float32)

    Source: ScatterNDParam, src/operator/tensor/indexing_op.h.
    """

    contract = _contract(once=True)

    def forward(data: Array, op_ctx: OpContext, indices: Array, output: Array) -> None:
        """Write at the points."""
        output.fill(0)
        _write(op_ctx.xp, "scatter_nd", data, indices, output)


@operator("_backward_gather_nd")
class backward_gather_nd(_Scatter):
    """Zeros, with elements or parts added at points, in their order: the gradient of `gather_nd`.

    `d output / d data` is 1 between a value and its point.

    Shapes:
        data: The shape of the points, and of what `shape` has behind its first M axes.
        indices: (M, ...), of any type; fractions are cut off.
        output: `shape`.

    Example:
        >>> import operad as od
        >>> values, points = od.nd.array([7, 8]), od.nd.array([[1, 1], [2, 2]])
        >>> od.nd._backward_gather_nd(values, points, shape=(2, 3)).asnumpy()
        array([[ 0.,  0.,  0.],
               [ 0.,  0., 15.]], dtype=float32)

    Source: _backward_gather_nd, src/operator/tensor/indexing_op.cc.
    """

    contract = _contract(once=False)

    def forward(data: Array, op_ctx: OpContext, indices: Array, output: Array) -> None:
        """Add at the points."""
        output.fill(0)
        _add(op_ctx.xp, "_backward_gather_nd", data, indices, output)


def _is_floating(call: KernelCall) -> bool | str:
    return call.dtype("data").kind == "f" or "integers are added by NumPy"


@backward_gather_nd.kernel(
    "forward", priority=1, when=LOOPS.when(lambda call: call.size("data"), _is_floating)
)
def add_up_by_loop(data: Array, indices: Array, output: Array) -> None:
    """The same additions in the same order."""
    output.fill(0)
    _add(np, "_backward_gather_nd", data, indices, output, by_loop=True)


@operator("_scatter_set_nd")
class scatter_set_nd(OperatorProperty):
    """A copy of `lhs` with elements or parts written at points; with `out=lhs`, `lhs` itself.

    Of several at one point the last one stays. `d output / d rhs` is 1 between a value and its point (also
    for one that was overwritten), `d output / d lhs` is 1 elsewhere.

    Shapes:
        lhs: `shape`.
        rhs: The shape of the points, and of what `shape` has behind its first M axes.
        indices: (M, ...), of any type; fractions are cut off.
        output: `shape`.

    Example:
        >>> import operad as od
        >>> lhs, points = od.nd.ones((2, 3)), od.nd.array([[0, 1], [2, 0]])
        >>> od.nd._scatter_set_nd(lhs, od.nd.array([7, 8]), points, shape=(2, 3), out=lhs).asnumpy()
        array([[1., 1., 7.],
               [8., 1., 1.]], dtype=float32)

    Source: _scatter_set_nd, src/operator/tensor/indexing_op.cc.
    """

    shape = _SHAPE
    spec = "lhs:(*shape), rhs:(*scattered(shape, M, I)), indices:any(M, *I) -> output:(*shape)"
    functions: ClassVar = {"scattered": _scattered}
    inplace = "lhs -> output"
    contract = Contract(
        inputs={"indices": coordinates("", once=True)},
        params=SHAPES,
        shapes=lambda prop, choose: [prop.shape, *values_and_points(prop, choose)],
        reference=with_values,
    )

    def forward(lhs: Array, op_ctx: OpContext, rhs: Array, indices: Array, output: Array) -> None:
        """Copy, and write at the points."""
        if not np.may_share_memory(lhs, output):
            output[...] = lhs
        _write(op_ctx.xp, "_scatter_set_nd", rhs, indices, output)

    @gradient
    def lhs_grad(output_grad: Array, op_ctx: OpContext, indices: Array, lhs_grad: Array) -> None:
        """The gradient, but 0 at the points."""
        lhs_grad[...] = output_grad
        numbers = point_numbers("_scatter_set_nd", op_ctx.xp, indices, lhs_grad.shape)
        lhs_grad[op_ctx.xp.unravel_index(numbers, lhs_grad.shape[: len(indices)])] = 0

    @gradient
    def rhs_grad(output_grad: Array, op_ctx: OpContext, indices: Array, rhs_grad: Array) -> None:
        """The gradient at each point."""
        _read(op_ctx.xp, "_scatter_set_nd", output_grad, indices, rhs_grad)
