"""Handlers of every training: when it ends, metrics, validation, and the update of parameters.

Source: python/mxnet/gluon/contrib/estimator/event_handler.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from operad.metric import Loss  # type: ignore[import-not-found]  # a plugin

from operad_gluon.contrib.estimator.events import BatchEnd, EpochBegin, EpochEnd, TrainBegin, metrics_of


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """End of training after a number of epochs or batches, which are the estimator's.

    Args:
        max_epoch: Epochs.
        max_batch: Batches.
    """

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None) -> None:
        self.max_epoch = max_epoch
        self.max_batch = max_batch
        self.current_batch = 0
        self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count from 0."""
        self.max_epoch, self.max_batch = estimator.max_epoch, estimator.max_batch
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Count a batch."""
        self.current_batch += 1
        self.stop_training = self.stop_training or self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Count an epoch."""
        self.current_epoch += 1
        self.stop_training = self.stop_training or self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Metrics of the batches of an epoch.

    Args:
        metrics: The metrics; one of class `Loss` is given losses, others labels and predictions.
        priority: Handlers of smaller ones run first.
    """

    def __init__(self, metrics: Any, priority: float = -1000) -> None:
        self.metrics = metrics_of(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Start over."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Take a batch into account."""
        for metric in self.metrics:
            if isinstance(metric, Loss):
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Validation each so many epochs or batches.

    Args:
        val_data: The loader of validation data.
        eval_fn: `Estimator.evaluate`.
        epoch_period: Epochs between validations; None: not by epochs.
        batch_period: Batches between validations; None: not by batches.
        priority: Handlers of smaller ones run first.
        event_handlers: Those of the validation.
    """

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable[..., Any],
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ) -> None:
        self.val_data = val_data
        self.eval_fn = eval_fn
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.current_batch = 0
        self.current_epoch = 0
        self.priority = priority
        self.event_handlers = event_handlers

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count from 0."""
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count a batch, and validate where it is time."""
        self.current_batch += 1
        self._validate(estimator, self.current_batch, self.batch_period)

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count an epoch, and validate where it is time."""
        self.current_epoch += 1
        self._validate(estimator, self.current_epoch, self.epoch_period)

    def _validate(self, estimator: Any, count: int, period: int | None) -> None:
        if period and count % period == 0:
            self.eval_fn(
                val_data=self.val_data, batch_axis=estimator.batch_axis, event_handlers=self.event_handlers
            )


class GradientUpdateHandler(BatchEnd):
    """The trainer's step after each batch.

    Args:
        priority: Handlers of smaller ones run first.
    """

    def __init__(self, priority: float = -2000) -> None:
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Update the parameters."""
        losses = kwargs["loss"] if isinstance(kwargs["loss"], list) else [kwargs["loss"]]
        estimator.trainer.step(sum(one.shape[0] for one in losses))
