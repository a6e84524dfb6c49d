"""`_contrib_index_copy`: some rows of an array replaced."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad.errors import IndexOutOfRangeError
from operad_indexing.positions import whole
from operad_sdk import Array, Contract, Drawn, OperatorProperty, Shape, gradient, operator


def _row_numbers(indices: Array, length: int) -> Array:
    """Numbers of rows.

    Raises:
        IndexOutOfRangeError: One is out of range.
    """
    positions = whole(indices)
    if positions.size and (int(positions.min()) < 0 or int(positions.max()) >= length):
        raise IndexOutOfRangeError(
            f"_contrib_index_copy: index_vector is {int(positions.min())} to {int(positions.max())}, "
            f"expected 0 to {length - 1}, the rows of old_tensor"
        )
    return positions


def _rows(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Any) -> Array:
    """Each row once."""
    return rng.permutation(shapes["old_tensor"][0])[: shape[0]]


def _replaced(old_tensor: Array, index_vector: Array, new_tensor: Array) -> Array:
    rows = dict(zip(index_vector.astype(int).tolist(), new_tensor, strict=True))
    return np.array([rows.get(number, row) for number, row in enumerate(old_tensor)]).reshape(
        old_tensor.shape
    )


@operator("_contrib_index_copy")
class index_copy(OperatorProperty):
    """A copy of an array in which some rows, by their numbers, are replaced.

    Of several rows for one number the last one stays. `d output / d old_tensor` is 1 where nothing was
    replaced, `d output / d new_tensor` 1 where it was (also, as in MXNet, for a row that was overwritten).

    Shapes:
        old_tensor: (N, ...)
        index_vector: (M,), of any type; fractions are cut off.
        new_tensor: (M, ...)
        output: (N, ...)

    Example:
        >>> import operad as od
        >>> old, new = od.nd.zeros((3, 2)), od.nd.array([[1, 2]])
        >>> od.nd._contrib_index_copy(old, od.nd.array([1], dtype="int32"), new).asnumpy()
        array([[0., 0.],
               [1., 2.],
               [0., 0.]], dtype=float32)

    Source: IndexCopyForward, src/operator/contrib/index_copy-inl.h.
    """

    spec = "old_tensor:(N, *S), index_vector:any(M), new_tensor:(M, *S) -> output:(N, *S)"
    inplace = "old_tensor -> output"
    contract = Contract(
        inputs={"index_vector": Drawn(_rows)},
        shapes=lambda prop, choose: [
            ((n := choose((1, 2, 4, 5))), (k := choose((1, 3)))), ((m := choose(range(n + 1))),), (m, k),
        ],
        reference=_replaced,
    )  # fmt: skip

    def forward(old_tensor: Array, index_vector: Array, new_tensor: Array, output: Array) -> None:
        """Copy, and write the rows."""
        rows = _row_numbers(index_vector, len(output))
        if not np.may_share_memory(old_tensor, output):
            output[...] = old_tensor
        output[rows] = new_tensor

    @gradient(inplace="output_grad -> old_tensor_grad")
    def old_tensor_grad(output_grad: Array, index_vector: Array, old_tensor_grad: Array) -> None:
        """The gradient, but 0 in the rows that were replaced."""
        if not np.may_share_memory(output_grad, old_tensor_grad):
            old_tensor_grad[...] = output_grad
        old_tensor_grad[_row_numbers(index_vector, len(old_tensor_grad))] = 0

    @gradient
    def new_tensor_grad(output_grad: Array, index_vector: Array) -> Array:
        """The gradient of the rows that were written."""
        return output_grad[_row_numbers(index_vector, len(output_grad))]
