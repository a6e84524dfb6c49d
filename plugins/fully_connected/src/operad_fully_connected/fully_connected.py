"""`FullyConnected`: an affine map of each row.

All three passes are one matrix product each, written where the result belongs; BLAS reads transposed
matrices in place, so nothing is copied that is contiguous.

Large products are divided by rows among the threads of the pool, and each part is one of BLAS on one thread.
BLAS's own threads turn for tens of milliseconds after a product, on cores that others want.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final, final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Cost,
    KernelCall,
    OpContext,
    OperatorProperty,
    lock_cost_limit,
    operator,
    param,
)

_DIVIDED_FLOPS: Final = 2.0**25
"""Operations from which a product is divided: about 0.3 ms."""
_PARTS: Final = 4
_FEWEST_ROWS: Final = 32
"""Rows of a part: with fewer, reading the other matrix costs more than the products."""
_ROWS_TOGETHER: Final = 16
"""Rows of which BLAS computes some at once: parts have multiples of them."""


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

    spec = (
        "data:(N, *S) if flatten, data:(*B, D) if not flatten,"
        " weight:(num_hidden, prod(S)) if flatten, weight:(num_hidden, D) if not flatten,"
        " bias:(num_hidden) if not no_bias"
        " -> output:(N, num_hidden) if flatten, output:(*B, num_hidden) if not flatten"
    )
    compute_dtype = "float32"
    multiplies = ("data", "weight")

    @lock_cost_limit(5)
    def forward(data: Array, weight: Array, bias: Array | None, flatten: bool, output: Array) -> None:
        """`data @ weight.T`, to which the bias is added in place."""
        if data.ndim == output.ndim == 2 and output.flags.c_contiguous:
            data.dot(weight.T, output)  # 0.6 us less than `matmul`
        else:
            _product(_rows(data, flatten), weight.T, output)
        if bias is not None:
            np.add(output, bias, output)

    def data_grad(output_grad: Array, weight: Array, data_grad: Array) -> None:
        """`d/d data = output_grad @ weight`, which needs the weight alone."""
        _product(_rows(output_grad), weight, data_grad)

    def weight_grad(output_grad: Array, data: Array, flatten: bool, weight_grad: Array) -> None:
        """`d/d weight = output_grad.T @ data`, which needs the data alone."""
        _product(_rows(output_grad).T, _rows(data, flatten), weight_grad)

    def bias_grad(output_grad: Array, bias_grad: Array) -> None:
        """`d/d bias = output_grad`, summed over the rows."""
        np.sum(_rows(output_grad), axis=0, out=bias_grad)

    def cost(self, in_shapes: Any, out_shapes: Any) -> Cost:
        """The product, and the sum with the bias."""
        size = prod(out_shapes[0])
        return Cost(loops=size, flops=2.0 * size * in_shapes[1][1], beside_us=3)


@final
class _IsDivided:
    """Condition: products are so large that their parts are worth handing over."""

    def __call__(self, call: KernelCall) -> bool | str:
        """True, or the reason why not."""
        if call.ctx.is_gpu:
            return "threads of the host divide products of the host"
        flops = call.prop.cost(call.in_shapes, call.out_shapes).flops
        return flops >= _DIVIDED_FLOPS or f"{flops:.3g} operations, parts pay from {_DIVIDED_FLOPS:.3g}"

    def regardless_of_size(self, call: KernelCall) -> bool:
        """True on the host: the checks try the kernels on small arrays."""
        return not call.ctx.is_gpu


_is_divided: Final = _IsDivided()


def _divided_cost(call: KernelCall) -> Cost:
    whole: Cost = call.prop.cost(call.in_shapes, call.out_shapes)
    return whole._replace(flops=0.0, pooled_flops=whole.flops, beside_us=20)


@FullyConnected.kernel("forward", name="by_rows", priority=1, when=_is_divided, cost=_divided_cost)
def _forward_by_rows(
    op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, flatten: bool, output: Array
) -> None:
    """`data @ weight.T + bias`, some rows at a time."""
    _divided(op_ctx, _rows(data, flatten), weight.T, output)
    if bias is not None:
        np.add(output, bias, output)


@FullyConnected.kernel(
    "data_grad", name="data_grad_by_rows", priority=1, when=_is_divided, cost=_divided_cost
)
def _data_grad_by_rows(op_ctx: OpContext, output_grad: Array, weight: Array, data_grad: Array) -> None:
    """`output_grad @ weight`, some rows at a time."""
    _divided(op_ctx, _rows(output_grad), weight, data_grad)


@FullyConnected.kernel(
    "weight_grad", name="weight_grad_by_rows", priority=1, when=_is_divided, cost=_divided_cost
)
def _weight_grad_by_rows(
    op_ctx: OpContext, output_grad: Array, data: Array, flatten: bool, weight_grad: Array
) -> None:
    """`output_grad.T @ data`, some rows at a time."""
    _divided(op_ctx, _rows(output_grad).T, _rows(data, flatten), weight_grad)


def _divided(op_ctx: OpContext, left: Array, right: Array, out: Array) -> None:
    """Write `left @ right` in the shape of `out`; parts are cut by shapes alone."""
    rows, columns = left.shape[0], right.shape[1]
    if not out.flags.c_contiguous:
        _product(left, right, out)
        return
    target = out.reshape(rows, columns)
    most = max(1, min(_PARTS, rows // _FEWEST_ROWS))
    step = -(-rows // most // _ROWS_TOGETHER) * _ROWS_TOGETHER
    count = -(-rows // step)

    def part(number: int, slot: int) -> None:
        some = slice(number * step, (number + 1) * step)
        np.matmul(left[some], right, out=target[some])

    op_ctx.parallel(part, count, min(op_ctx.num_threads, count))


def _rows(array: Array, flatten: bool = False) -> Array:
    """`array` as a matrix with the same last axis; with `flatten` with one row for each item."""
    if array.ndim == 2:
        return array
    if flatten:
        return array.reshape(array.shape[0], prod(array.shape[1:]))
    return array.reshape(prod(array.shape[:-1]), array.shape[-1])


def _product(left: Array, right: Array, out: Array) -> None:
    """Write `left @ right` in the shape of `out`, without a copy where strides allow that."""
    shape = (left.shape[0], right.shape[1])
    if out.shape == shape:
        np.matmul(left, right, out=out)
    elif out.flags.c_contiguous:
        np.matmul(left, right, out=out.reshape(shape))
    else:
        out[...] = np.matmul(left, right).reshape(out.shape)
