"""`Estimator`: a loop of training.

Source: python/mxnet/gluon/contrib/estimator/estimator.py.
"""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from typing import Any

from operad.metric import Accuracy  # type: ignore[import-not-found]  # a plugin
from operad.metric import Loss as LossMetric

import operad as od
from operad import Context, cpu
from operad.errors import ContextError, ParamError
from operad_gluon.contrib.estimator.batch_processor import BatchProcessor
from operad_gluon.contrib.estimator.events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    EventHandler,
    TrainBegin,
    TrainEnd,
    handlers_of,
    metrics_of,
)
from operad_gluon.contrib.estimator.handlers import (
    GradientUpdateHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)
from operad_gluon.contrib.estimator.log_lines import LoggingHandler
from operad_gluon.data import DataLoader
from operad_gluon.errors import UninitializedError
from operad_gluon.loss import Loss, SoftmaxCrossEntropyLoss
from operad_gluon.trainer import Trainer

__all__ = ["Estimator"]


class Estimator:
    """Training and validation of a network, with handlers of what happens meanwhile.

    Args:
        net: The network.
        loss: A `gluon.loss.Loss`.
        train_metrics: Metrics of training; None: that of the loss, and accuracy of a cross entropy.
        val_metrics: Metrics of validation; None: as of training.
        initializer: Of a network that has no values yet.
        trainer: A `gluon.Trainer`; None: plain descent with a rate of 0.001, and a warning.
        context: A context or a list; None: the first GPU, or the processor.
        val_net: Network of validation; None: `net`.
        val_loss: Loss of validation; None: `loss`.
        batch_processor: Does the passes of a batch; None: a `BatchProcessor`.
    Attributes:
        logger: Logs to the standard output.
    Raises:
        ParamError: One of them is of another kind.
    """

    logger: Any = None

    def __init__(
        self,
        net: Any,
        loss: Any,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Any = None,
        context: Any = None,
        val_net: Any = None,
        val_loss: Any = None,
        batch_processor: Any = None,
    ) -> None:
        self.net = net
        self.val_net = net if val_net is None else val_net
        self.loss = _loss(loss)
        self.val_loss = self.loss if val_loss is None else _loss(val_loss)
        self._train_metrics = metrics_of(train_metrics) or self._default_metrics()
        for metric in self._train_metrics:
            metric.name = f"training {metric.name}"
        self._val_metrics = metrics_of(val_metrics) or [copy.deepcopy(one) for one in self._train_metrics]
        for metric in self._val_metrics:
            plain = metric.name.removeprefix("training ")
            metric.name = f"validation {plain}"
        self.logger = logging.Logger(name="Estimator", level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _contexts(context)
        self._initialize(initializer)
        self.trainer = self._trainer(trainer)
        self.batch_processor = _processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    def _default_metrics(self) -> list[Any]:
        accuracy = [Accuracy()] if isinstance(self.loss, SoftmaxCrossEntropyLoss) else []
        return [*accuracy, LossMetric(self.loss.name.rstrip("1234567890"))]

    def _is_initialized(self) -> bool:
        try:
            for param in self.net.collect_params().values():
                param.list_ctx()
        except UninitializedError:
            return False
        return True

    def _initialize(self, initializer: Any) -> None:
        if not self._is_initialized():
            self.net.initialize(init=initializer, ctx=self.context)
        elif initializer:
            warnings.warn(
                "Estimator: the network is initialized already, and the initializer is not used; "
                "net.initialize(init=..., force_reinit=True) does it again",
                stacklevel=3,
            )

    def _trainer(self, trainer: Any) -> Any:
        if trainer is None:
            warnings.warn(
                "No trainer specified, default SGD optimizer with learning rate 0.001 is used.", stacklevel=3
            )
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ParamError(f"Estimator: trainer is {type(trainer).__name__}, expected a gluon.Trainer")
        return trainer

    @property
    def train_metrics(self) -> list[Any]:
        """Metrics of training, of which handlers may take some."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list[Any]:
        """Metrics of validation, of which handlers may take some."""
        return self._val_metrics

    def evaluate(self, val_data: Any, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Validate.

        Args:
            val_data: A `DataLoader` of pairs of data and labels.
            batch_axis: Axis of the samples.
            event_handlers: One or several, beside those of metrics and logs.
        """
        _require_loader("evaluate", val_data)
        for metric in self.val_metrics:
            metric.reset()
        defaults = [
            (MetricHandler, {"metrics": self.val_metrics}),
            (LoggingHandler, {"metrics": self.val_metrics}),
        ]
        handlers = self._with_defaults(event_handlers, defaults, self.val_metrics)
        self._tell(handlers, EpochBegin, "epoch_begin")
        for batch in val_data:
            self._run_batch(handlers, batch, self.batch_processor.evaluate_batch, batch_axis)
        self._tell(handlers, EpochEnd, "epoch_end")

    def fit(
        self,
        train_data: Any,
        val_data: Any = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Train.

        Args:
            train_data: A `DataLoader` of pairs of data and labels.
            val_data: Likewise, for validation after each epoch; None: none.
            epochs: How many passes over the data, or
            batches: how many batches.
            event_handlers: One or several, beside those that end training, update, validate and log.
            batch_axis: Axis of the samples.
        """
        _require_loader("fit", train_data)
        if (not epochs) == (not batches):
            raise ParamError("fit: give either epochs or batches")
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        handlers = self._handlers_of_training(val_data, event_handlers)
        self._tell(handlers, TrainBegin, "train_begin")
        while True:
            self._tell(handlers, EpochBegin, "epoch_begin")
            for batch in train_data:
                if any(self._run_batch(handlers, batch, self.batch_processor.fit_batch, batch_axis)):
                    break
            if any(self._tell(handlers, EpochEnd, "epoch_end")):
                break
        self._tell(handlers, TrainEnd, "train_end")

    def _handlers_of_training(self, val_data: Any, event_handlers: Any) -> list[EventHandler]:
        defaults: list[tuple[Any, dict[str, Any]]] = [
            (StoppingHandler, {"max_epoch": self.max_epoch, "max_batch": self.max_batch}),
            (GradientUpdateHandler, {}),
            (MetricHandler, {"metrics": self.train_metrics}),
            *([(ValidationHandler, {"val_data": val_data, "eval_fn": self.evaluate})] if val_data else []),
            (LoggingHandler, {"metrics": self.train_metrics}),
        ]
        return self._with_defaults(event_handlers, defaults, self.train_metrics + self.val_metrics)

    def _with_defaults(
        self, given: Any, defaults: list[tuple[Any, dict[str, Any]]], known: list[Any]
    ) -> list[EventHandler]:
        """The handlers by priority, with one of each kind that is not given."""
        own = handlers_of(given)
        for handler in own:
            _require_known(handler, known)
        missing = [(kind, args) for kind, args in defaults
                   if kind is StoppingHandler or not any(isinstance(one, kind) for one in own)]  # fmt: skip
        handlers = [*own, *(kind(**args) for kind, args in missing)]
        return sorted(handlers, key=lambda handler: getattr(handler, "priority", 0))

    def _run_batch(self, handlers: list[EventHandler], batch: Any, run: Any, batch_axis: int) -> list[Any]:
        self._tell(handlers, BatchBegin, "batch_begin", batch=batch)
        _, label, pred, loss = run(self, batch, batch_axis)
        return self._tell(handlers, BatchEnd, "batch_end", batch=batch, pred=pred, label=label, loss=loss)

    def _tell(self, handlers: list[EventHandler], kind: Any, event: str, **what: Any) -> list[Any]:
        return [getattr(one, event)(self, **what) for one in handlers if isinstance(one, kind)]


def _loss(loss: Any) -> Any:
    if not isinstance(loss, Loss):
        raise ParamError(f"Estimator: loss is {type(loss).__name__}, expected a gluon.loss.Loss")
    return loss


def _processor(processor: Any) -> Any:
    if processor is None:
        return BatchProcessor()
    if not all(callable(getattr(processor, name, None)) for name in ("fit_batch", "evaluate_batch")):
        raise ParamError("Estimator: batch_processor has not both fit_batch and evaluate_batch")
    return processor


def _contexts(context: Any) -> list[Context]:
    if not context:
        return [od.gpu(0)] if od.num_gpus() else [cpu()]
    found = [context] if isinstance(context, Context) else context
    if not isinstance(found, list) or not all(isinstance(one, Context) for one in found):
        raise ParamError(f"Estimator: context is {context!r}, expected a Context or a list of them")
    for one in found:
        if one.device_type == "gpu" and one.device_id >= od.num_gpus():
            raise ContextError(f"Estimator: there is no {one}")
    return found


def _require_loader(who: str, data: Any) -> None:
    if not isinstance(data, DataLoader):
        raise ParamError(f"{who}: data is {type(data).__name__}, expected a gluon.data.DataLoader")


def _require_known(handler: EventHandler, known: list[Any]) -> None:
    """Refuse a handler of a metric that no handler of the estimator would update."""
    for name, value in vars(handler).items():
        if "metric" in name:
            for metric in value if isinstance(value, list) else [value]:
                if metric and metric not in known:
                    raise ParamError(
                        f"{type(handler).__name__}: {metric} is no metric of the estimator's; "
                        "take it from train_metrics or val_metrics"
                    )
