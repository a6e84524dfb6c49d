"""`take_along_axis`, `put_along_axis` and `searchsorted`: elements by their positions along an axis."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_indexing.accumulate import add_rows
from operad_indexing.axes import along
from operad_indexing.positions import Lookup, whole
from operad_sdk import (
    Array,
    Contract,
    Drawn,
    OpContext,
    OperatorProperty,
    Shape,
    ShapeError,
    Shapes,
    define,
    gradient,
    operator,
    param,
)

_AXIS: Final[Any] = param(int, None, doc="The axis of positions; left out: the elements in order.")


def _taken(shape: Shape, indices: Shape, axis: int | None) -> Shape:
    """Shape of the elements."""
    shape, axis = along(shape, axis)
    expected = (*shape[:axis], indices[axis] if axis < len(indices) else 1, *shape[axis + 1 :])
    if len(indices) != len(shape) or any(n not in (1, m) for n, m in zip(indices, expected, strict=True)):
        raise ShapeError(
            f"indices have shape {indices}, expected {expected}, that of data but for axis {axis}, or 1"
        )
    if shape[axis] == 0 and 0 not in expected:
        raise ShapeError(f"data has shape {shape}, expected at least one element along axis {axis}")
    return expected


def _numbers(name: str, xp: Any, indices: Array, shape: Shape, axis: int | None) -> Array:
    """The number of each element among all in order.

    Raises:
        IndexOutOfRangeError: A position is beyond the axis.
    """
    if axis is None:
        shape, axis = (prod(shape),), 0
    axis, positions = axis % len(shape), whole(indices)
    length = shape[axis]
    if positions.size and not -length <= int(positions.min()) <= int(positions.max()) < length:
        raise IndexOutOfRangeError(
            f"{name}: indices are {int(positions.min())} to {int(positions.max())}, expected {-length} to "
            f"{length - 1}, for a length of {length} along axis {axis}"
        )
    numbers = np.where(positions < 0, positions + length, positions) * prod(shape[axis + 1 :])
    for other, count in enumerate(shape):
        if other != axis:
            along = xp.arange(count).reshape([-1 if one == other else 1 for one in range(len(shape))])
            numbers = numbers + along * prod(shape[other + 1 :])
    return numbers


def _positions(*, once: bool) -> Drawn:
    """Positions along the axis, some from its end; each one time in a row, or several times."""

    def drawn(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Shapes) -> Array:
        data = shapes["data"]
        axis, data = (0, (prod(data),)) if prop.axis is None else (prop.axis % len(data), data)
        length, count = max(1, data[axis]), shape[axis]
        order = np.argsort(rng.random((*shape[:axis], *shape[axis + 1 :], max(length, count))), -1)[
            ..., :count
        ]
        order = np.moveaxis(order, -1, axis) % length
        return (
            order
            if once
            else np.where(rng.random(shape) < 0.3, order[...] - length, rng.integers(0, length, shape))
        )

    return Drawn(drawn)


def _shapes(prop: Any, choose: Any) -> list[Shape]:
    data = (choose((2, 1, 3)), choose((3, 2, 1)))
    if prop.axis is None:
        return [data, (choose((1, 2)),)]
    axis, count = prop.axis % 2, choose((1, 2, 0))
    count = min(count, data[axis])
    return [data, tuple(count if one == axis else n for one, n in enumerate(data))]


_PARAMS: Final[dict[str, Any]] = {"axis": [None, 0, -1, 1]}


@operator("take_along_axis")
class take_along_axis(Lookup):
    """The elements at positions along an axis, one for each index; negative ones count from the end.

    `d output / d data` is 1 where an element was taken; one that was taken several times gets the sum.

    Shapes:
        data: (...)
        indices: As many axes, each as long as in data or 1, but for `axis`; (K,) without `axis`. Of any type.
        output: As data, with the length of indices along the axis; (K,) without `axis`.

    Example:
        >>> import operad as od
        >>> data, indices = od.nd.array([[3, 1], [2, 4]]), od.nd.array([[1], [0]], dtype="int64")
        >>> od.nd.take_along_axis(data, indices, axis=1).asnumpy()
        array([[1.],
               [2.]], dtype=float32)
    """

    axis = _AXIS
    spec = "data:(*S), indices:any(*I) -> output:(*taken(S, I, axis))"
    functions: ClassVar = {"taken": _taken}
    contract = Contract(
        inputs={"indices": _positions(once=False)}, params=_PARAMS, shapes=_shapes,
        narrowed={"axis": "the arrays that are tried have two axes"},
        reference=lambda data, indices, axis: np.take_along_axis(data, indices.astype(np.int64), axis),
    )  # fmt: skip

    def forward(data: Array, op_ctx: OpContext, indices: Array, axis: int | None, output: Array) -> None:
        """Read."""
        numbers = _numbers("take_along_axis", op_ctx.xp, indices, data.shape, axis)
        output[...] = data.reshape(-1)[numbers]

    @gradient(accumulate=True)
    def data_grad(
        output_grad: Array, op_ctx: OpContext, indices: Array, axis: int | None, data_grad: Array
    ) -> None:
        """Add each gradient where its element was taken."""
        numbers = _numbers("take_along_axis", op_ctx.xp, indices, data_grad.shape, axis)
        add_rows(op_ctx.xp, data_grad, numbers.reshape(-1), output_grad.reshape(-1, 1))


def _put(data: Array, indices: Array, values: Array, axis: int | None, mode: str) -> Array:
    """One after another, for the contract checks."""
    made, shape = data.flatten(), data.shape
    numbers = np.take_along_axis(np.arange(data.size).reshape(shape), indices.astype(np.int64), axis)
    for number, value in zip(numbers.ravel(), np.broadcast_to(values, numbers.shape).ravel(), strict=True):
        made[number] = {"set": value, "add": made[number] + value, "max": max(made[number], value)}[mode]
    return made.reshape(shape)


@operator("put_along_axis")
class put_along_axis(OperatorProperty):
    """A copy of the data with values written, or added, or their maximum, at positions along an axis.

    Of several written at one position the last one stays. `d output / d values` is 1 between a value and its
    position (also for one that was overwritten), and `d output / d data` where nothing was written; of a
    maximum for all that equal it.

    Shapes:
        data: (...)
        indices: As many axes, each as long as in data or 1, but for `axis`; (K,) without `axis`. Of any type.
        values: That of the elements that `take_along_axis` takes.
        output: As data.

    Example:
        >>> import operad as od
        >>> data, indices = od.nd.array([[3, 1], [2, 4]]), od.nd.array([[1], [0]], dtype="int64")
        >>> od.nd.put_along_axis(data, indices, od.nd.array([[9], [8]]), axis=1, mode="add").asnumpy()
        array([[ 3., 10.],
               [10.,  4.]], dtype=float32)
    """

    axis = _AXIS
    mode = param(str, "set", choices=("set", "add", "max"), doc="Combination of values at the same position.")
    spec = "data:(*S), indices:any(*I), values:(*taken(S, I, axis)) -> output:(*S)"
    functions: ClassVar = {"taken": _taken}
    inplace = "data -> output"
    contract = Contract(
        inputs={"indices": _positions(once=True)}, params=_PARAMS,
        shapes=lambda prop, choose: [*(shapes := _shapes(prop, choose)), shapes[1]],
        narrowed={"axis": "the arrays that are tried have two axes"},
        ties="of a maximum all that equal it have the whole gradient, as of `max`",
        nan_policy="a NaN that is overwritten does not show", reference=_put,
    )  # fmt: skip

    def forward(
        data: Array,
        op_ctx: OpContext,
        indices: Array,
        values: Array,
        axis: int | None,
        mode: str,
        output: Array,
    ) -> None:
        """Copy, and write."""
        numbers = _numbers("put_along_axis", op_ctx.xp, indices, data.shape, axis).reshape(-1)
        if not np.may_share_memory(data, output):
            output[...] = data
        flat, given = op_ctx.xp.ascontiguousarray(output).reshape(-1), values.reshape(-1)
        if mode == "set":
            flat[numbers] = given
        elif mode == "add":
            add_rows(op_ctx.xp, flat, numbers, given[:, None])
        else:
            op_ctx.xp.maximum.at(flat, numbers, given)
        output[...] = flat.reshape(output.shape)

    @gradient(when=lambda prop: prop.mode == "set")
    def data_grad_beside(
        output_grad: Array, op_ctx: OpContext, indices: Array, axis: int | None, data_grad: Array
    ) -> None:
        """The gradient, but 0 where a value was written."""
        numbers = _numbers("put_along_axis", op_ctx.xp, indices, data_grad.shape, axis)
        is_kept = op_ctx.xp.ones(data_grad.size, bool)
        is_kept[numbers.reshape(-1)] = False
        data_grad[...] = np.where(is_kept.reshape(data_grad.shape), output_grad, 0)

    @gradient("data", when=lambda prop: prop.mode == "add")
    def data_grad_of_sum(output_grad: Array) -> Array:
        """The gradient."""
        return output_grad

    @gradient("data", when=lambda prop: prop.mode == "max")
    def data_grad_of_largest(output_grad: Array, data: Array, output: Array) -> Array:
        """The gradient where no value was larger."""
        return output_grad * (data == output)

    @gradient("values", when=lambda prop: prop.mode != "max")
    def values_grad_there(output_grad: Array, op_ctx: OpContext, indices: Array, axis: int | None) -> Array:
        """The gradient at its position."""
        return output_grad.reshape(-1)[
            _numbers("put_along_axis", op_ctx.xp, indices, output_grad.shape, axis)
        ]

    @gradient("values", when=lambda prop: prop.mode == "max")
    def values_grad_of_largest(
        output_grad: Array, op_ctx: OpContext, indices: Array, values: Array, output: Array, axis: int | None
    ) -> Array:
        """The gradient at its position, where the value is the largest."""
        numbers = _numbers("put_along_axis", op_ctx.xp, indices, output_grad.shape, axis)
        return output_grad.reshape(-1)[numbers] * (values == output.reshape(-1)[numbers])


searchsorted = define(
    "searchsorted", "a:(N), v:(*S) -> output:int64(*S)",
    lambda a, v, side: np.searchsorted(a, v, side), None,
    summary="Where each element of `v` belongs in the ascending `a`; it has no gradient.",
    example=("[1, 3, 5]", "[0, 3, 9]", "array([0, 1, 3])"),
    params={"side": param(str, "left", choices=("left", "right"), doc="Before or behind equal elements.")},
    contract=Contract(
        inputs={"a": Drawn(lambda rng, shape, prop, shapes: np.sort(rng.integers(0, 50, shape)))},
        nan_policy="NaN belongs to the end",
        reference=lambda a, v, side: (
            a[:, None] < v.reshape(-1) if side == "left" else a[:, None] <= v.reshape(-1)
        ).sum(0).reshape(v.shape),
    ),
)  # fmt: skip
