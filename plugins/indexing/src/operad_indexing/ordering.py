"""`sort`, `argsort` and `topk`: elements in order, and their numbers.

Of equal elements the one with the lower number comes first, ascending or descending; NaN is larger than
any number. Numbers are those along the axis, or among the elements in order where there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from operad_indexing.axes import along
from operad_indexing.selection import elements_at, first_numbers
from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    Shape,
    ShapeError,
    as_dtype,
    gradient,
    operator,
    param,
)

_AXIS: Final = param(
    int, -1, optional=True, doc="The axis, from the last if negative; None: the elements in order."
)
_INDEX_DTYPE: Final = param("dtype", "float32", doc="Element type of the numbers.")


def _first(shape: Shape, axis: int | None, k: int) -> Shape:
    """The shape of the first `k` elements along an axis; all of them if `k` is below 1."""
    shape, axis = along(shape, axis)
    if k > shape[axis]:
        raise ShapeError(
            f"k is {k}, expected at most {shape[axis]}, the elements along axis {axis} of data {shape}"
        )
    return (*shape[:axis], k if k >= 1 else shape[axis], *shape[axis + 1 :])


def _numbered(shape: Shape, axis: int | None, k: int, dtype: str) -> Shape:
    """`_first`, where numbers of type `dtype` are given."""
    number = as_dtype(dtype)
    length = prod(shape) if axis is None else shape[axis] if -len(shape) <= axis < len(shape) else 0
    limit = np.iinfo(number).max if number.kind in "iu" else 1 << (np.finfo(number).nmant + 1)
    if length - 1 > limit:
        raise ShapeError(
            f"dtype is {dtype}, which holds integers up to {limit}, expected up to {length - 1}, the "
            f"last of data of shape {shape}; ask for dtype='int64'"
        )
    return _first(shape, axis, k)


def _masked(shape: Shape, axis: int | None, k: int) -> Shape:
    """The shape itself, where there are as many elements as are asked for."""
    _first(shape, axis, k)
    return shape


_FUNCTIONS: Final[dict[str, Callable[..., Shape]]] = {
    "first": _first,
    "numbered": _numbered,
    "masked": _masked,
}


def _numbers(data: Array, axis: int | None, is_ascend: bool, k: int = 0) -> Array:
    """Order by pairwise comparison, for the contract checks: a number's rank counts those before it.

    NaN is the largest.
    """
    rows = data.reshape(1, -1) if axis is None else np.moveaxis(data, axis, -1)
    mine, other, number = rows[..., :, None], rows[..., None, :], np.arange(rows.shape[-1])
    is_nan = rows != rows  # noqa: PLR0124 - of integers, too
    mine_is, other_is = is_nan[..., :, None], is_nan[..., None, :]
    if is_ascend:
        is_before = (other < mine) | (mine_is & ~other_is)
    else:
        is_before = (other > mine) | (other_is & ~mine_is)
    is_equal = (other == mine) | (mine_is & other_is)
    rank = (is_before | (is_equal & (number < number[:, None]))).sum(-1)
    order = np.zeros(rows.shape, np.int64)
    np.put_along_axis(order, rank, np.broadcast_to(number, rows.shape), -1)
    order = order[..., : k if k >= 1 else rows.shape[-1]]
    return order.reshape(-1) if axis is None else np.moveaxis(order, -1, axis)


def _values(data: Array, axis: int | None, is_ascend: bool, k: int = 0) -> Array:
    """The elements of those numbers."""
    order = _numbers(data, axis, is_ascend, k)
    return np.take_along_axis(data.reshape(-1) if axis is None else data, order, axis or 0)


def _top(data: Array, axis: int | None, k: int, ret_typ: str, is_ascend: bool) -> Any:
    """Result of `topk`."""
    order = _numbers(data, axis, is_ascend, k)
    if ret_typ == "indices":
        return order
    if ret_typ != "mask":
        return _values(data, axis, is_ascend, k), order
    flat = data.reshape(-1) if axis is None else data
    mask = np.zeros(flat.shape)
    np.put_along_axis(mask, order, 1, axis or 0)
    return mask.reshape(data.shape)


@operator("sort")
class sort(OperatorProperty):
    """Elements in order along an axis.

    `d output / d data` is 1 between an element and its position.

    Shapes:
        data: (...)
        output0: As data; (size,) without an axis.

    Example:
        >>> import operad as od
        >>> od.nd.sort(od.nd.array([[3, 1, 2], [4, 6, 5]]), is_ascend=False).asnumpy()
        array([[3., 2., 1.],
               [6., 5., 4.]], dtype=float32)

    Source: SortParam, src/operator/tensor/ordering_op-inl.h.
    """

    axis = _AXIS
    is_ascend = param(bool, True, doc="Sort in ascending order.")
    spec = "data:(*S) -> output0:(*first(S, axis, 0)), hidden output1:int64(0)"
    functions = _FUNCTIONS
    element_cost = 20
    contract = Contract(reference=_values)

    def forward(data: Array, axis: int | None, is_ascend: bool, output0: Array, output1: Array) -> None:
        """Sort. The second output is empty: MXNet's files count it, and the gradient sorts again."""
        values = np.sort(data.reshape(-1) if axis is None else data, axis=axis or 0)
        output0[...] = values if is_ascend else np.flip(values, axis or 0)

    @gradient(accumulate=True)
    def data_grad(
        output0_grad: Array, op_ctx: OpContext, data: Array, axis: int | None, is_ascend: bool,
        data_grad: Array,
    ) -> None:  # fmt: skip
        """Back to where each element came from."""
        order = first_numbers(data, axis, 0, is_ascend)
        data_grad[elements_at(op_ctx.xp, order, data_grad.shape, axis)] += output0_grad


@operator("argsort")
class argsort(OperatorProperty):
    """The numbers of elements in order along an axis.

    Shapes:
        data: (...)
        output: As data; (size,) without an axis. Of type `dtype`.

    Example:
        >>> import operad as od
        >>> od.nd.argsort(od.nd.array([3, 1, 2])).asnumpy()
        array([1., 2., 0.], dtype=float32)

    Source: ArgSortParam, src/operator/tensor/ordering_op-inl.h.
    """

    axis = _AXIS
    is_ascend = param(bool, True, doc="Sort in ascending order.")
    dtype = _INDEX_DTYPE
    spec = "data:(*S) -> output:dtype(*numbered(S, axis, 0, dtype))"
    functions = _FUNCTIONS
    element_cost = 20
    contract = Contract(reference=_numbers)

    def forward(data: Array, axis: int | None, is_ascend: bool, output: Array) -> None:
        """Sort the numbers."""
        output[...] = first_numbers(data, axis, 0, is_ascend)


@operator("topk")
class topk(OperatorProperty):
    """The first `k` elements in order along an axis: their numbers, their values, both, or a mask of them.

    `d value / d data` is 1 between an element and its position.

    Shapes:
        data: (...)
        output: As data, with `k` elements along the axis; (k,) without an axis; a mask is as data. With
            'value' or 'both' it is called `output0`, and `output1` has the numbers.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([[3, 1, 2], [4, 6, 5]])
        >>> [array.asnumpy().tolist() for array in od.nd.topk(data, k=2, ret_typ="both")]
        [[[3.0, 2.0], [6.0, 5.0]], [[0.0, 2.0], [1.0, 2.0]]]
        >>> od.nd.topk(data, ret_typ="mask").asnumpy()
        array([[1., 0., 0.],
               [0., 1., 0.]], dtype=float32)

    Source: TopKParam, src/operator/tensor/ordering_op-inl.h.
    """

    axis = _AXIS
    k = param(int, 1, doc="Number of elements; below 1: all along the axis.")
    ret_typ = param(str, "indices", choices=("both", "indices", "mask", "value"), doc="Kind of result.")
    is_ascend = param(bool, False, doc="Sort in ascending order.")
    dtype = _INDEX_DTYPE
    element_cost = 10
    contract = Contract(
        reference=_top, nan_policy="NaN is the largest, and so not among the smallest that are asked for"
    )

    spec = (
        "data:(*S)"
        " -> output:dtype(*numbered(S, axis, k, dtype)) if gives_numbers,"
        " output:(*masked(S, axis, k)) if gives_mask,"
        " output0:(*first(S, axis, k)) if gives_values,"
        " output1:dtype(*numbered(S, axis, k, dtype)) if gives_both,"
        " hidden output1:int64(*first(S, axis, k)) if gives_only_values"
    )
    gives_numbers = property(lambda self: self.ret_typ == "indices")
    gives_mask = property(lambda self: self.ret_typ == "mask")
    gives_both = property(lambda self: self.ret_typ == "both")
    gives_only_values = property(lambda self: self.ret_typ == "value")
    gives_values = property(lambda self: self.ret_typ in ("both", "value"))
    functions = _FUNCTIONS

    def forward(
        data: Array, op_ctx: OpContext, axis: int | None, k: int, ret_typ: str, is_ascend: bool,
        output: Any, output0: Any, output1: Any,
    ) -> None:  # fmt: skip
        """Find the numbers, and what they stand for."""
        order = first_numbers(data, axis, k, is_ascend)
        elements = elements_at(op_ctx.xp, order, data.shape, axis)
        if output is None:
            output0[...], output1[...] = data[elements], order
        elif ret_typ == "indices":
            output[...] = order
        else:
            output.fill(0)
            output[elements] = 1

    @gradient(accumulate=True, when=lambda prop: prop.ret_typ in ("value", "both"))
    def data_grad(
        output0_grad: Array, op_ctx: OpContext, output1: Array, axis: int | None, data_grad: Array
    ) -> None:
        """Back to where each element came from."""
        order = output1.astype(np.int64)
        data_grad[elements_at(op_ctx.xp, order, data_grad.shape, axis)] += output0_grad
