"""Likelihood of labels under predictions: `CrossEntropy`, `NegativeLogLikelihood`, `Perplexity`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from operad_metric.arrays import pairs, probabilities
from operad_metric.metric import EvalMetric, NamedMetric
from operad_metric.registered import alias, register

_LEAST: Final = 1e-10
"""The least probability that perplexity takes a logarithm of."""


class _LogLikelihood(NamedMetric):
    """The mean of `-log(p + eps)`, of the probability `p` that is given to each label."""

    def __init__(
        self,
        eps: float = 1e-12,
        name: str = "",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        EvalMetric.__init__(self, name, output_names, label_names, eps=eps, has_global_stats=True)
        self.eps = eps

    def update(self, labels: Any, preds: Any) -> None:
        """Add each label's."""
        for label, pred in pairs(labels, preds):
            given = probabilities(self.name, label, pred, axis=-1)
            self.accumulate(float(-np.log(given + self.eps).sum()), len(given))


@register
@alias("ce")
class CrossEntropy(_LogLikelihood, called="cross-entropy"):
    """The mean of `-log(p + eps)`, of the probability `p` that is given to each label.

    >>> metric = CrossEntropy()
    >>> metric.update([np.array([1])], [np.array([[0.5, 0.5]])])
    >>> round(metric.get()[1], 4)
    0.6931

    Args:
        eps: Keeps the logarithm finite.
        name: As in `EvalMetric`, with what follows.
    """


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LogLikelihood, called="nll-loss"):
    """`CrossEntropy` under another name."""


@register
class Perplexity(EvalMetric):
    """The exponential of the mean of `-log(p)`: among how many alternatives a guess would do as well.

    Args:
        ignore_label: Labels that do not count, such as padding; None: all count.
        axis: Where predictions have the probabilities of classes.
        name: As in `EvalMetric`, with what follows.
    """

    def __init__(
        self,
        ignore_label: int | None,
        axis: int = -1,
        name: str = "perplexity",
        output_names: Sequence[str] | None = None,
        label_names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            name, output_names, label_names, ignore_label=ignore_label, axis=axis, has_global_stats=True
        )
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels: Any, preds: Any) -> None:
        """Add each label's logarithm."""
        for label, pred in pairs(labels, preds):
            kept = None if self.ignore_label is None else label.ravel() != self.ignore_label
            given = probabilities(self.name, label, pred, self.axis, kept)
            self.accumulate(float(-np.log(np.maximum(given, _LEAST)).sum()), len(given))

    def value_of(self, total: Any, count: Any) -> Any:
        """The exponential of the mean."""
        return math.exp(total / count) if count else float("nan")
