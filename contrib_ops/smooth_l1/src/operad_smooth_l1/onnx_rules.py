"""The smooth absolute value as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def smooth_l1(node: Any) -> Any:
    """`(s x)^2 / 2` between `-1/s^2` and `1/s^2`, else `|x| - 1/(2 s^2)`."""
    data, square = node.inputs[0], node.op.scalar**2
    size = node.add("Abs", data)
    near = node.add("Mul", node.add("Mul", data, data), node.const(square / 2))
    far = node.add("Sub", size, node.const(0.5 / square))
    return node.add("Where", node.add("Less", size, node.const(1 / square)), near, far)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"smooth_l1": smooth_l1}
