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
