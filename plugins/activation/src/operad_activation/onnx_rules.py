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


def softmax_activation(node: Any) -> Any:
    """Softmax over the last axis, or over the channels."""
    return node.add("Softmax", *node.inputs, axis=1 if node.op.mode == "channel" else -1)


def _gelu(node: Any) -> Any:
    """`x (1 + erf(x / sqrt(2))) / 2`; an operator since version 20."""
    data = node.inputs[0]
    if node.opset >= 20:
        return node.add("Gelu", data)
    erf = node.add("Erf", node.add("Mul", data, node.const(0.5**0.5)))
    half = node.add("Mul", data, node.const(0.5))
    return node.add("Mul", half, node.add("Add", erf, node.const(1)))


def leaky_relu(node: Any) -> Any:
    """LeakyRelu, Elu, Selu, Gelu or PRelu; the mean slope for one that training draws."""
    op, data = node.op, node.inputs[0]
    kind = op.act_type
    if kind == "prelu":
        rank = len(node.shapes[0])
        slopes = node.inputs[1]
        if rank > 2 and node.shapes[1] != (1,):
            slopes = node.unsqueeze(slopes, *range(1, rank - 1))
        return node.add("PRelu", data, slopes)
    if kind == "gelu":
        return _gelu(node)
    if kind == "selu":
        return node.add("Selu", data)
    slope = (op.lower_bound + op.upper_bound) / 2 if kind == "rrelu" else op.slope
    return node.add("Elu" if kind == "elu" else "LeakyRelu", data, alpha=slope)


EXPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Activation": activation,
    "softmax": softmax("Softmax"),
    "softmin": softmax("Softmax", -1),
    "log_softmax": softmax("LogSoftmax"),
    "SoftmaxActivation": softmax_activation,
    "LeakyReLU": leaky_relu,
}


def _rectified(act_type: str, default: float) -> Callable[[Any], Any]:
    return lambda node: node.call(
        "LeakyReLU", node.sym(), act_type=act_type, slope=node.attr("alpha", default)
    )


def _prelu(node: Any) -> Any:
    """PRelu; slopes by channel are LeakyReLU's, others are broadcast."""
    data, slopes, lengths = node.sym(), node.sym(1), node.lengths(1)
    is_older = node.opset < 7 and len(lengths) == 1
    if is_older or (node.rank() > 1 and lengths == (node.lengths()[1], *(1,) * (node.rank() - 2))):
        flat = slopes if len(lengths) == 1 else node.reshape(slopes, (-1,))
        return node.call("LeakyReLU", data, flat, act_type="prelu")
    below = node.call("broadcast_mul", node.call("_minimum_scalar", data, scalar=0.0), slopes)
    return node.call("broadcast_add", node.call("_maximum_scalar", data, scalar=0.0), below)


def _exponential(node: Any) -> Any:
    """Elu, Celu and Selu with any alpha: `factor * (max(x, 0) + alpha * expm1(min(x, 0) / scale))`."""
    alpha = node.attr("alpha", 1.67326319217681884765625 if node.op_type == "Selu" else 1.0)
    factor = node.attr("gamma", 1.05070102214813232421875) if node.op_type == "Selu" else 1.0
    below = node.call("_minimum_scalar", node.sym(), scalar=0.0)
    if node.op_type == "Celu":
        below = node.call("_div_scalar", below, scalar=alpha)
    below = node.call("_mul_scalar", node.call("expm1", below), scalar=alpha * factor)
    above = node.call("_maximum_scalar", node.sym(), scalar=0.0)
    above = above if factor == 1 else node.call("_mul_scalar", above, scalar=factor)
    return node.call("elemwise_add", above, below)


def _softmax(operator: str) -> Callable[[Any], Any]:
    """Before version 13, over all axes from `axis` on."""

    def rule(node: Any) -> Any:
        rank = node.rank()
        axis = node.axis(-1 if node.opset >= 13 else 1)
        if node.opset >= 13 or axis == rank - 1:
            return node.call(operator, node.sym(), axis=axis)
        flat = node.reshape(node.sym(), (*(0,) * axis, -1))
        return node.call("reshape_like", node.call(operator, flat, axis=-1), node.sym())

    return rule


def _hardmax(node: Any) -> Any:
    """1 at the first of the largest elements, 0 elsewhere."""
    axis, rank = node.axis(-1 if node.opset >= 13 else 1), node.rank()
    if node.opset < 13 and axis != rank - 1:
        node.refuse("over several axes, as before version 13, it has no counterpart")
    depth = node.shape()[axis]
    made = node.call(
        "one_hot", node.call("argmax", node.sym(), axis=axis), depth=depth, dtype=node.dtype().name
    )
    order = [*range(axis), rank - 1, *range(axis, rank - 1)]
    return made if axis == rank - 1 else node.call("transpose", made, axes=tuple(order))


def _gelu_of(node: Any) -> Any:
    if node.attr("approximate", "none") == "tanh":
        return node.call("gelu_tanh", node.sym())
    return node.call("LeakyReLU", node.sym(), act_type="gelu")


def _mish(node: Any) -> Any:
    """`x tanh(softplus(x))`."""
    soft = node.call("Activation", node.sym(), act_type="softrelu")
    return node.call("elemwise_mul", node.sym(), node.call("tanh", soft))


IMPORTS: Final[Mapping[str, str | Callable[[Any], Any]]] = {
    "Softplus": lambda node: node.call("Activation", node.sym(), act_type="softrelu"),
    "LeakyRelu": _rectified("leaky", 0.01),
    "Elu": _exponential,
    "Celu": _exponential,
    "Selu": _exponential,
    "PRelu": _prelu,
    "Gelu": _gelu_of,
    "Mish": _mish,
    "Softmax": _softmax("softmax"),
    "LogSoftmax": _softmax("log_softmax"),
    "Hardmax": _hardmax,
}
