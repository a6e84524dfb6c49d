"""`LoggingHandler`: lines of a log for epochs and batches.

Source: python/mxnet/gluon/contrib/estimator/event_handler.py.
"""

from __future__ import annotations

import time
from math import inf
from typing import Any

from operad.errors import ParamError
from operad_gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
    described,
    metrics_of,
)


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Lines of the estimator's log.

    Args:
        log_interval: "epoch", or the number of batches between lines.
        metrics: Metrics whose values are logged.
        priority: Handlers of smaller ones run first.
    Raises:
        ParamError: The interval is another text.
    """

    def __init__(self, log_interval: Any = "epoch", metrics: Any = None, priority: float = inf) -> None:
        if not isinstance(log_interval, int) and log_interval != "epoch":
            raise ParamError(
                f"LoggingHandler: log_interval is {log_interval!r}, expected an integer or 'epoch'"
            )
        self.metrics = metrics_of(metrics)
        self.priority = priority
        self.log_interval = log_interval
        self._begin()

    def _begin(self) -> None:
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self.log_interval_time = 0.0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the optimizer and the length of the training."""
        self.train_start = time.time()
        trainer, log = estimator.trainer, estimator.logger.info
        log(
            "Training begin: using optimizer %s with current learning rate %.4f ",
            type(trainer.optimizer).__name__, trainer.learning_rate,
        )  # fmt: skip
        if estimator.max_epoch:
            log("Train for %d epochs.", estimator.max_epoch)
        else:
            log("Train for %d batches.", estimator.max_batch)
        self._begin()

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log time and metrics of the training."""
        spent = int(time.time() - self.train_start)
        head = f"Train finished using total {spent}s with {self.current_epoch} epochs. "
        estimator.logger.info("%s", head + described(self.metrics))

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the learning rate, or that this is a validation."""
        self.epoch_start = time.time()
        if any("training" in metric.name for metric in self.metrics):
            estimator.logger.info(
                "[Epoch %d] Begin, current learning rate: %.4f",
                self.current_epoch, estimator.trainer.learning_rate,
            )  # fmt: skip
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log time and metrics of the epoch."""
        head = f"[Epoch {self.current_epoch}] Finished in {time.time() - self.epoch_start:.3f}s, "
        estimator.logger.info("%s", head + described(self.metrics))
        self.current_epoch += 1
        self.batch_index = 0

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Look at the clock."""
        self.batch_start = time.time()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Log the batches since the last line, where it is time."""
        if isinstance(self.log_interval, int):
            self.log_interval_time += time.time() - self.batch_start
            self.processed_samples += kwargs["batch"][0].shape[0]
            if self.batch_index % self.log_interval == 0:
                head = f"[Epoch {self.current_epoch}][Batch {self.batch_index}]"
                head += f"[Samples {self.processed_samples}] "
                spent = f"time/interval: {self.log_interval_time:.3f}s "
                estimator.logger.info("%s", head + spent + described(self.metrics))
                self.log_interval_time = 0.0
        self.batch_index += 1
