"""Products of attention as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def _parts(node: Any, index: int, count: int) -> list[str]:
    """Queries, keys and values of interleaved heads, each (batch * heads, length, size)."""
    length, batch, width = node.fixed(index)
    heads = node.op.heads
    size = width // heads // count
    value = node.add("Reshape", node.inputs[index], node.ints(length, batch * heads, count, size))
    value = node.add("Transpose", value, perm=(2, 1, 0, 3))
    return [node.add("Gather", value, node.const(i, "int64"), axis=0) for i in range(count)]


def _scores(node: Any, queries: str, keys: str, size: int) -> Any:
    scaled = node.add("Mul", queries, node.const(size**-0.5))
    return node.add("MatMul", scaled, node.add("Transpose", keys, perm=(0, 2, 1)))


def _joined(node: Any, shares: str, values: str, batch: int) -> Any:
    """Heads side by side again: (length, batch, width)."""
    made = node.add("Transpose", node.add("MatMul", shares, values), perm=(1, 0, 2))
    return node.add("Reshape", made, node.ints(0, batch, -1))


def _selfatt_qk(node: Any) -> Any:
    queries, keys, _ = _parts(node, 0, 3)
    return _scores(node, queries, keys, node.fixed()[2] // node.op.heads // 3)


def _encdec_qk(node: Any) -> Any:
    (queries,), (keys, _) = _parts(node, 0, 1), _parts(node, 1, 2)
    return _scores(node, queries, keys, node.fixed()[2] // node.op.heads)


def _valatt(count: int) -> Callable[[Any], Any]:
    return lambda node: _joined(node, node.inputs[1], _parts(node, 0, count)[-1], node.fixed()[1])


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "_contrib_div_sqrt_dim": lambda node: node.add(
        "Mul", node.inputs[0], node.const(node.fixed_lengths(0, len(node.shapes[0]) - 1)[0] ** -0.5)
    ),
    "_contrib_interleaved_matmul_selfatt_qk": _selfatt_qk,
    "_contrib_interleaved_matmul_selfatt_valatt": _valatt(3),
    "_contrib_interleaved_matmul_encdec_qk": _encdec_qk,
    "_contrib_interleaved_matmul_encdec_valatt": _valatt(2),
}
