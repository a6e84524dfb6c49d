"""`CheckpointHandler`: parameters and the trainer's states in files, and the way back.

Source: python/mxnet/gluon/contrib/estimator/event_handler.py.
"""

from __future__ import annotations

import re
import warnings
from math import isnan
from pathlib import Path
from typing import Any

from operad.metric import EvalMetric  # type: ignore[import-not-found]  # a plugin

from operad.errors import ParamError
from operad_gluon.contrib.estimator.early_stopping import better, worst
from operad_gluon.contrib.estimator.events import BatchEnd, EpochEnd, TrainBegin
from operad_gluon.local_files import MissingFileError


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Checkpoints `PREFIX-epochEbatchB.params` and `.states`, and `PREFIX-symbol.json` of compiled networks.

    Args:
        model_dir: Folder of the files; made where it is missing.
        model_prefix: Beginning of their names.
        monitor: Metric that says which checkpoint is the best.
        verbose: 1 logs each checkpoint.
        save_best: Keep the best one as `PREFIX-best`.
        mode: As of `EarlyStoppingHandler`.
        epoch_period: Epochs between checkpoints; None: not by epochs.
        batch_period: Batches between checkpoints; None: not by batches.
        max_checkpoints: How many are kept.
        resume_from_checkpoint: Go on with the last one.
    Raises:
        ParamError: The best one is asked for, and there is no metric.
    """

    def __init__(
        self,
        model_dir: str,
        model_prefix: str = "model",
        monitor: Any = None,
        verbose: int = 0,
        save_best: bool = False,
        mode: str = "auto",
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        max_checkpoints: int = 5,
        resume_from_checkpoint: bool = False,
    ) -> None:
        if save_best and not isinstance(monitor, EvalMetric):
            raise ParamError(
                f"CheckpointHandler: monitor is {monitor!r:.80}, expected a metric of the estimator's"
            )
        self.monitor, self.save_best = monitor, save_best
        self.verbose = verbose
        self.model_dir, self.model_prefix = model_dir, model_prefix
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.current_batch = self.current_epoch = 0
        self.trained_epoch = self.trained_batch = -1
        self.saved_checkpoints: list[str] = []
        if save_best:
            self.monitor_op = better("CheckpointHandler", mode, monitor)
            self.best = worst(self.monitor_op)
        Path(model_dir).mkdir(parents=True, exist_ok=True)

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Count from 0, or go on with the last checkpoint."""
        self.current_epoch = self.current_batch = 0
        if self.save_best:
            self.best = worst(self.monitor_op)
        if self.resume_from_checkpoint:
            wrong = self.epoch_period if estimator.max_batch else self.batch_period
            if wrong or not (self.batch_period if estimator.max_batch else self.epoch_period):
                raise ParamError(
                    "CheckpointHandler: training by batches resumes checkpoints by batches alone, and by "
                    "epochs those by epochs; set the other period to None"
                )
            self._resume(estimator)

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Write the symbol at the first batch, and a checkpoint where it is time."""
        if self.current_batch == 0:
            self._save_symbol(estimator)
        if self.batch_period and (self.current_batch + 1) % self.batch_period == 0:
            self._save_checkpoint(estimator)
        self.current_batch += 1

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Write a checkpoint where it is time."""
        if self.epoch_period and (self.current_epoch + 1) % self.epoch_period == 0:
            self._save_checkpoint(estimator)
        self.current_epoch += 1

    def _save_checkpoint(self, estimator: Any) -> None:
        epoch, batch = self.current_epoch, self.current_batch
        if self.resume_from_checkpoint:
            epoch += self.trained_epoch + 1
            batch += self.trained_batch + (0 if estimator.max_epoch else 1)
        prefix = f"{self.model_prefix}-epoch{epoch}batch{batch}"
        self._save(estimator, prefix)
        self.saved_checkpoints.append(prefix)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            oldest = self.saved_checkpoints.pop(0)
            for suffix in (".params", ".states"):
                (Path(self.model_dir) / f"{oldest}{suffix}").unlink(missing_ok=True)
        if self.verbose > 0:
            estimator.logger.info(
                "[Epoch %d] CheckpointHandler: trained total %d batches, saving model at %s with prefix: %s",
                self.current_epoch, self.current_batch + 1, self.model_dir, prefix,
            )  # fmt: skip
        if self.save_best:
            self._save_best(estimator)

    def _save_best(self, estimator: Any) -> None:
        name, value = self.monitor.get()
        if isnan(value):
            warnings.warn(
                f"CheckpointHandler: {name} is not updated; give a metric of the estimator's",
                RuntimeWarning,
                2,
            )
        elif self.monitor_op(value, self.best):
            self._save(estimator, f"{self.model_prefix}-best")
            self.best = value

    def _save(self, estimator: Any, prefix: str) -> None:
        path = str(Path(self.model_dir) / prefix)
        estimator.net.save_parameters(f"{path}.params")
        estimator.trainer.save_states(f"{path}.states")

    def _save_symbol(self, estimator: Any) -> None:
        graph = getattr(estimator.net, "_cached_graph", None)
        path = str(Path(self.model_dir) / f"{self.model_prefix}-symbol.json")
        if graph:
            graph[1].save(path)
        else:
            estimator.logger.info("The symbol is not saved as %s; hybridize() the network before", path)

    def _found(self) -> list[tuple[int, int]]:
        """Epoch and batch of each checkpoint in the folder, the last one last."""
        pattern = re.compile(rf"{re.escape(self.model_prefix)}-epoch(\d+)batch(\d+)\.params")
        matches = (pattern.fullmatch(path.name) for path in Path(self.model_dir).iterdir())
        return sorted((int(match[1]), int(match[2])) for match in matches if match)

    def _resume(self, estimator: Any) -> None:
        found = self._found()
        self.saved_checkpoints = [f"{self.model_prefix}-epoch{epoch}batch{batch}" for epoch, batch in found]
        if not found:
            self.trained_epoch = self.trained_batch = -1
            estimator.logger.info("CheckpointHandler: No checkpoint found, training from scratch")
            return
        self.trained_epoch, self.trained_batch = found[-1]
        estimator.max_epoch = self._left("epochs", estimator.max_epoch, self.trained_epoch)
        estimator.max_batch = self._left("batches", estimator.max_batch, self.trained_batch)
        path = str(Path(self.model_dir) / self.saved_checkpoints[-1])
        if not Path(f"{path}.states").exists():
            raise MissingFileError(f"CheckpointHandler: {path}.params has no {path}.states beside it")
        estimator.net.load_parameters(f"{path}.params", ctx=estimator.context)
        estimator.trainer.load_states(f"{path}.states")
        estimator.logger.warning(
            "CheckpointHandler: Checkpoint resumed from epoch %d batch %d",
            self.trained_epoch,
            self.trained_batch,
        )

    @staticmethod
    def _left(what: str, most: int | None, done: int) -> int | None:
        if most and done >= most - 1:
            raise ParamError(
                f"CheckpointHandler: a checkpoint has {done + 1} {what} of {most}; "
                "resume_from_checkpoint=False trains from scratch"
            )
        return most and most - done - 1
