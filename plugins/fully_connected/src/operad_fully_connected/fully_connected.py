"""`FullyConnected`: an affine map of each row.

All three passes are one matrix product each, written where the result belongs; BLAS reads transposed
matrices in place, so nothing is copied that is contiguous.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from operad_sdk import Array, Contract, OpContext, OperatorProperty, Output, Shape, gradient, operator, param


def _affine(data: Array, weight: Array, *bias: Array, flatten: bool) -> Array:
    """The definition, in double precision."""
    items = data.reshape(len(data), prod(data.shape[1:])) if flatten else data
    value = np.einsum("...d,hd->...h", items.astype(np.float64), weight.astype(np.float64))
    return np.asarray(value + bias[0] if bias else value)


@operator("FullyConnected")
class FullyConnected(OperatorProperty):
    """`output = data @ weight.T + bias`, for every row of `data`.

    Shapes:
        data: (N, ...), each item flattened to a row; with `flatten=False` (..., D), each last axis a row.
        weight: (num_hidden, D), where D is the length of a row.
        bias: (num_hidden,), unless `no_bias`.
        output: (N, num_hidden); with `flatten=False` (..., num_hidden).

    Example:
        >>> import operad as od
        >>> data, weight, bias = od.nd.array([[1, 2]]), od.nd.array([[3, 4], [0, 1]]), od.nd.array([5, 6])
        >>> od.nd.FullyConnected(data, weight, bias, num_hidden=2).asnumpy()
        array([[16.,  8.]], dtype=float32)

    Source: FullyConnectedParam, src/operator/nn/fully_connected-inl.h.
    """

    num_hidden = param(int, ge=1, doc="Length of the output's last axis.")
    no_bias = param(bool, False, doc="Leave the bias out.")
    flatten = param(bool, True, doc="Make each item of data one row; else each last axis is a row.")
    contract = Contract(reference=_affine)

    def spec(self) -> str:
        """One line of the shape language, which depends on `flatten`."""
        rows, length, out = ("N, *S", "prod(S)", "N") if self.flatten else ("*B, D", "D", "*B")
        return (
            f"data:({rows}), weight:(num_hidden, {length}), bias:(num_hidden) if not no_bias "
            f"-> output:({out}, num_hidden)"
        )

    def forward(
        self, op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, output: Output
    ) -> None:
        """One product, to which the bias is added in place."""
        _write_product(op_ctx.xp, self._rows(data), weight.T, output, bias)

    @gradient
    def data_gradient(self, op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Output) -> None:
        """The gradient of `data`, which needs the weight alone."""
        _write_product(op_ctx.xp, _as_rows(output_grad), weight, data_grad)

    @gradient
    def weight_gradient(
        self, op_ctx: OpContext, output_grad: Array, data: Array, weight_grad: Output
    ) -> None:
        """The gradient of `weight`, which needs the data alone."""
        _write_product(op_ctx.xp, _as_rows(output_grad).T, self._rows(data), weight_grad)

    @gradient(when=lambda prop: not prop.no_bias)
    def bias_gradient(self, op_ctx: OpContext, output_grad: Array, bias_grad: Output) -> None:
        """The gradient of `bias`: the sum over the rows."""
        if _is_half(output_grad):
            bias_grad.assign(_as_rows(output_grad).sum(0, dtype=np.float32))
            return
        with bias_grad.writing() as out:
            op_ctx.xp.sum(_as_rows(output_grad), axis=0, out=out)

    def cost(self, in_shapes: Any, out_shapes: Any) -> float:
        """Multiplications and additions of the product."""
        return 2.0 * float(prod(out_shapes[0])) * float(in_shapes[1][1])

    def _rows(self, data: Array) -> Array:
        """`data` as a matrix."""
        if self.flatten:
            return data if data.ndim == 2 else data.reshape(data.shape[0], prod(data.shape[1:]))
        return _as_rows(data)


def _as_rows(array: Array) -> Array:
    """`array` as a matrix with the same last axis."""
    return array if array.ndim == 2 else array.reshape(prod(array.shape[:-1]), array.shape[-1])


def _write_product(xp: Any, left: Array, right: Array, output: Output, bias: Array | None = None) -> None:
    """Write `left @ right`, and `bias` added to each row, in `output`'s shape.

    Half precision is multiplied and summed in single precision, which BLAS has and half lacks.
    """
    if _is_half(left):
        value = xp.matmul(left.astype(np.float32), right.astype(np.float32))
        if bias is not None:
            value += bias
        output.assign(value.reshape(output.shape))
        return
    with output.writing() as out:
        target = _matrix_view(out, (left.shape[0], right.shape[1]))
        if target is None:
            value = xp.matmul(left, right).reshape(out.shape)
            out[...] = value if bias is None else value + bias
            return
        xp.matmul(left, right, out=target)
        if bias is not None:
            target += bias


def _matrix_view(array: Array, shape: Shape) -> Array | None:
    """`array` as a matrix that shares its memory; None where strides do not allow that."""
    if array.ndim == 2:
        return array
    return array.reshape(shape) if array.flags.c_contiguous else None


def _is_half(array: Array) -> bool:
    return bool(array.dtype == np.float16)
