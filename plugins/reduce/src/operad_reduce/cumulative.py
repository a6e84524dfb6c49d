"""Runs along an axis: `cumsum`, `cumprod`, `cummax` and `cummin` of all elements up to each."""

from __future__ import annotations

from math import prod
from typing import Any, ClassVar

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    DType,
    OpContext,
    OperatorProperty,
    Shape,
    ShapeError,
    as_dtype,
    blocked_cumsum,
    define,
    operator,
    param,
)
from operad_sdk.contract import COUNTED_RESULTS
from operad_sdk.element_types import counted


def _along(shape: Shape, axis: int | None) -> Shape:
    if axis is not None and not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"axis is {axis}, expected {-len(shape)} to {len(shape) - 1} for data of shape {shape}"
        )
    return (prod(shape),) if axis is None else shape


def _sums(a: Array, axis: int | None, dtype: str | None) -> Array:
    """A product with a triangle of ones, for the contract checks; integers are cut off before."""
    if dtype is not None and as_dtype(dtype).kind in "iu":
        a = np.trunc(a)
    rows = a.reshape(-1) if axis is None else np.moveaxis(a, axis, -1)
    return np.moveaxis(rows @ np.tri(rows.shape[-1]).T, -1, axis or 0)


@operator("cumsum")
class CumSum(OperatorProperty):
    """For each element, the sum of those before it along an axis, and itself.

    Shapes:
        a: (...)
        output: As a; (size,) without `axis`, where the elements are taken in order.

    Example:
        >>> import operad as od
        >>> od.nd.cumsum(od.nd.array([[1, 2], [3, 4]]), axis=0).asnumpy()
        array([[1., 2.],
               [4., 6.]], dtype=float32)

    Source: CumsumParam, src/operator/numpy/np_cumsum-inl.h.
    """

    axis = param(int, None, doc="The axis; left out: the elements in order.")
    dtype = param(
        "dtype", None, doc="Element type of the output and the sums; left out: the data's, int64 for bool."
    )
    spec = "a:(*S) -> output:dtype(*along(S, axis))"
    functions: ClassVar = {"along": _along}
    compute_dtype = "float32"
    contract = Contract(reference=_sums)

    promote = counted

    def forward(a: Array, op_ctx: OpContext, axis: int | None, output: Array) -> None:
        """Add up."""
        blocked_cumsum(a, axis, dtype=output.dtype, out=output, op_ctx=op_ctx)

    def a_grad(output_grad: Array, op_ctx: OpContext, axis: int | None, a_grad: Array) -> None:
        """The sums from the other end: `dy_j/dx_i = 1` for j >= i."""
        target = None if axis is None else a_grad
        sums = blocked_cumsum(output_grad, axis, out=target, is_backwards=True, op_ctx=op_ctx)
        if axis is None:
            a_grad[...] = sums.reshape(a_grad.shape)


def _in_rows(array: Array, axis: int | None) -> Array:
    """The elements of a run along the last axis."""
    return array.reshape(-1) if axis is None else np.moveaxis(array, axis, -1)


def _back(rows: Array, axis: int | None, shape: Shape) -> Array:
    return rows.reshape(shape) if axis is None else np.moveaxis(rows, -1, axis)


def _run(
    name: str, function: Any, gradient: Any, summary: str, example: tuple[str, ...], reference: Any,
    ties: str = "", result_types: Any = (), **options: Any,
) -> type[OperatorProperty]:  # fmt: skip
    """A run along an axis.

    Args:
        function: Of rows and the element type of the output.
        gradient: Of rows of the gradient of the output, and of the data.
        reference: Of rows.
    """

    def forward(data: Array, axis: int | None, output: Array) -> None:
        if data.size:
            output[...] = _back(function(_in_rows(data, axis), output.dtype), axis, output.shape)

    def data_grad(output_grad: Array, data: Array, axis: int | None) -> Array:
        if not data.size:
            return data
        return _back(gradient(_in_rows(output_grad, axis), _in_rows(data, axis)), axis, data.shape)

    def by_rows(data: Array, axis: int | None) -> Array:
        found = reference(_in_rows(data, axis)) if data.size else _in_rows(data, axis)
        return _back(found, axis, (data.size,))

    return define(
        name, "data:(*S) -> output:(*along(S, axis))", forward, data_grad, summary=summary, example=example,
        params={"axis": param(int, None, doc="The axis; left out: the elements in order.")},
        functions={"along": _along}, **options,
        contract=Contract(reference=by_rows, result_types=result_types, ties=ties),
    )  # fmt: skip


def _doubled(rows: Array, joined: Any) -> Array:
    """Run by doubling: what 1, 2, 4, ... elements give is joined with that of those before them.

    It is for traces and devices, which have no `accumulate`.
    """
    step = 1
    while step < rows.shape[-1]:
        rows = np.concatenate([rows[..., :step], joined(rows[..., step:], rows[..., :-step])], axis=-1)
        step *= 2
    return rows


def _products(rows: Array, dtype: DType) -> Array:
    """Products in double precision, rounded once; of integers in their own type, which may wrap around."""
    return np.cumprod(rows, axis=-1, dtype=np.float64 if dtype.kind == "f" else dtype)


def _products_gradient(output_grad: Array, data: Array) -> Array:
    """`sum_(i >= j) g_i prod_(k <= i, k != j) x_k`, without a division, so that elements may be 0.

    The product of all before `j`, times `s_j = g_j + x_(j+1) s_(j+1)`, which is found by doubling.
    """
    before = _doubled(np.concatenate([np.ones_like(data[..., :1]), data[..., :-1]], axis=-1), np.multiply)
    factor, total, step = data[..., 1:], output_grad, 1
    while step < data.shape[-1]:
        more = factor * total[..., step:]
        total = np.concatenate([total[..., :-step] + more, total[..., -step:]], axis=-1)
        factor, step = factor[..., :-step] * factor[..., step:], 2 * step
    return before * total


cumprod = _run(
    "cumprod", _products, _products_gradient,
    "For each element, the product of those before it along an axis, and itself; right where some are 0.",
    ("[[1, 2, 3], [4, 0, 5]]", "axis=1", "[[1., 2., 6.],\n       [4., 0., 0.]]"),
    lambda rows: np.stack([rows[..., : i + 1].prod(-1) for i in range(rows.shape[-1])], -1),
    promote=counted, compute_dtype="float32",
    result_types=COUNTED_RESULTS,
)  # fmt: skip


def _accumulated(rows: Array, ufunc: np.ufunc) -> Array:
    return ufunc.accumulate(rows, axis=-1) if isinstance(rows, np.ndarray) else _doubled(rows, ufunc)


def _extremes(ufunc: np.ufunc, name: str, which: str, row: str, result: str) -> type[OperatorProperty]:
    def gradient(output_grad: Array, data: Array) -> Array:
        """Sums, in double precision, of the gradients of all that an element is the extreme of."""
        length = data.shape[-1]
        is_new = (data == _accumulated(data, ufunc)) | np.isnan(data)
        last = _accumulated(np.where(is_new, np.arange(length, like=data), 0), np.maximum)
        first = np.arange(data.size // length, like=data).reshape((*data.shape[:-1], 1)) * length
        sums = np.bincount((last + first).reshape(-1), output_grad.reshape(-1), data.size)
        return sums.reshape(data.shape).astype(output_grad.dtype)

    return _run(
        name, lambda rows, dtype: _accumulated(rows, ufunc), gradient,
        f"For each element, the {which} of those before it along an axis, and itself; "
        "of equal ones the last has the gradient.",
        (row, result),
        lambda rows: np.stack([ufunc.reduce(rows[..., : i + 1], -1) for i in range(rows.shape[-1])], -1),
        ties="of equal elements the last has the gradient, as in PyTorch",
    )  # fmt: skip


cummax = _extremes(np.maximum, "cummax", "largest", "[1, 3, 2, 4]", "[1., 3., 3., 4.]")
cummin = _extremes(np.minimum, "cummin", "smallest", "[3, 1, 2, 0]", "[3., 1., 1., 0.]")
