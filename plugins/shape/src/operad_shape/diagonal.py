"""`diag`: diagonals, and matrices made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ShapeError
from operad_sdk import (
    Array,
    Contract,
    OperatorProperty,
    Output,
    PartialShape,
    Shape,
    gradient,
    operator,
    param,
)
from operad_shape.rearrange import is_complete, normal_axis


def _diagonal(data: Array, k: int, axis1: int, axis2: int) -> Array:
    """By NumPy's own functions of that name, for the contract checks."""
    return np.diag(data, k) if data.ndim == 1 else np.diagonal(data, k, axis1, axis2)


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

    k = param(int, 0, doc="Which diagonal: above the main one if positive.")
    axis1 = param(int, 0, doc="First matrix axis.")
    axis2 = param(int, 1, doc="Second matrix axis.")
    contract = Contract(reference=_diagonal)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> Any:
        """A matrix for a vector, else the diagonal on the last axis."""
        shape = in_shapes[0]
        return [shape], [self._out_shape(shape) if is_complete(shape) else None], []  # type: ignore[arg-type]

    def _out_shape(self, shape: Shape) -> Shape:
        if len(shape) == 1:
            return (shape[0] + abs(self.k),) * 2
        first, second = (normal_axis("diag", axis, len(shape)) for axis in (self.axis1, self.axis2))
        if first == second:
            raise ShapeError(f"diag: axis1={self.axis1} and axis2={self.axis2} are one axis of data {shape}")
        rows = shape[first] + min(self.k, 0)
        columns = shape[second] - max(self.k, 0)
        others = [length for axis, length in enumerate(shape) if axis not in (first, second)]
        return (*others, max(min(rows, columns), 0))

    def forward(self, data: Array, output: Output) -> None:
        """Read, or write, along the diagonal."""
        if data.ndim > 1:
            output.assign(data.diagonal(self.k, self.axis1, self.axis2))
            return
        with output.writing() as out:
            out[...] = 0
            out[self._places(data.shape[0])] = data

    @gradient
    def data_gradient(self, output_grad: Array, data_grad: Output) -> None:
        """The other way round."""
        if data_grad.ndim == 1:
            data_grad.assign(output_grad[self._places(data_grad.shape[0])])
            return
        with data_grad.writing() as grad:
            grad[...] = 0
            length = output_grad.shape[-1]
            matrices = _last(grad, self.axis1, self.axis2)
            matrices[(..., *self._places(length))] = output_grad

    def _places(self, length: int) -> tuple[Any, Any]:
        """Row and column numbers of the diagonal's elements."""
        numbers = range(length)
        rows, columns = max(-self.k, 0), max(self.k, 0)
        return [i + rows for i in numbers], [i + columns for i in numbers]


def _last(array: Array, first: int, second: int) -> Array:
    """A view with the two axes at the end."""
    ndim = array.ndim
    chosen = (first % ndim, second % ndim)
    return array.transpose([*[axis for axis in range(ndim) if axis not in chosen], *chosen])
