"""Shapes and order of elements as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def flatten(node: Any) -> Any:
    """Flatten."""
    return node.add("Flatten", node.inputs[0], axis=1)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"Flatten": flatten}
