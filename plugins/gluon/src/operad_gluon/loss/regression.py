"""Losses of numbers that are predicted."""

from __future__ import annotations

import math
from typing import Any

from operad_gluon.loss.base import Loss, weighted


class L2Loss(Loss):
    """(label - pred)^2 / 2, its mean for each sample."""

    def __init__(self, weight: float = 1.0, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        loss = F.square(F.reshape_like(label, pred) - pred)
        return self._mean(F, loss, sample_weight, None if self._weight is None else self._weight / 2)


class L1Loss(Loss):
    """|label - pred|, its mean for each sample."""

    def __init__(self, weight: float | None = None, batch_axis: int = 0, **kwargs: Any) -> None:
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        return self._mean(F, F.abs(F.reshape_like(label, pred) - pred), sample_weight)


class HuberLoss(Loss):
    """|label - pred| less `rho / 2` where it is above `rho`, else its square over `2 rho`.

    Args:
        rho: Where the square ends.
        weight: Factor of all values, or None.
        batch_axis: The axis of samples.
    """

    def __init__(
        self, rho: float = 1, weight: float | None = None, batch_axis: int = 0, **kwargs: Any
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        """A value for each sample."""
        loss = F.abs(F.reshape_like(label, pred) - pred)
        loss = F.where(loss > self._rho, loss - 0.5 * self._rho, (0.5 / self._rho) * F.square(loss))
        return self._mean(F, loss, sample_weight)


class PoissonNLLLoss(Loss):
    """-log of the probability of a count, by the Poisson distribution whose mean is predicted; one mean.

    Args:
        weight: Factor of all values, or None.
        from_logits: Whether predictions are logarithms of means.
        batch_axis: The axis of samples.
        compute_full: Whether the term that depends on the count alone is added, by Stirling's formula.
    """

    def __init__(
        self,
        weight: float | None = None,
        from_logits: bool = True,
        batch_axis: int = 0,
        compute_full: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits, self._compute_full = from_logits, compute_full

    def hybrid_forward(
        self, F: Any, pred: Any, target: Any, sample_weight: Any = None, epsilon: float = 1e-08
    ) -> Any:
        """The mean of all values."""
        target = F.reshape_like(target, pred)
        if self._from_logits:
            loss = F.exp(pred) - target * pred
        else:
            loss = pred - target * F.log(pred + epsilon)
        if self._compute_full:
            stirling = target * F.log(target) - target + 0.5 * F.log(2 * target * math.pi)
            loss = loss + stirling * (target > 1)
        return F.mean(weighted(F, loss, self._weight, sample_weight))
