"""The quadratic function as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def quadratic(node: Any) -> Any:
    """`(a x + b) x + c`."""
    data, op = node.inputs[0], node.op
    inner = node.add("Add", node.add("Mul", data, node.const(op.a)), node.const(op.b))
    return node.add("Add", node.add("Mul", inner, data), node.const(op.c))


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"_contrib_quadratic": quadratic}
