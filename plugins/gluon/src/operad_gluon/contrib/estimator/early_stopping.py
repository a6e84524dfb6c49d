"""`EarlyStoppingHandler`, and the direction in which a metric gets better.

Source: python/mxnet/gluon/contrib/estimator/event_handler.py.
"""

from __future__ import annotations

import warnings
from math import inf, isnan
from typing import Any

import numpy as np
from operad.metric import CompositeEvalMetric, EvalMetric  # type: ignore[import-not-found]  # a plugin

from operad.errors import ParamError
from operad_gluon.contrib.estimator.events import EpochEnd, TrainBegin, TrainEnd


def better(who: str, mode: str, monitor: Any) -> Any:
    """The comparison that says whether a value is better than the best one before.

    Args:
        who: The handler, for warnings.
        mode: "min", "max", or "auto", which warns and takes "max", as in MXNet.
        monitor: The metric.
    """
    if mode not in ("auto", "min", "max"):
        warnings.warn(f"{who}: mode {mode!r} is unknown, expected 'auto', 'min' or 'max'", RuntimeWarning, 3)
        mode = "auto"
    if mode == "auto":
        name = monitor.get()[0]
        warnings.warn(
            f"{who}: larger values of {name} are taken for better ones; say so by mode", stacklevel=3
        )
    return np.less if mode == "min" else np.greater


def worst(comparison: Any) -> float:
    """The value that every other one is better than."""
    return inf if comparison is np.less else -inf


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """End of training when a metric does not get better for some epochs.

    Args:
        monitor: The metric, one of the estimator's.
        min_delta: Least change that counts as better.
        patience: Epochs without one that are borne.
        mode: As of `better`.
        baseline: Value that the first one must be better than.
    Raises:
        ParamError: It is no single metric.
    """

    def __init__(
        self,
        monitor: Any,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ) -> None:
        if not isinstance(monitor, EvalMetric) or isinstance(monitor, CompositeEvalMetric):
            raise ParamError(
                f"EarlyStoppingHandler: monitor is {monitor!r:.80}, expected one metric of the estimator's"
            )
        self.monitor = monitor
        self.baseline = baseline
        self.patience = patience
        self.monitor_op = better("EarlyStoppingHandler", mode, monitor)
        self.min_delta = -min_delta if self.monitor_op is np.less else min_delta
        self._begin()

    def _begin(self) -> None:
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training = False
        self.best = worst(self.monitor_op) if self.baseline is None else self.baseline

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start over."""
        self._begin()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Compare the epoch's value with the best one."""
        name, value = self.monitor.get()
        if isnan(value):
            warnings.warn(
                f"EarlyStoppingHandler: {name} is not updated; give a metric of the estimator's",
                RuntimeWarning,
                2,
            )
        elif self.monitor_op(value - self.min_delta, self.best):
            self.best, self.wait = value, 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch, self.stop_training = self.current_epoch, True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log why training ended."""
        if self.stopped_epoch > 0:
            estimator.logger.info(
                "[Epoch %d] EarlyStoppingHandler: early stopping due to %s not improving",
                self.stopped_epoch, self.monitor.get()[0],
            )  # fmt: skip
