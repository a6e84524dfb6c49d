"""Losses of distances between vectors.

Differs: `CosineEmbeddingLoss` runs on any context, and `SDMLLoss` can be hybridized.
"""

from __future__ import annotations

from typing import Any

from operad_gluon.loss.base import Loss, MarginLoss, weighted


class TripletLoss(MarginLoss):
    """max(0, |positive - pred|^2 - |negative - pred|^2 + margin).

    Args:
        margin: Added to the difference of the distances.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def hybrid_forward(self, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
        """A value for each sample."""
        positive, negative = F.reshape_like(positive, pred), F.reshape_like(negative, pred)
        difference = F.square(positive - pred) - F.square(negative - pred)
        loss = F.relu(F.sum(difference, axis=self._batch_axis, exclude=True) + self._margin)
        return weighted(F, loss, self._weight)


class CosineEmbeddingLoss(Loss):
    """1 - cos of two vectors where the label is 1, max(0, cos - margin) where it is -1.

    Args:
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
        margin: The cosine up to which vectors count as different.
    """

    def __init__(
        self, weight: float | None = None, batch_axis: int = 0, margin: float = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F: Any, input1: Any, input2: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample, of shape (samples, 1)."""
        input1 = F.reshape_like(input1, input2)
        product = F.sum(input1 * input2, axis=-1).reshape((-1, 1))
        lengths = F.norm(input1, axis=-1).reshape((-1, 1)) * F.norm(input2, axis=-1).reshape((-1, 1))
        cosine = product / F.maximum(lengths, 1e-12)
        label = F.reshape(label, (-1, 1))
        alike, different = (label == 1) * (1 - cosine), (label == -1) * (cosine - self._margin)
        return weighted(F, alike + F.relu(different), self._weight, sample_weight)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: pairs of a batch are told from all others by the distances.

    Args:
        smoothing_parameter: Probability of the others, together.
        weight: Taken and not used, as in MXNet.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, smoothing_parameter: float = 0.3, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._smoothing = smoothing_parameter

    def hybrid_forward(self, F: Any, x1: Any, x2: Any) -> Any:
        """A value for each pair."""
        apart = F.broadcast_sub(F.expand_dims(x1, axis=1), F.expand_dims(x2, axis=0))
        logarithms = F.log_softmax(-F.sum(F.square(apart), axis=2), axis=1)
        rows = F.expand_dims(F.contrib.arange_like(logarithms, axis=0), axis=1)
        same = F.broadcast_equal(rows, F.expand_dims(F.contrib.arange_like(logarithms, axis=1), axis=0))
        others = F.sum(same, keepdims=True) - 1
        label = same * (1 - self._smoothing) + F.broadcast_div((1 - same) * self._smoothing, others)
        return F.sum(label * (F.log(label + 1e-12) - logarithms), axis=0, exclude=True)
