"""The loss of a classifier, from its logits."""

from __future__ import annotations

import numpy as np

from operad_sdk import Array, Contract, Drawn, DType, OperatorProperty, Shape, operator, param


def _log_shares(data: Array) -> Array:
    shifted = data - data.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def _rows(label: Array, ignored: int, dtype: DType) -> tuple[Array, Array, Array]:
    """Rows that count, classes of all, and how many count."""
    counted = label != ignored
    return counted, np.where(counted, label, 0), np.maximum(counted.sum(dtype=dtype), 1)


def _reference(data: Array, label: Array, smoothing: float, ignored: int) -> Array:
    losses = []
    for row, place in zip(data, label, strict=True):
        if place != ignored:
            own = row[int(place)] * (1 - smoothing) + row.mean() * smoothing
            losses.append(np.logaddexp.reduce(row) - own)
    return np.array([np.mean(losses) if losses else 0.0])


def _labels(rng: np.random.Generator, shape: Shape, prop: CrossEntropy, shapes: dict[str, Shape]) -> Array:
    """Classes; a quarter of the rows do not count."""
    labels = rng.integers(0, shapes["data"][1], shape)
    return np.where(rng.random(shape) < 0.25, prop.ignored, labels)


@operator("author_cross_entropy")
class CrossEntropy(OperatorProperty):
    """The mean of `-sum(target * log softmax(data))` over the rows that count.

    The target of a row is `1 - smoothing` at its label, and `smoothing` in equal parts everywhere.

    Source: Szegedy et al., Rethinking the Inception Architecture, section 7.
    """

    spec = "data:(N, C), label:int64(N) -> output:(1); C >= 1"
    accepts = "floating"
    compute_dtype = "float32"
    smoothing = param(float, 0.1, ge=0, le=1, doc="The part of the target that is spread over all classes.")
    ignored = param(int, -100, lt=0, doc="The label of rows that do not count.")
    contract = Contract(reference=_reference, inputs={"label": Drawn(_labels)})

    def forward(data: Array, label: Array, smoothing: float, ignored: int) -> Array:
        """The definition."""
        counted, classes, count = _rows(label, ignored, data.dtype)
        logs = _log_shares(data)
        own = logs[np.arange(len(label)), classes]
        losses = -(1 - smoothing) * own - smoothing * logs.mean(axis=1)
        return np.where(counted, losses, 0).sum(keepdims=True) / count

    def data_grad(output_grad: Array, data: Array, label: Array, smoothing: float, ignored: int) -> Array:
        """`(softmax(data) - target) / count` in the rows that count."""
        counted, classes, count = _rows(label, ignored, data.dtype)
        slope = np.exp(_log_shares(data)) - smoothing / data.shape[1]
        slope[np.arange(len(label)), classes] -= 1 - smoothing
        return np.where(counted[:, None], slope * (output_grad / count), 0)
