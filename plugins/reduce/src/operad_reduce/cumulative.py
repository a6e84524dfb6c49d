"""`cumsum`: sums of all elements up to each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    DType,
    InferredShapes,
    OperatorProperty,
    PartialShape,
    ShapeError,
    as_dtype,
    blocked_cumsum,
    operator,
    param,
)


def _sums(a: Array, axis: int | None, dtype: str | None) -> Array:
    """A product with a triangle of ones, for the contract checks; whole numbers are cut off before."""
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
    spec = "a:(*S) -> output:dtype(*S) if axis is not None, output:dtype(prod(S)) if axis is None"
    compute_dtype = "float32"
    contract = Contract(reference=_sums)

    def promote(self, dtype: DType) -> DType:
        """Bool is counted."""
        return as_dtype("int64") if dtype.kind == "b" else dtype

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Infer shapes from `spec`, where the axis is there."""
        shape = in_shapes[0]
        if self.axis is not None and shape is not None and not -len(shape) <= self.axis < len(shape):
            raise ShapeError(f"cumsum: a has shape {shape}, which has no axis {self.axis}")
        return super().infer_shape(in_shapes)

    def forward(a: Array, axis: int | None, output: Array) -> None:
        """Add up."""
        blocked_cumsum(a, axis, dtype=output.dtype, out=output)

    def a_grad(output_grad: Array, axis: int | None, a_grad: Array) -> None:
        """The sums from the other end: `dy_j/dx_i = 1` for j >= i."""
        sums = blocked_cumsum(np.flip(output_grad, axis or 0), axis or 0)
        a_grad[...] = np.flip(sums, axis or 0).reshape(a_grad.shape)


def _along(name: str) -> Callable[..., Shape]:
    """Function of shapes of a run along an axis, or through the elements in order."""

    def along(shape: Shape, axis: int | None) -> Shape:
        if axis is not None and not -len(shape) <= axis < len(shape):
            raise ShapeError(f"data has shape {shape}, which has no axis {axis}")
        return (prod(shape),) if axis is None else shape

    return along


def _in_rows(array: Array, axis: int | None) -> Array:
    """The elements of a run along the last axis."""
    return array.reshape(-1) if axis is None else np.moveaxis(array, axis, -1)


def _back(rows: Array, axis: int | None, shape: Shape) -> Array:
    return rows.reshape(shape) if axis is None else np.moveaxis(rows, -1, axis)


def _run(
    name: str, function: Any, gradient: Any, summary: str, example: tuple[str, ...], reference: Any,
    **options: Any,
) -> type[OperatorProperty]:  # fmt: skip
    """A run along an axis.

    Args:
        function: Of rows and an element type.
        gradient: Of rows of the gradient of the output, and of the data.
        reference: Of rows; of one without elements nothing is asked.
    """

    def forward(data: Array, axis: int | None, output: Array) -> None:
        rows = _in_rows(data, axis)
        output[...] = _back(function(rows, output.dtype), axis, output.shape) if data.size else 0

    def data_grad(output_grad: Array, data: Array, axis: int | None) -> Array:
        if not data.size:
            return data
        return _back(gradient(_in_rows(output_grad, axis), _in_rows(data, axis)), axis, data.shape)

    def by_rows(data: Array, axis: int | None) -> Array:
        if not data.size:
            return data if axis is not None else data.reshape(-1)
        return _back(reference(_in_rows(data, axis)), axis, (data.size,))

    contract = Contract(reference=by_rows, result_types=options.pop("result_types", ()), **options.pop("more", {}))
    return define(
        name, "data:(*S) -> output:(*along(S, axis))", forward, data_grad, summary=summary, example=example,
        params={"axis": param(int, None, doc="The axis; left out: the elements in order.")},
        functions={"along": _along}, contract=contract, **options,
    )  # fmt: skip


def _shifted(rows: Array, step: int, fill: float) -> Array:
    """Elements moved to the right by a step, or to the left by a negative one."""
    rest = np.full_like(rows[..., : abs(step)], fill)
    if step > 0:
        return np.concatenate([rest, rows[..., :-step]], axis=-1)
    return np.concatenate([rows[..., -step:], rest], axis=-1)


def _doubled(rows: Array, joined: Any, fill: float) -> Array:
    """Run by doubling: the elements of 1, 2, 4, ... before each are joined with those before them.

    It is for devices and for traces, which have no `accumulate`.
    """
    step = 1
    while step < rows.shape[-1]:
        rows = joined(rows, _shifted(rows, step, fill))
        step *= 2
    return rows


def _products(rows: Array, dtype: DType) -> Array:
    """Products in double precision, rounded once; of integers in their own type, where they may wrap around."""
    return np.cumprod(rows, axis=-1, dtype=np.float64 if dtype.kind == "f" else dtype)


def _products_gradient(output_grad: Array, data: Array) -> Array:
    """`sum_(i >= j) g_i prod_(k <= i, k != j) x_k`, without a division, so that elements may be 0.

    The product of all before `j`, times `s_j = g_j + x_(j+1) s_(j+1)`, which is found by doubling.
    """
    before = _doubled(_shifted(data, 1, 1), np.multiply, 1)
    factor, total, step = _shifted(data, -1, 0), output_grad, 1
    while step < data.shape[-1]:
        total = total + factor * _shifted(total, -step, 0)
        factor = factor * _shifted(factor, -step, 0)
        step *= 2
    return before * total


cumprod = _run(
    "cumprod", _products, _products_gradient,
    "For each element, the product of those before it along an axis, and itself; right where some are 0.",
    ("[[1, 2, 3], [4, 0, 5]]", "axis=1", "[[1., 2., 6.],\n       [4., 0., 0.]]"),
    lambda rows: np.stack([rows[..., : i + 1].prod(-1) for i in range(rows.shape[-1])], -1),
    promote=lambda prop, dtype: as_dtype("int64") if dtype.kind == "b" else dtype, compute_dtype="float32",
    result_types=COUNTED_RESULTS,
)  # fmt: skip


def _extremes(name: str, ufunc: np.ufunc, which: str, result: str) -> type[OperatorProperty]:
    def extremes(rows: Array, dtype: DType) -> Array:
        if isinstance(rows, np.ndarray):
            return ufunc.accumulate(rows, axis=-1)
        return _doubled_extremes(rows, ufunc)

    def gradient(output_grad: Array, data: Array) -> Array:
        """Sums, in double precision, of the gradients of all that one element was the extreme of."""
        plain = extremes(data, data.dtype)
        numbers = np.arange(data.shape[-1], like=data)
        is_new = (data == plain) | np.isnan(data)
        found = np.where(is_new, numbers, 0)
        last = np.maximum.accumulate(found, axis=-1)
        length = data.shape[-1]
        first = np.arange(data.size // length, like=data).reshape((*data.shape[:-1], 1)) * length
        sums = np.bincount((last + first).reshape(-1), output_grad.reshape(-1), data.size)
        return sums.reshape(data.shape).astype(output_grad.dtype)

    return _run(
        name, extremes, gradient,
        f"For each element, the {which} of those before it along an axis, and itself; "
        "of equal ones the last has the gradient.",
        ("[1, 3, 2, 4]" if name == "cummax" else "[3, 1, 2, 0]", result),
        lambda rows: np.stack(
            [ufunc.reduce(rows[..., : i + 1], -1) for i in range(rows.shape[-1])], -1
        ), more={"ties": "of equal elements the last has the gradient, as in PyTorch"},
    )  # fmt: skip


cummax = _extremes("cummax", np.maximum, "largest", "[1., 3., 3., 4.]")
cummin = _extremes("cummin", np.minimum, "smallest", "[3., 1., 1., 0.]")
