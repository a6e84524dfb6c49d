"""Normalizations as ONNX nodes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

Rule = str | Callable[[Any], Any]


def _one_output(node: Any) -> None:
    if getattr(node.op, "output_mean_var", False):
        node.refuse("mean and deviation as outputs have no counterpart")


def _batch_norm(node: Any) -> Any:
    """With the moving statistics; axis 1 is the channels'."""
    _one_output(node)
    data, gamma, beta, mean, var = node.inputs
    rank = len(node.shapes[0])
    axis = getattr(node.op, "axis", 1) % rank
    if node.op.fix_gamma:
        gamma = node.const(np.ones(node.fixed(1)))
    order = [axis if i == 1 else 1 if i == axis else i for i in range(rank)]
    turned = data if axis == 1 else node.add("Transpose", data, perm=order)
    made = node.add("BatchNormalization", turned, gamma, beta, mean, var, epsilon=node.op.eps)
    return made if axis == 1 else node.add("Transpose", made, perm=order)


def _layer_norm(node: Any) -> Any:
    """LayerNormalization over the last axis; over another one by a transpose."""
    _one_output(node)
    data, gamma, beta = node.inputs
    rank = len(node.shapes[0])
    axis = node.op.axis % rank
    order = [rank - 1 if i == axis else axis if i == rank - 1 else i for i in range(rank)]
    turned = data if axis == rank - 1 else node.add("Transpose", data, perm=order)
    made = node.add("LayerNormalization", turned, gamma, beta, axis=-1, epsilon=node.op.eps)
    return made if axis == rank - 1 else node.add("Transpose", made, perm=order)


def _group_norm(node: Any) -> Any:
    """InstanceNormalization of the groups, which gamma and beta belong to here."""
    _one_output(node)
    data, gamma, beta = node.inputs
    groups = node.op.num_groups
    rows = node.add("Reshape", data, node.ints(0, groups, -1))
    return node.reshape(node.add("InstanceNormalization", rows, gamma, beta, epsilon=node.op.eps))


def _l2(node: Any) -> Any:
    """The data over the root of their squares' sum and eps."""
    rank = len(node.shapes[0])
    axes = {"instance": [*range(1, rank)], "channel": [1], "spatial": [*range(2, rank)]}[node.op.mode]
    total = node.reduce("ReduceSumSquare", node.inputs[0], axes)
    return node.add("Div", node.inputs[0], node.add("Sqrt", node.add("Add", total, node.const(node.op.eps))))


def _lrn(node: Any) -> Any:
    """LRN, which runtimes have for images alone."""
    op, data = node.op, node.inputs[0]
    if op.nsize % 2 == 0:
        node.refuse("an even number of channels is summed from another one on in ONNX")
    is_image = len(node.shapes[0]) == 4
    data = data if is_image else node.add("Reshape", data, node.ints(0, 0, 1, -1))
    made = node.add("LRN", data, alpha=op.alpha, beta=op.beta, bias=op.knorm, size=op.nsize)
    return made if is_image else node.reshape(made)


EXPORTS: Final[Mapping[str, Rule]] = {
    **dict.fromkeys(("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm"), _batch_norm),
    "LayerNorm": _layer_norm,
    "GroupNorm": _group_norm,
    "InstanceNorm": lambda node: node.add("InstanceNormalization", *node.inputs, epsilon=node.op.eps),
    "L2Normalization": _l2,
    "LRN": _lrn,
}


def _batch_normalization(node: Any) -> Any:
    """BatchNorm with the statistics given."""
    if node.attr("training_mode", 0):
        return _by_batch(node)
    if node.num_outputs > 1:
        node.refuse("statistics of the batch as outputs of a normalization by given ones have no counterpart")
    return node.call(
        "BatchNorm", *node.syms(), eps=node.attr("epsilon", 1e-5), momentum=node.attr("momentum", 0.9),
        fix_gamma=False, use_global_stats=True,
    )  # fmt: skip


def _by_batch(node: Any) -> list[Any]:
    """With the statistics of the batch, and moving ones after it."""
    rank = node.rank()
    axes, momentum = (0, *range(2, rank)), node.attr("momentum", 0.9)
    column = (1, -1, *(1,) * (rank - 2))
    mean = node.call("mean", node.sym(), axis=axes)
    centred = node.call("broadcast_sub", node.sym(), node.reshape(mean, column))
    variance = node.call("mean", node.call("square", centred), axis=axes)
    scale = node.call("rsqrt", node.call("_plus_scalar", variance, scalar=node.attr("epsilon", 1e-5)))
    scale = node.reshape(node.call("broadcast_mul", scale, node.sym(1)), column)
    made = node.call("broadcast_mul", centred, scale)
    moving = [
        node.call(
            "broadcast_add", node.call("_mul_scalar", node.sym(index), scalar=momentum),
            node.call("_mul_scalar", own, scalar=1 - momentum),
        )
        for index, own in ((3, mean), (4, variance))
    ]  # fmt: skip
    return [node.call("broadcast_add", made, node.reshape(node.sym(2), column)), *moving]


def _layer_normalization(node: Any) -> Any:
    """LayerNorm over one axis; over several, they are made one."""
    lengths, axis = node.lengths(), node.axis(-1)
    rank, data, rest = len(lengths), node.sym(), node.whole(lengths[axis:])
    size = int(np.prod(rest))
    gamma = _row(node, 1, size, 1.0)
    beta = _row(node, 2, size, 0.0)
    flat = data if axis == rank - 1 else node.reshape(data, (*(0,) * axis, -1))
    made = node.call(
        "LayerNorm", flat, gamma, beta, axis=-1, eps=node.attr("epsilon", 1e-5), output_mean_var=True
    )
    output = made[0] if axis == rank - 1 else node.reshape(made[0], (*(0,) * axis, *rest))
    if node.num_outputs == 1:
        return output
    column = (*(0,) * axis, *(1,) * (rank - axis))
    return [output, node.reshape(made[1], column), node.reshape(node.call("reciprocal", made[2]), column)]


def _row(node: Any, index: int, size: int, value: float) -> Any:
    """A factor or bias as a row of the given length."""
    if not node.has(index):
        return node.const(np.full(size, value), node.dtype())
    if node.shape(index) == (size,):
        return node.sym(index)
    if node.is_const(index) and node.value(index).size == 1:
        return node.const(np.full(size, node.scalar(index)), node.dtype())
    if int(np.prod(node.shape(index))) != size:
        node.refuse(f"input {index} has the shape {node.shape(index)}, expected {size} elements")
    return node.reshape(node.sym(index), (-1,))


def _group_normalization(node: Any) -> Any:
    """Groups without a factor, and then one factor for each channel; before version 21 one for each group."""
    groups, eps = node.attr("num_groups"), node.attr("epsilon", 1e-5)
    if node.opset < 21 or node.lengths(1) == (groups,) == node.lengths()[1:2]:
        return node.call("GroupNorm", *node.syms(), num_groups=groups, eps=eps)
    ones, zeros = (node.const(np.full(groups, value), node.dtype()) for value in (1.0, 0.0))
    made = node.call("GroupNorm", node.sym(), ones, zeros, num_groups=groups, eps=eps)
    shape = (1, -1, *(1,) * (node.rank() - 2))
    scaled = node.call("broadcast_mul", made, node.reshape(node.sym(1), shape))
    return node.call("broadcast_add", scaled, node.reshape(node.sym(2), shape))


def _instance(node: Any) -> Any:
    return node.call("InstanceNorm", *node.syms(), eps=node.attr("epsilon", 1e-5))


def _response(node: Any) -> Any:
    if node.attr("size") % 2 == 0:
        node.refuse("an even number of channels is summed from another one on")
    return node.call(
        "LRN",
        node.sym(),
        nsize=node.attr("size"),
        alpha=node.attr("alpha", 1e-4),
        beta=node.attr("beta", 0.75),
        knorm=node.attr("bias", 1.0),
    )


def _lp(node: Any) -> Any:
    """LpNormalization: over the norm along an axis; zeros stay."""
    norm = node.call("norm", node.sym(), ord=node.attr("p", 2), axis=node.axis(-1), keepdims=True)
    is_zero = node.call("_equal_scalar", norm, scalar=0.0)
    return node.call("broadcast_div", node.sym(), node.call("elemwise_add", norm, is_zero))


def _mean_variance(node: Any) -> Any:
    """MeanVarianceNormalization."""
    axes = tuple(node.attr("axes", (0, 2, 3)))
    centred = node.call("broadcast_sub", node.sym(), node.call("mean", node.sym(), axis=axes, keepdims=True))
    variance = node.call("mean", node.call("square", centred), axis=axes, keepdims=True)
    deviation = node.call("_plus_scalar", node.call("sqrt", variance), scalar=1e-9)
    return node.call("broadcast_div", centred, deviation)


IMPORTS: Final[Mapping[str, Rule]] = {
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance,
    "LRN": _response,
    "LpNormalization": _lp,
    "MeanVarianceNormalization": _mean_variance,
}
