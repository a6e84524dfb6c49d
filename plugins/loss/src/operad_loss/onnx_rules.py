"""Losses as what they compute in inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def softmax_output(node: Any) -> Any:
    """Softmax over each item, or over the channels of each position."""
    op, data, shape = node.op, node.inputs[0], node.shapes[0]
    if op.preserve_shape:
        return node.add("Softmax", data, axis=-1)
    if op.multi_output or len(shape) == 2:
        return node.add("Softmax", data, axis=1)
    return node.reshape(node.add("Softmax", node.add("Flatten", data, axis=1), axis=1))


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {"SoftmaxOutput": softmax_output}
