"""FullyConnected as ONNX nodes, and ONNX's Gemm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def fully_connected(node: Any) -> Any:
    """Gemm over rows; with `flatten=False` a product over the last axis."""
    data, weight, *bias = node.inputs
    if node.op.flatten or len(node.shapes[0]) == 2:
        rows = data if len(node.shapes[0]) == 2 else node.add("Flatten", data, axis=1)
        return node.add("Gemm", rows, weight, *bias, transB=1)
    product = node.add("MatMul", data, node.add("Transpose", weight, perm=(1, 0)))
    return node.add("Add", product, *bias) if bias else product


def gemm(node: Any) -> Any:
    """`alpha * A @ B + beta * C`; FullyConnected where that is what it is."""
    data, weight = node.sym(0), node.sym(1)
    alpha, beta = node.attr("alpha", 1.0), node.attr("beta", 1.0)
    if node.attr("transA", 0):
        data = node.call("transpose", data)
    weight_shape = node.shape(1)
    is_turned = node.attr("transB", 0)
    is_bias = (
        node.has(2) and node.rank(2) == 1 and node.shape(2) == weight_shape[: 1 if is_turned else None][-1:]
    )
    if alpha == beta == 1 and (is_bias or not node.has(2)) and node.is_weight(1):
        hidden = weight_shape[0 if is_turned else 1]
        weight = weight if is_turned else node.call("transpose", weight)
        more = [node.sym(2)] if is_bias else []
        return node.call(
            "FullyConnected", data, weight, *more, num_hidden=hidden, no_bias=not more, flatten=False
        )
    product = node.call("dot", data, weight, transpose_b=bool(is_turned))
    if alpha != 1:
        product = node.call("_mul_scalar", product, scalar=alpha)
    if not node.has(2):
        return product
    added = node.sym(2) if beta == 1 else node.call("_mul_scalar", node.sym(2), scalar=beta)
    return node.call("broadcast_add", product, added)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"FullyConnected": fully_connected}
IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"Gemm": gemm}
