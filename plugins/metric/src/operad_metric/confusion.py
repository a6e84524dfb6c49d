"""Metrics of how often each class is taken for each: `F1`, `MCC`, `PCC`.

`counts[i, j]` is how many of class `i` are predicted as `j`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad.errors import ParamError
from operad_metric.arrays import classes, pairs
from operad_metric.metric import EvalMetric
from operad_metric.registered import register

_NONE: Final = np.zeros((2, 2), np.int64)
"""Counts of nothing."""


def confusion(label: Any, pred: Any, size: int) -> Any:
    """Counts of `size` classes."""
    return np.bincount(label * size + pred, minlength=size * size).reshape(size, size)


class _Confusion(EvalMetric, ABC):
    """A score of counts, those of all updates together."""

    _local: Any
    _global: Any

    @abstractmethod
    def score(self, counts: Any) -> float:
        """The score of a confusion."""

    def take(self, counts: Any) -> None:
        """Add counts; the value is their score, so that sum over count is it."""
        self._local, self._global = _sum(self._local, counts), _sum(self._global, counts)
        self.num_inst, self.global_num_inst = int(self._local.sum()), int(self._global.sum())
        self.sum_metric = self.score(self._local) * self.num_inst
        self.global_sum_metric = self.score(self._global) * self.global_num_inst

    def reset(self) -> None:
        """Forget all counts."""
        super().reset()
        self._local = self._global = _NONE

    def reset_local(self) -> None:
        """Forget counts, but not in what `get_global` tells."""
        super().reset_local()
        self._local = _NONE


class _Binary(_Confusion):
    """A score of two classes, of which 1 is the one that is looked for."""

    def __init__(
        self,
        name: str,
        output_names: Sequence[str] | None,
        label_names: Sequence[str] | None,
        average: str,
    ) -> None:
        if average not in ("macro", "micro"):
            raise ParamError(f"{name}: average is {average!r}, expected 'macro' or 'micro'")
        self.average = average
        super().__init__(name, output_names, label_names, average=average, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Count; of `"macro"`, score this update alone.

        Raises:
            ParamError: There are other classes than 0 and 1.
        """
        counted = (self._counted(label, pred) for label, pred in pairs(labels, preds))
        counts = sum(counted, start=_NONE)
        if self.average == "macro":
            self.accumulate(self.score(counts), 1)
        else:
            self.take(counts)

    def _counted(self, label: Any, pred: Any) -> Any:
        label, pred = classes(self.name, label, pred, axis=1)
        outside = [one for one in (*np.unique(label), *np.unique(pred)) if one not in (0, 1)]
        if outside:
            raise ParamError(f"{self.name}: got class {outside[0]}, expected 0 and 1; for more there is PCC")
        return confusion(label, pred, 2)


@register
class F1(_Binary):
    """The harmonic mean of precision and recall.

    Args:
        name: As in `EvalMetric`, with the two that follow.
        average: `"macro"`: the mean of each update's score; `"micro"`: the score of all together.
    """

    def __init__(
        self,
        name: str = "f1",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)

    def score(self, counts: Any) -> float:
        """`2 TP / (2 TP + FP + FN)`; 0 if nothing is to be found, or found."""
        (_, wrong), (missed, right) = counts.tolist()
        return 2 * right / (2 * right + wrong + missed) if right else 0.0


@register
class MCC(_Binary):
    """The correlation of two classes with their predictions, after Matthews.

    Args:
        name: As in `EvalMetric`, with the two that follow.
        average: As in `F1`.
    """

    def __init__(
        self,
        name: str = "mcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        average: str = "macro",
    ) -> None:
        super().__init__(name, output_names, label_names, average)

    def score(self, counts: Any) -> float:
        """`(TP TN - FP FN)` over the root of the product of all margins that are not 0."""
        (absent, wrong), (missed, right) = counts.tolist()
        margins = [*counts.sum(0).tolist(), *counts.sum(1).tolist()]
        return float((right * absent - wrong * missed) / math.sqrt(math.prod(m for m in margins if m)))


@register
class PCC(_Confusion):
    """The correlation of any number of classes with their predictions: `MCC`, of all updates together.

    Source: Gorodkin, "Comparing two K-category assignments by a K-category correlation coefficient", 2004.
    """

    def __init__(
        self,
        name: str = "pcc",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
        has_global_stats: bool = True,
    ) -> None:
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels: Any, preds: Any) -> None:
        """Count.

        Raises:
            ParamError: A class is negative.
        """
        for label, pred in pairs(labels, preds):
            label, pred = classes(self.name, label, pred, axis=1)
            if min(label.min(initial=0), pred.min(initial=0)) < 0:
                raise ParamError(f"{self.name}: got a negative class, expected classes counted from 0")
            size = int(max(label.max(initial=0), pred.max(initial=0))) + 1
            self.take(confusion(label, pred, size))

    def score(self, counts: Any) -> float:
        """Covariance over the root of both variances; `nan` where labels or predictions do not vary."""
        total, labelled, predicted = counts.sum(), counts.sum(1), counts.sum(0)
        variances = [float((margin * (total - margin)).sum()) for margin in (labelled, predicted)]
        covariance = float((counts.diagonal() * total - labelled * predicted).sum())
        return covariance / math.sqrt(math.prod(variances)) if all(variances) else float("nan")


def _sum(a: Any, b: Any) -> Any:
    """The sum of confusions of different numbers of classes."""
    size = max(len(a), len(b))
    return sum(np.pad(counts, (0, size - len(counts))) for counts in (a, b))
