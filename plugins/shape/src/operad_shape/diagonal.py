"""`diag`: diagonals, and matrices made of them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from operad_sdk import Array, Contract, OperatorProperty, Shape, ShapeError, operator, param
from operad_shape.rearrange import normal_axis


def _reference(data: Array, k: int, axis1: int, axis2: int) -> Array:
    """Diagonal by NumPy's own functions of that name, for the contract checks."""
    return np.diag(data, k) if data.ndim == 1 else np.diagonal(data, k, axis1, axis2)


def _diagonal(shape: Shape, k: int, axis1: int, axis2: int) -> Shape:
    if len(shape) == 1:
        return (shape[0] + abs(k),) * 2
    first, second = normal_axis(axis1, len(shape)), normal_axis(axis2, len(shape))
    if first == second:
        raise ShapeError(f"axis1={axis1} and axis2={axis2} are one axis of data {shape}")
    others = [length for axis, length in enumerate(shape) if axis not in (first, second)]
    return (*others, max(0, min(shape[first] + min(k, 0), shape[second] - max(k, 0))))


@operator("diag")
class diag(OperatorProperty):
    """The diagonal of matrices, or the matrix that has a vector as its diagonal.

    Shapes:
        data: (N,), or (..., N, M) with `axis1` and `axis2` as the matrix axes.
        output: (N + |k|, N + |k|), or the other axes and the diagonal's length.

    Example:
        >>> import operad as od
        >>> od.nd.diag(od.nd.array([[1, 2, 3], [4, 5, 6]]), k=1).asnumpy()
        array([2., 6.], dtype=float32)

    Source: DiagParam, src/operator/tensor/diag_op-inl.h.
    """

    k = param(int, 0, doc="Number of the diagonal; positive: above the main diagonal.")
    axis1 = param(int, 0, doc="First matrix axis.")
    axis2 = param(int, 1, doc="Second matrix axis.")
    spec = "data:(*S) -> output:(*diagonal(S, k, axis1, axis2))"
    functions: ClassVar = {"diagonal": _diagonal}
    contract = Contract(reference=_reference)

    def forward(data: Array, k: int, axis1: int, axis2: int, output: Array) -> None:
        """Read, or write, along the diagonal."""
        if data.ndim > 1:
            output[...] = data.diagonal(k, axis1, axis2)
        else:
            output[...] = 0
            output[_positions(k, len(data))] = data

    def data_grad(output_grad: Array, k: int, axis1: int, axis2: int, data_grad: Array) -> None:
        """`d/d data`: the diagonal of `output_grad`, or `output_grad` on the diagonal and else 0."""
        if data_grad.ndim == 1:
            data_grad[...] = output_grad[_positions(k, len(data_grad))]
        else:
            data_grad[...] = 0
            matrices = np.moveaxis(data_grad, (axis1, axis2), (-2, -1))
            matrices[(..., *_positions(k, output_grad.shape[-1]))] = output_grad


def _positions(k: int, length: int) -> tuple[Any, Any]:
    """Row and column numbers of the diagonal's elements, as lists, which index arrays of any device."""
    first_row, first_column = max(-k, 0), max(k, 0)
    return list(range(first_row, first_row + length)), list(range(first_column, first_column + length))
