"""Callbacks of training loops: checkpoints, metrics, speed, progress.

Callbacks at the end of an epoch are called with its number, the symbol, arguments and auxiliary
states; those at the end of a batch with a `BatchEndParam`.

Source: python/mxnet/callback.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, final

from operad import NDArray, Symbol
from operad_module.checkpoint import BatchEndParam, save_checkpoint
from operad_module.exact_checkpoint import Checkpoint
from operad_module.metric_logs import JSONLines, LogMetricsCallback
from operad_module.progress import ProgressBar
from operad_module.stopping import EarlyStop, StopTraining

EpochEnd = Callable[..., None]
BatchEnd = Callable[[BatchEndParam], None]

__all__ = [
    "Checkpoint",
    "EarlyStop",
    "JSONLines",
    "LogMetricsCallback",
    "LogValidationMetricsCallback",
    "ProgressBar",
    "Speedometer",
    "StopTraining",
    "do_checkpoint",
    "log_train_metric",
    "module_checkpoint",
]

_logger: Final = logging.getLogger()


def do_checkpoint(prefix: str, period: int = 1) -> EpochEnd:
    """Write a checkpoint at the end of every `period`-th epoch; for `epoch_end_callback`."""
    period = max(1, int(period))

    def save(
        epoch: int, symbol: Symbol, arg_params: Mapping[str, NDArray], aux_params: Mapping[str, NDArray]
    ) -> None:
        if (epoch + 1) % period == 0:
            save_checkpoint(prefix, epoch + 1, symbol, arg_params, aux_params)

    return save


def module_checkpoint(
    mod: Any, prefix: str, period: int = 1, save_optimizer_states: bool = False
) -> EpochEnd:
    """`do_checkpoint` by the module itself, also of the optimizer's states."""
    period = max(1, int(period))

    def save(epoch: int, *_: Any) -> None:
        if (epoch + 1) % period == 0:
            mod.save_checkpoint(prefix, epoch + 1, save_optimizer_states)

    return save


def log_train_metric(period: int, auto_reset: bool = False) -> BatchEnd:
    """Log the training metric every `period` batches; for `batch_end_callback`.

    Args:
        period: Number of batches.
        auto_reset: Whether the metric starts over each time; epochs are summed up all the same.
    """

    def log(param: BatchEndParam) -> None:
        if param.nbatch % period or param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            _logger.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch, param.nbatch, name, value)
        if auto_reset:
            _reset_local(param.eval_metric)

    return log


@final
class Speedometer:
    """Logs speed and metric every `frequent` batches; for `batch_end_callback`.

    Args:
        batch_size: Examples per batch.
        frequent: Number of batches between lines.
        auto_reset: Whether the metric starts over with each line.
    """

    def __init__(self, batch_size: int, frequent: int = 50, auto_reset: bool = True) -> None:
        self.batch_size, self.frequent, self.auto_reset = batch_size, frequent, auto_reset
        self._begun_s: float | None = None
        self._last = 0

    def __call__(self, param: BatchEndParam) -> None:
        """Count a batch."""
        now_s, count = time.perf_counter(), param.nbatch
        if self._begun_s is None or count < self._last:  # the first batch of an epoch
            self._begun_s, self._last = now_s, count
            return
        self._last = count
        if count % self.frequent:
            return
        elapsed_s = now_s - self._begun_s
        speed = self.frequent * self.batch_size / elapsed_s if elapsed_s else float("inf")
        metric = param.eval_metric
        found = [] if metric is None else metric.get_name_value()
        begin = count - self.frequent if self.auto_reset and metric is not None else 0
        texts = "".join(f"\t{name}={value:f}" for name, value in found)
        _logger.info(
            "Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec%s", param.epoch, begin, count, speed, texts
        )
        if metric is not None and self.auto_reset:
            _reset_local(metric)
        self._begun_s = time.perf_counter()


@final
class LogValidationMetricsCallback:
    """Logs the metric of an evaluation; for `eval_end_callback`."""

    def __call__(self, param: BatchEndParam) -> None:
        """Log each of its names and values."""
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            _logger.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


def _reset_local(metric: Any) -> None:
    """Start over, but for what is shown of the epoch, where a metric tells the two apart."""
    (metric.reset_local if hasattr(metric, "reset_local") else metric.reset)()
