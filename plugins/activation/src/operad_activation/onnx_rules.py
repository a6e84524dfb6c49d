"""Activations and softmax as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_CURVES: Final = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus", "softsign": "Softsign",
}  # fmt: skip


def activation(node: Any) -> Any:
    """The curve."""
    return node.add(_CURVES[node.op.act_type], *node.inputs)


def softmax(kind: str, sign: int = 1) -> Callable[[Any], Any]:
    """Softmax along an axis, of data that a temperature divides."""

    def rule(node: Any) -> Any:
        op, data = node.op, node.inputs[0]
        if op.use_length:
            node.refuse("softmax over a part of each row has no counterpart")
        factor = sign / (op.temperature or 1.0)
        if factor != 1:
            data = node.add("Mul", data, node.const(factor))
        made = node.add(kind, data, axis=op.axis)
        return made if node.out_dtypes[0] == node.dtypes[0] else node.cast(made, node.out_dtypes[0])

    return rule


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Activation": activation,
    "softmax": softmax("Softmax"),
    "softmin": softmax("Softmax", -1),
    "log_softmax": softmax("LogSoftmax"),
}
