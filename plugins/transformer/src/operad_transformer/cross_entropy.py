"""The loss of a classifier, from its logits: `cross_entropy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Drawn,
    DType,
    OperatorProperty,
    Shape,
    Shapes,
    blocked_sum,
    operator,
    param,
    positive,
)


def _log_shares(data: Array) -> Array:
    shifted = data - data.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _rows(label: Array, weight: Array | None, ignored: int, dtype: DType) -> tuple[Array, Array, Any, Array]:
    """Rows that count, classes of all, weights of these, and their sum, or 1 if it is 0."""
    counted = label != ignored
    classes = np.where(counted, label, 0)
    if weight is None:
        return counted, classes, 1.0, np.maximum(counted.sum(dtype=dtype), 1)
    own = weight[classes]
    total = np.where(counted, own, 0).sum()
    return counted, classes, own, np.where(total == 0, 1, total)


def _loss(data: Array, label: Array, weight: Array | None, smoothing: float, ignored: int) -> Array:
    """The mean loss, of shape (1,)."""
    counted, classes, own, total = _rows(label, weight, ignored, data.dtype)
    rows, logs = np.arange(len(label)), _log_shares(data)
    losses = np.zeros_like(data, shape=len(label))
    if smoothing < 1:
        losses = losses - (1 - smoothing) * (own * logs[rows, classes])
    if smoothing > 0:
        losses = losses - smoothing * (logs if weight is None else logs * weight).mean(axis=1)
    return np.where(counted, losses, 0).sum(keepdims=True) / total


def _reference(data: Array, label: Array, *weight: Array, smoothing: float, ignored: int) -> Array:
    loss, total, weights = 0.0, 0.0, weight[0] if weight else np.ones_like(data, shape=data.shape[1])
    for row, place in zip(data, label, strict=True):
        if place != ignored:
            target = smoothing / len(row) * weights
            target[int(place)] += (1 - smoothing) * weights[int(place)]
            loss, total = loss - target @ (row - np.logaddexp.reduce(row)), total + weights[int(place)]
    return np.array([loss / total if total else 0.0])


def _labels(rng: np.random.Generator, shape: Shape, prop: Any, shapes: Shapes) -> Array:
    """Classes; a quarter of the rows do not count."""
    labels = rng.integers(0, shapes["data"][1], shape)
    return np.where(rng.random(shape) < 0.25, prop.ignored, labels)


@operator("cross_entropy")
class CrossEntropy(OperatorProperty):
    """The mean of `-sum(weight * target * log softmax(data))` over the rows that count.

    The target of a row is `1 - smoothing` at its label, and `smoothing` in equal parts everywhere. With class
    weights, the sum is divided by that of the labels' weights.

    Shapes:
        data: (N, C).
        label: (N,), from 0 to C - 1, or `ignored`.
        weight: (C,), where use_weight is set.
        output: (1,); 0 where no row counts.

    Example:
        >>> import operad as od
        >>> logits, label = od.nd.array([[0, 0], [5, 1]]), od.nd.array([1, -100], dtype="int64")
        >>> od.nd.cross_entropy(logits, label).asnumpy().round(4)
        array([0.6931], dtype=float32)

    Source: Szegedy et al., Rethinking the Inception Architecture, section 7. Weights count as in PyTorch's
    `cross_entropy`.
    """

    spec = "data:(N, C), label:int64(N), weight:(C) if use_weight -> output:(1); C >= 1"
    accepts = "floating"
    compute_dtype = "float32"
    element_cost = 16.0
    smoothing = param(float, 0.0, ge=0, le=1, doc="The part of the target that is spread over all classes.")
    ignored = param(int, -100, lt=0, doc="The label of rows that do not count.")
    use_weight = param(bool, False, doc="Use the argument weight, one number per class.")
    contract = Contract(reference=_reference, inputs={"label": Drawn(_labels), "weight": positive()})

    def forward(data: Array, label: Array, weight: Array | None, smoothing: float, ignored: int) -> Array:
        """The definition."""
        return _loss(data, label, weight, smoothing, ignored)

    def data_grad(
        output_grad: Array, data: Array, label: Array, weight: Array | None, smoothing: float, ignored: int
    ) -> Array:
        """`(sum(target) softmax(data) - target) / total` in the rows that count."""
        counted, classes, own, total = _rows(label, weight, ignored, data.dtype)
        shares = np.exp(_log_shares(data))
        slope = shares.copy()
        slope[np.arange(len(label), like=label), classes] -= 1
        slope = (1 - smoothing) * slope
        if weight is None:
            slope = slope + smoothing * (shares - 1 / data.shape[1])
        else:
            mean = weight.mean()
            slope = slope * own[:, None] + smoothing * (shares * mean - weight / data.shape[1])
        return np.where(counted[:, None], slope * (output_grad / total), 0)

    def weight_grad(
        output_grad: Array, data: Array, label: Array, weight: Array, smoothing: float, ignored: int
    ) -> Array:  # fmt: skip
        """Of what each row adds to the loss by a class, less the loss for each row of that label."""
        counted, classes, _, total = _rows(label, weight, ignored, data.dtype)
        logs, loss = _log_shares(data), _loss(data, label, weight, smoothing, ignored)
        is_label = counted[:, None] & (classes[:, None] == np.arange(data.shape[1], like=label))
        at_label = np.where(is_label, (1 - smoothing) * logs + loss, 0)
        spread = np.where(counted[:, None], logs * (smoothing / data.shape[1]), 0)
        return -blocked_sum(at_label + spread, 0) * (output_grad / total)
