"""The comparison of arrays as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def allclose(node: Any) -> Any:
    """The least of `|a - b| <= atol + rtol |b|`, or both equal, or both no numbers."""
    one, other = node.inputs
    limit = node.add(
        "Add", node.add("Mul", node.add("Abs", other), node.const(node.op.rtol)), node.const(node.op.atol)
    )
    is_near = node.add("LessOrEqual", node.add("Abs", node.add("Sub", one, other)), limit)
    is_near = node.add("Or", is_near, node.add("Equal", one, other))
    if node.op.equal_nan:
        is_near = node.add("Or", is_near, node.add("And", node.add("IsNaN", one), node.add("IsNaN", other)))
    least = node.reduce("ReduceMin", node.cast(is_near, "int32"), None, keepdims=False)
    return node.cast(least, node.out_dtypes[0])


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"_contrib_allclose": allclose}
