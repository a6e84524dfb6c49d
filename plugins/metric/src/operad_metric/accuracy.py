"""Metrics of the share of right predictions: `Accuracy`, `TopKAccuracy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad.errors import ParamError, ShapeError
from operad_metric.arrays import check_classes, check_label_shapes, classes, pairs
from operad_metric.metric import EvalMetric
from operad_metric.registered import alias, register


@register
@alias("acc")
class Accuracy(EvalMetric):
    """The part of labels that are predicted.

    >>> metric = Accuracy()
    >>> metric.update([np.array([0, 1])], [np.array([[0.7, 0.3], [0.9, 0.1]])])
    >>> metric.get()
    ('accuracy', 0.5)

    Args:
        axis: Where predictions have the scores of classes; predictions of the labels' shape are classes.
        name: As in `EvalMetric`, with what follows.
    """

    def __init__(
        self,
        axis: int = 1,
        name: str = "accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(name, output_names, label_names, axis=axis, has_global_stats=True)
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Count what is right.

        Raises:
            IndexOutOfRangeError: A label is beyond the classes.
        """
        for label, pred in pairs(labels, preds):
            if pred.shape != label.shape and -pred.ndim <= self.axis < pred.ndim:
                check_classes(self.name, label, pred, self.axis)
            label, pred = classes(self.name, label, pred, self.axis)
            self.accumulate(int((label == pred).sum()), len(label))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """The part of labels that are among the `top_k` classes of the highest scores.

    Raises:
        ParamError: `top_k` is less than 2; `Accuracy` is meant.
    """

    def __init__(
        self,
        top_k: int = 1,
        name: str = "top_k_accuracy",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        if top_k < 2:
            raise ParamError(f"TopKAccuracy: top_k is {top_k}, expected at least 2; use Accuracy for 1")
        self.top_k = top_k
        # A name that `get_config` told has its number already.
        named = name if name.endswith(f"_{top_k}") else f"{name}_{top_k}"
        super().__init__(named, output_names, label_names, top_k=top_k, has_global_stats=True)

    def update(self, labels: Any, preds: Any) -> None:
        """Count labels that are among the highest.

        Raises:
            ShapeError: Predictions are no rows of scores.
            IndexOutOfRangeError: A label is beyond the classes.
        """
        for label, pred in pairs(labels, preds):
            if pred.ndim != 2:
                raise ShapeError(f"{self.name}: predictions have shape {pred.shape}, expected (N, classes)")
            check_classes(self.name, label, pred, axis=1)
            label = label.ravel().astype(np.int64)
            check_label_shapes(label, pred)
            kept = min(self.top_k, pred.shape[1])
            highest = np.argpartition(pred, -kept, axis=1)[:, -kept:]
            self.accumulate(int((highest == label[:, None]).sum()), len(label))
