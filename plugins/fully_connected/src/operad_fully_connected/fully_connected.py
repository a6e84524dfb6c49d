"""`FullyConnected`: an affine map of each row.

All three passes are one matrix product each, written where the result belongs; BLAS reads transposed
matrices in place, so nothing is copied that is contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Cost,
    DType,
    KernelCall,
    OpContext,
    OperatorProperty,
    Prepared,
    Shape,
    blocked_sum,
    lock_cost_limit,
    operator,
    param,
    product_cost,
)
from operad_sdk.multiplication import reason_for_blas
from operad_sdk.products import divide, divided, divided_product, product, tile
from operad_sdk.vector import InVectorCode, PackedMatrix, pack, packed_elements, tiled_product


def _affine(data: Array, weight: Array, *bias: Array, flatten: bool) -> Array:
    """The definition, in double precision."""
    items = data.reshape(len(data), prod(data.shape[1:])) if flatten else data
    value = np.einsum("...d,hd->...h", items.astype(np.float64), weight.astype(np.float64))
    return np.asarray(value + bias[0] if bias else value)


def _rows(array: Array, flatten: bool = False) -> Array:
    """`array` as a matrix with the same last axis; with `flatten` with one row for each item."""
    if array.ndim == 2:
        return array
    if flatten:
        return array.reshape(array.shape[0], prod(array.shape[1:]))
    return array.reshape(prod(array.shape[:-1]), array.shape[-1])


def _forward_factors(
    data: Array, weight: Array, bias: Array | None, flatten: bool, output: Array
) -> tuple[Array, Array, Array, Array | None]:
    return _rows(data, flatten), weight.T, output, bias


def _data_factors(output_grad: Array, weight: Array, data_grad: Array) -> tuple[Array, Array, Array]:
    return _rows(output_grad), weight, data_grad


def _weight_factors(
    output_grad: Array, data: Array, flatten: bool, weight_grad: Array
) -> tuple[Array, Array, Array]:
    return _rows(output_grad).T, _rows(data, flatten), weight_grad


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
    items = ("data",)

    @lock_cost_limit(5)
    def forward(data: Array, weight: Array, bias: Array | None, flatten: bool, output: Array) -> None:
        """`data @ weight.T`, to which the bias is added in place."""
        units, inner = weight.shape
        if inner > 1 and output.flags.c_contiguous:  # `dot` takes 0.6 us less than `matmul`
            data.reshape(-1, inner).dot(weight.T, output.reshape(-1, units))
        else:
            product(_rows(data, flatten), weight.T, output)
        if bias is not None:
            np.add(output, bias, output)

    def data_grad(output_grad: Array, weight: Array, data_grad: Array) -> None:
        """`d/d data = output_grad @ weight`, which needs the weight alone."""
        product(*_data_factors(output_grad, weight, data_grad))

    def weight_grad(output_grad: Array, data: Array, flatten: bool, weight_grad: Array) -> None:
        """`d/d weight = output_grad.T @ data`, which needs the data alone."""
        product(*_weight_factors(output_grad, data, flatten, weight_grad))

    def bias_grad(output_grad: Array, bias_grad: Array) -> None:
        """`d/d bias = output_grad`, summed over the rows."""
        blocked_sum(_rows(output_grad), 0, out=bias_grad)

    def cost(self, in_shapes: Any, out_shapes: Any) -> Cost:
        """The product, and the sum with the bias."""
        size = prod(out_shapes[0])
        made = product_cost(2.0 * size * in_shapes[1][1], *in_shapes[:2], *out_shapes)
        return made._replace(loops=size, beside_us=3)


@divided(FullyConnected, "forward")
def _forward_in_parts(
    op_ctx: OpContext, data: Array, weight: Array, bias: Array | None, flatten: bool, output: Array
) -> None:
    """`data @ weight.T + bias`."""
    divided_product(op_ctx, _rows(data, flatten), weight.T, output)
    if bias is not None:
        np.add(output, bias, output)


divide(FullyConnected, data_grad=_data_factors, weight_grad=_weight_factors)
tile(FullyConnected, forward=_forward_factors, data_grad=_data_factors, weight_grad=_weight_factors)


_FEW_ROWS: Final = 128
"""Rows up to which reading the weights as they stand is a good part of the product: a tenth of it for 128."""


def _reason_to_pack_nothing(call: KernelCall, is_large: bool) -> str | None:
    if set(call.in_types) not in ({np.dtype(np.float32)}, {np.dtype(np.float64)}):
        return "weights are packed in float32 or float64"
    weight, rows = call.shape("weight"), call.size("output") // call.prop.num_hidden
    if not rows or not weight[1]:
        return "there is nothing to compute"
    if is_large:
        return None
    if call.is_train:
        return "weights that are trained change at every step"
    if rows > _FEW_ROWS:
        return f"{rows} rows, packed weights pay up to {_FEW_ROWS}"
    return reason_for_blas(rows, np.empty(weight, call.dtype("weight")).T)


def _pack(call: KernelCall) -> Callable[[Array, Array], None]:
    return lambda weight, packed: pack(weight.T, packed)


def _packed(call: KernelCall) -> tuple[Shape, DType]:
    weight = call.dtype("weight")
    return (packed_elements(call.shape("weight")[::-1], weight),), weight


@FullyConnected.kernel(
    "forward",
    device="cpu",
    name="packed",
    priority=3,
    when=InVectorCode(_reason_to_pack_nothing),
    prepares={"packed": Prepared(("weight",), ("forward",), _packed, _pack)},
)
def _forward_of_packed(
    op_ctx: OpContext,
    data: Array,
    weight: Array,
    bias: Array | None,
    flatten: bool,
    output: Array,
    packed: Array | None,
) -> None:
    """`data @ weight.T + bias`, of weights that are packed once for each version."""
    left, right, out, bias = _forward_factors(data, weight, bias, flatten, output)
    is_plain = out.flags.c_contiguous and (bias is None or bias.flags.c_contiguous)
    if packed is None or not is_plain:
        tiled_product(left, right, out, bias, op_ctx=op_ctx)
    else:
        PackedMatrix(right.shape, packed).multiply(left, _rows(out), bias, op_ctx=op_ctx)
