"""Operators of transformers as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]


def _silu(node: Any, data: str) -> Any:
    return node.add("Mul", data, node.add("Sigmoid", data))


def _gelu_tanh(node: Any, data: str) -> Any:
    """`x (1 + tanh(u)) / 2`; an operator since version 20."""
    if node.opset >= 20:
        return node.add("Gelu", data, approximate="tanh")
    cube = node.add("Mul", node.add("Mul", data, node.add("Mul", data, data)), node.const(0.044715))
    inner = node.add("Mul", node.add("Add", data, cube), node.const((2 / np.pi) ** 0.5))
    half = node.add("Mul", data, node.const(0.5))
    return node.add("Mul", half, node.add("Add", node.add("Tanh", inner), node.const(1)))


def _rms_norm(node: Any) -> Any:
    """The data over the root of the mean square, times a weight."""
    data, weight = node.inputs
    mean = node.reduce("ReduceMean", node.add("Mul", data, data), [-1])
    root = node.add("Sqrt", node.add("Add", mean, node.const(node.op.eps)))
    return node.add("Mul", node.add("Div", data, root), weight)


def _rotated(node: Any) -> Any:
    """Pairs turned by angles that are constants; only for positions from 0 on."""
    op, (length, width) = node.op, node.fixed_lengths(0, len(node.shapes[0]) - 2)
    if op.use_offset:
        node.refuse("positions from an offset on have no counterpart")
    angles = np.arange(length)[:, None] * op.base ** (-np.arange(0, width, 2) / max(width, 1))
    cos, sin = (node.const(function(angles)) for function in (np.cos, np.sin))
    data, end = node.inputs[0], 2**62
    if op.layout == "halves":
        first, second = node.split(data, [width // 2] * 2, -1)
    else:
        first, second = (node.slice(data, [start], [end], [-1], [2]) for start in (0, 1))
    left = node.add("Sub", node.add("Mul", first, cos), node.add("Mul", second, sin))
    right = node.add("Add", node.add("Mul", second, cos), node.add("Mul", first, sin))
    if op.layout == "halves":
        return node.add("Concat", left, right, axis=-1)
    pairs = node.add("Concat", node.unsqueeze(left, -1), node.unsqueeze(right, -1), axis=-1)
    return node.reshape(pairs, like=(*node.shapes[0][:-1], 0, 0))


def _attention(node: Any) -> Any:
    """`softmax(query key^T / sqrt(D) + mask) value`, keys and values repeated for their groups."""
    op = node.op
    query, key, value, *more = node.inputs
    if op.use_length or op.use_kept:
        node.refuse("lengths of items, and factors of the softmax, have no counterpart")
    (steps, width), (keys, _) = node.fixed_lengths(0, 2), node.fixed_lengths(1, 2)
    if op.group_size > 1:
        heads = node.fixed_lengths(1, 1)[0]
        places = node.ints(*(head for head in range(heads) for _ in range(op.group_size)))
        key, value = (node.add("Gather", each, places, axis=1) for each in (key, value))
    scores = node.add("MatMul", query, node.add("Transpose", key, perm=(0, 1, 3, 2)))
    scores = node.add("Mul", scores, node.const(width**-0.5))
    if more:
        scores = node.add("Add", scores, more[0])
    if op.causal:
        if steps > keys:
            node.refuse("queries that see no key have no counterpart")
        hidden = np.arange(keys) > np.arange(steps)[:, None] + (keys - steps)
        scores = node.add(
            "Add", scores, node.const(np.where(hidden, -6e4 if node.dtypes[0].itemsize == 2 else -1e30, 0.0))
        )
    return node.add("MatMul", node.add("Softmax", scores, axis=-1), value)


def _cross_entropy(node: Any) -> Any:
    if node.op.smoothing:
        node.refuse("smoothed labels have no counterpart")
    data, labels, *weights = node.inputs
    made = node.add(
        "SoftmaxCrossEntropyLoss", data, node.cast(labels, "int64"), *weights, reduction="mean",
        ignore_index=node.op.ignored,
    )  # fmt: skip
    return node.add("Reshape", made, node.ints(1))


def _top_k(node: Any) -> Any:
    """Softmax of the largest, written among zeros."""
    values, places = node.add("TopK", node.inputs[0], node.ints(node.op.k), outputs=2, axis=-1)
    zeros = node.add("Expand", node.const(0), node.add("Shape", node.inputs[0]))
    return node.add("ScatterElements", zeros, places, node.add("Softmax", values, axis=-1), axis=-1)


EXPORTS: Final[Mapping[str, Rule]] = {
    "RMSNorm": _rms_norm,
    "attention": _attention,
    "cross_entropy": _cross_entropy,
    "geglu": lambda node: node.add("Mul", _gelu_tanh(node, node.inputs[0]), node.inputs[1]),
    "gelu_tanh": lambda node: _gelu_tanh(node, node.inputs[0]),
    "rotary_embedding": _rotated,
    "silu": lambda node: _silu(node, node.inputs[0]),
    "swiglu": lambda node: node.add("Mul", _silu(node, node.inputs[0]), node.inputs[1]),
    "top_k_gating": _top_k,
}
ABSENT: Final[Mapping[str, str]] = {
    "cached_attention": "its cache is a state, which a model cannot keep; export attention over all steps",
}


def _swish(node: Any) -> Any:
    alpha = node.attr("alpha", 1.0)
    if alpha == 1:
        return node.call("silu", node.sym())
    gate = node.call("sigmoid", node.call("_mul_scalar", node.sym(), scalar=alpha))
    return node.call("elemwise_mul", node.sym(), gate)


def _root_mean_square(node: Any) -> Any:
    """RMSNorm over the last axis; over several, they are made one."""
    lengths, axis = node.lengths(), node.axis(-1)
    eps, rest = node.attr("epsilon", 1e-5), node.whole(lengths[axis:])
    if node.shape(1) != rest:
        node.refuse(f"a factor of shape {node.shape(1)} has no counterpart")
    if axis == len(lengths) - 1:
        return node.call("RMSNorm", node.sym(), node.sym(1), eps=eps)
    flat = node.reshape(node.sym(), (*(0,) * axis, -1))
    made = node.call("RMSNorm", flat, node.reshape(node.sym(1), (-1,)), eps=eps)
    return node.reshape(made, (*(0,) * axis, *rest))


IMPORTS: Final[Mapping[str, Rule]] = {
    "Swish": _swish,
    "RMSNormalization": _root_mean_square,
}
