"""Events of training, and the metrics that handlers name.

Source: python/mxnet/gluon/contrib/estimator/event_handler.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from operad.metric import CompositeEvalMetric, EvalMetric  # type: ignore[import-not-found]  # a plugin

from operad.errors import ParamError


class EventHandler:
    """Base of handlers: a handler derives from each event that it hears of."""


class TrainBegin(EventHandler):
    """Beginning of training."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Hear of it."""


class TrainEnd(EventHandler):
    """End of training."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Hear of it."""


class EpochBegin(EventHandler):
    """Beginning of a pass over the data."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Hear of it."""


class EpochEnd(EventHandler):
    """End of a pass over the data."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Hear of it; true ends the training."""
        return False


class BatchBegin(EventHandler):
    """Beginning of a batch, which is `kwargs["batch"]`."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Hear of it."""


class BatchEnd(EventHandler):
    """End of a batch, with `batch`, `label`, `pred` and `loss` in `kwargs`."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Hear of it; true ends the training."""
        return False


def handlers_of(handlers: Any) -> list[EventHandler]:
    """One handler, several or None as a list.

    Raises:
        ParamError: One of them is no handler.
    """
    found = [handlers] if isinstance(handlers, EventHandler) else list(handlers or [])
    for one in found:
        if not isinstance(one, EventHandler):
            raise ParamError(
                f"event_handlers: got {type(one).__name__}, expected an EventHandler or a list of them"
            )
    return found


def metrics_of(metrics: Any) -> list[Any]:
    """One metric, a composite one, several or None as a list.

    Raises:
        ParamError: One of them is no metric.
    """
    if isinstance(metrics, CompositeEvalMetric):
        return [one for metric in metrics.metrics for one in metrics_of(metric)]
    found = [metrics] if isinstance(metrics, EvalMetric) else metrics or []
    for one in found:
        if not isinstance(one, EvalMetric):
            raise ParamError(f"metrics: got {type(one).__name__}, expected an EvalMetric or a list of them")
    return found if isinstance(found, list) else list(found)


def described(metrics: Iterable[Any]) -> str:
    """Names and values of metrics, for a line of a log."""
    return ", ".join("{}: {:.4f}".format(*metric.get()) for metric in metrics)
