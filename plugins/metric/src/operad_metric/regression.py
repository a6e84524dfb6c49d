"""Distances of predictions from labels (`MAE`, `MSE`, `RMSE`), and the correlation (`PearsonCorrelation`)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from operad_metric.arrays import can_broadcast, check_label_shapes, pairs
from operad_metric.metric import NamedMetric
from operad_metric.pooled import Averaged
from operad_metric.registered import alias, register


class _Distance(NamedMetric, ABC):
    """The mean over updates of each update's distance."""

    @abstractmethod
    def distance(self, difference: Any) -> float:
        """The distance of a batch."""

    def update(self, labels: Any, preds: Any) -> None:
        """Add the distances.

        Raises:
            ShapeError: The shapes of a label and its prediction do not broadcast.
        """
        for label, pred in pairs(labels, preds):
            label, pred = _column(label), _column(pred)
            if not can_broadcast(label.shape, pred.shape):
                check_label_shapes(label, pred, shape=True)
            self.accumulate(self.distance(label - pred), 1)


def _column(array: Any) -> Any:
    return array.reshape(-1, 1) if array.ndim == 1 else array


@register
class MAE(_Distance, called="mae"):
    """The mean over updates of the mean absolute difference."""

    def distance(self, difference: Any) -> float:
        """`mean |d|`."""
        return float(np.abs(difference).mean())


@register
class MSE(_Distance, called="mse"):
    """The mean over updates of the mean squared difference."""

    def distance(self, difference: Any) -> float:
        """`mean d^2`."""
        return float(np.square(difference).mean())


@register
class RMSE(_Distance, called="rmse"):
    """The mean over updates of the root of the mean squared difference."""

    def distance(self, difference: Any) -> float:
        """`sqrt(mean d^2)`."""
        return math.sqrt(float(np.square(difference).mean()))


@final
@dataclass(frozen=True, slots=True)
class _Moments:
    """Count, means, and sums of products of deviations from them: of `x x`, `y y` and `x y`.

    Two samples `a` and `b` with means `d` apart have together the sums of both, and `d d n_a n_b / n`
    (Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
    sample variances", 1979).
    """

    count: int
    means: Any
    products: Any

    @classmethod
    def of(cls, x: Any, y: Any) -> Self:
        """Moments of a sample."""
        sample = np.stack([x, y]).astype(np.float64)
        means = sample.mean(axis=1) if sample.size else np.zeros(2)
        deviations = sample - means[:, None]
        return cls(sample.shape[1], means, deviations @ deviations.T)

    def __add__(self, other: _Moments) -> _Moments:
        count = self.count + other.count
        apart = other.means - self.means
        means = self.means + apart * other.count / max(count, 1)
        between = np.outer(apart, apart) * self.count * other.count / max(count, 1)
        return _Moments(count, means, self.products + other.products + between)

    def correlation(self) -> float:
        """`nan` where either does not vary."""
        scale = math.sqrt(self.products[0, 0] * self.products[1, 1])
        return float(self.products[0, 1] / scale) if scale else float("nan")


@register
@alias("pearsonr")
class PearsonCorrelation(Averaged, called="pearsonr"):
    """The correlation of predictions with labels.

    Args:
        name: As in `EvalMetric`, with the two that follow.
        average: `"macro"`: the mean of each update's; `"micro"`: that of all together.

    Source: PearsonCorrelation, python/mxnet/metric.py. Differs: `"micro"` has a global value, and
    `reset_local` begins it again.
    """

    empty = _Moments(0, np.zeros(2), np.zeros((2, 2)))

    def update(self, labels: Any, preds: Any) -> None:
        """Correlate.

        Raises:
            ShapeError: A label and its prediction differ in shape.
        """
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            self.take(_Moments.of(label.ravel(), pred.ravel()))

    def joined(self, one: _Moments, other: _Moments) -> _Moments:
        """The moments of both samples."""
        return one + other

    def count(self, pooled: _Moments) -> int:
        """The number of pairs."""
        return pooled.count

    def score(self, pooled: _Moments) -> float:
        """The correlation."""
        return pooled.correlation()
