"""Ending `fit` before its last epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, final

from operad.errors import ParamError
from operad_module.checkpoint import BatchEndParam

_MODES: Final = {"max": 1.0, "min": -1.0}


class StopTraining(Exception):  # noqa: N818 - no error, like StopIteration
    """Raised by a callback: `fit` ends here, and the parameters stay as they are."""


@contextmanager
def ending_early(logger: Any) -> Iterator[None]:
    """A loop that `StopTraining` ends, with its message in the log."""
    try:
        yield
    except StopTraining as stop:
        logger.info("%s", stop)


@final
class EarlyStop:
    """Ends `fit` when the metric of `eval_data` no longer gets better; for `eval_end_callback`.

    Args:
        patience: How many epochs in a row may pass without a better value.
        metric: Name of the value, where the metric has several; None: the first.
        mode: Whether "max" or "min" is better.
        min_delta: By how much a value must be better to count.
    Raises:
        ParamError: An argument is out of range.

    Attributes:
        best: The best value so far.
        best_epoch: Its epoch.
    """

    def __init__(
        self, patience: int = 3, metric: str | None = None, mode: str = "max", min_delta: float = 0.0
    ) -> None:
        if mode not in _MODES or patience < 1 or min_delta < 0:
            raise ParamError(
                f"EarlyStop: patience is {patience!r}, mode {mode!r} and min_delta {min_delta!r}; "
                "expected at least 1, 'max' or 'min', and at least 0"
            )
        self._patience, self._metric, self._mode, self._min_delta = patience, metric, mode, min_delta
        self.best, self.best_epoch = -_MODES[mode] * math.inf, -1

    def __call__(self, param: BatchEndParam) -> None:
        """Look at the value of an epoch.

        Raises:
            StopTraining: There was no better one for too long.
            ParamError: The metric has no value of that name.
        """
        named = dict(param.eval_metric.get_name_value())
        if self._metric is not None and self._metric not in named:
            raise ParamError(f"EarlyStop: no value is called {self._metric!r}; there are {', '.join(named)}")
        value = next(iter(named.values())) if self._metric is None else named[self._metric]
        if _MODES[self._mode] * (value - self.best) > self._min_delta:
            self.best, self.best_epoch = float(value), param.epoch
        elif param.epoch - self.best_epoch >= self._patience:
            raise StopTraining(
                f"Epoch[{param.epoch}] stopped early: the best value, of epoch {self.best_epoch}, "
                f"is {self.best:f}"
            )

    def state_dict(self) -> dict[str, Any]:
        """Best score so far, and its epoch."""
        return {"best": self.best, "best_epoch": self.best_epoch}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from what another one has seen."""
        self.best, self.best_epoch = state["best"], state["best_epoch"]
