"""Losses as what they compute in inference, and ONNX's losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

Rule = str | Callable[[Any], Any]


def _first(node: Any) -> Any:
    return node.add("Identity", node.inputs[0])


def _softmax_output(node: Any) -> Any:
    """Softmax over each item, or over the channels of each position."""
    op, data, shape = node.op, node.inputs[0], node.shapes[0]
    if op.multi_output or (len(shape) == 2 and not op.preserve_shape):
        return node.add("Softmax", data, axis=1)
    if op.preserve_shape:
        return node.add("Softmax", data, axis=-1)
    return node.reshape(node.add("Softmax", node.add("Flatten", data, axis=1), axis=1), like=(None, 0))


def _cross_entropy(node: Any) -> Any:
    """The sum of `-log(softmax)` at each label that is a class."""
    (classes,) = node.fixed_lengths(0, 1)
    labels = node.cast(node.inputs[1], "int64")
    places = node.add("Clip", labels, node.ints_scalar(0), node.ints_scalar(classes - 1))
    logs = node.add("LogSoftmax", node.inputs[0], axis=1)
    found = node.squeeze(node.add("GatherElements", logs, node.unsqueeze(places, 1), axis=1), 1)
    known = node.add("Where", node.add("Equal", labels, places), found, node.const(0))
    total = node.reduce("ReduceSum", known, None, keepdims=False)
    return node.add("Reshape", node.add("Neg", total), node.ints(1))


EXPORTS: Final[Mapping[str, Rule]] = {
    "SoftmaxOutput": _softmax_output,
    "LogisticRegressionOutput": lambda node: node.add("Sigmoid", node.inputs[0]),
    **dict.fromkeys(("LinearRegressionOutput", "MAERegressionOutput", "MakeLoss", "SVMOutput"), _first),
    "softmax_cross_entropy": _cross_entropy,
}


def _likelihood(node: Any, logs: Any) -> Any:
    """`-weight[label] * logs[label]`, summed or over the weights' sum."""
    labels, ignored, rank = node.sym(1), node.attr("ignore_index"), node.rank()
    order = (0, *range(2, rank), 1)
    rows = logs if rank == 2 else node.call("transpose", logs, axes=order)
    safe, kept = labels, None
    if ignored is not None:
        kept = node.cast(node.call("_not_equal_scalar", labels, scalar=ignored), node.dtype())
        safe = node.call("elemwise_mul", labels, node.cast(kept, node.dtype(1)))
    loss = node.call("negative", node.call("pick", rows, safe, axis=-1))
    weights = node.call("take", node.sym(2), safe, axis=0) if node.has(2) else kept
    if node.has(2) and kept is not None:
        weights = node.call("elemwise_mul", weights, kept)
    loss = loss if weights is None else node.call("elemwise_mul", loss, weights)
    return _summed(node, loss, weights)


def _summed(node: Any, loss: Any, weights: Any) -> Any:
    reduction = node.attr("reduction", "mean")
    if reduction == "none":
        return loss
    total = node.call("sum" if reduction == "sum" or weights is not None else "mean", loss)
    if reduction == "mean" and weights is not None:
        total = node.call("elemwise_div", total, node.call("sum", weights))
    return node.reshape(total, ())


def _softmax_loss(node: Any) -> Any:
    """SoftmaxCrossEntropyLoss, with the logarithms as its second output."""
    logs = node.call("log_softmax", node.sym(), axis=1)
    return [_likelihood(node, logs), logs]


IMPORTS: Final[Mapping[str, Rule]] = {
    "NegativeLogLikelihoodLoss": lambda node: _likelihood(node, node.sym()),
    "SoftmaxCrossEntropyLoss": _softmax_loss,
}
