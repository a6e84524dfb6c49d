"""Distances of predictions from labels (`MAE`, `MSE`, `RMSE`), and the correlation (`PearsonCorrelation`)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from operad.errors import ParamError
from operad_metric.arrays import check_label_shapes, pairs
from operad_metric.metric import EvalMetric
from operad_metric.registered import alias, register


class _Distance(EvalMetric, ABC):
    """The mean over updates of each update's distance."""

    def __init__(
        self, name: str, output_names: Sequence[str] | None, label_names: Sequence[str] | None
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=True)

    @abstractmethod
    def distance(self, difference: Any) -> float:
        """The distance of a batch."""

    def update(self, labels: Any, preds: Any) -> None:
        """Add the distances.

        Raises:
            ShapeError: A label and its prediction differ in shape.
        """
        for label, pred in pairs(labels, preds):
            label, pred = _column(label), _column(pred)
            check_label_shapes(label, pred, shape=True)
            self.accumulate(self.distance(label - pred), 1)


def _column(array: Any) -> Any:
    return array.reshape(-1, 1) if array.ndim == 1 else array


@register
class MAE(_Distance):
    """The mean over updates of the mean absolute difference."""

    def __init__(
        self,
        name: str = "mae",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def distance(self, difference: Any) -> float:
        """`mean |d|`."""
        return float(np.abs(difference).mean())


@register
class MSE(_Distance):
    """The mean over updates of the mean squared difference."""

    def __init__(
        self,
        name: str = "mse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

    def distance(self, difference: Any) -> float:
        """`mean d^2`."""
        return float(np.square(difference).mean())


@register
class RMSE(_Distance):
    """The mean over updates of the root of the mean squared difference."""

    def __init__(
        self,
        name: str = "rmse",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names)

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


_EMPTY = _Moments(0, np.zeros(2), np.zeros((2, 2)))


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """The correlation of predictions with labels.

    Args:
        name: As in `EvalMetric`, with the two that follow.
        average: `"macro"`: the mean of each update's; `"micro"`: that of all together.

    Source: PearsonCorrelation, python/mxnet/metric.py. Differs: `"micro"` has a global value, and
    `reset_local` begins it anew.
    """

    def __init__(
        self,
        name: str = "pearsonr",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        if average not in ("macro", "micro"):
            raise ParamError(f"{name}: average is {average!r}, expected 'macro' or 'micro'")
        self.average = average
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Correlate.

        Raises:
            ShapeError: A label and its prediction differ in shape.
        """
        for label, pred in pairs(labels, preds):
            check_label_shapes(label, pred, shape=True)
            moments = _Moments.of(label.ravel(), pred.ravel())
            if self.average == "macro":
                self.accumulate(moments.correlation(), 1)
                continue
            self._local += moments
            self._global += moments
            self.num_inst, self.global_num_inst = self._local.count, self._global.count
            self.sum_metric = self._local.correlation() * self.num_inst
            self.global_sum_metric = self._global.correlation() * self.global_num_inst

    def reset(self) -> None:
        """Forget all."""
        super().reset()
        self._local = self._global = _EMPTY

    def reset_local(self) -> None:
        """Forget what `get` tells, but not what `get_global` does."""
        super().reset_local()
        self._local = _EMPTY
