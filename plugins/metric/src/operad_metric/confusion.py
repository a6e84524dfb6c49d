"""Metrics of how often each class is taken for each: `F1`, `MCC`, `PCC`.

`counts[i, j]` is how many of class `i` are predicted as `j`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ParamError
from operad_metric.arrays import classes, pairs
from operad_metric.metric import EvalMetric
from operad_metric.pooled import Averaged, Pooled
from operad_metric.registered import register


def confusion(label: Any, pred: Any, size: int) -> Any:
    """Counts of `size` classes."""
    return np.bincount(label * size + pred, minlength=size * size).reshape(size, size)


class _Confusion(Pooled):
    """A score of counts."""

    empty = np.zeros((2, 2), np.int64)

    def joined(self, one: Any, other: Any) -> Any:
        """The sum, of different numbers of classes too."""
        size = max(len(one), len(other))
        return sum(np.pad(counts, (0, size - len(counts))) for counts in (one, other))

    def count(self, pooled: Any) -> int:
        """Number of labels."""
        return int(pooled.sum())


class _Binary(_Confusion, Averaged):
    """A score of two classes, of which 1 is the one that is looked for."""

    def update(self, labels: Any, preds: Any) -> None:
        """Count; of `"macro"`, score this update alone.

        Raises:
            ParamError: There are other classes than 0 and 1.
        """
        counted = (self._counted(label, pred) for label, pred in pairs(labels, preds))
        self.take(sum(counted, start=self.empty))

    def _counted(self, label: Any, pred: Any) -> Any:
        label, pred = classes(self.name, label, pred, axis=1)
        outside = [one for one in (*np.unique(label), *np.unique(pred)) if one not in (0, 1)]
        if outside:
            raise ParamError(f"{self.name}: got class {outside[0]}, expected 0 and 1; for more there is PCC")
        return confusion(label, pred, 2)


@register
class F1(_Binary, called="f1"):
    """The harmonic mean of precision and recall.

    Args:
        name: As in `EvalMetric`, with the two that follow.
        average: `"macro"`: the mean of each update's score; `"micro"`: the score of all together.
    """

    def score(self, pooled: Any) -> float:
        """`2 TP / (2 TP + FP + FN)`; 0 if nothing is to be found, or found."""
        (_, wrong), (missed, right) = pooled.tolist()
        return 2 * right / (2 * right + wrong + missed) if right else 0.0


@register
class MCC(_Binary, called="mcc"):
    """The correlation of two classes with their predictions, after Matthews.

    Args:
        name: As in `EvalMetric`, with the two that follow.
        average: As in `F1`.
    """

    def score(self, pooled: Any) -> float:
        """`(TP TN - FP FN)` over the root of the product of all margins that are not 0."""
        (absent, wrong), (missed, right) = pooled.tolist()
        margins = [*pooled.sum(0).tolist(), *pooled.sum(1).tolist()]
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
        EvalMetric.__init__(self, name, output_names, label_names, has_global_stats=has_global_stats)

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

    def score(self, pooled: Any) -> float:
        """Covariance over the root of both variances; `nan` where labels or predictions do not vary."""
        total, labelled, predicted = pooled.sum(), pooled.sum(1), pooled.sum(0)
        variances = [float((margin * (total - margin)).sum()) for margin in (labelled, predicted)]
        covariance = float((pooled.diagonal() * total - labelled * predicted).sum())
        return covariance / math.sqrt(math.prod(variances)) if all(variances) else float("nan")
