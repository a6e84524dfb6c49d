"""Scopes that switch recording and training mode, each the thread's own.

Source: python/mxnet/autograd.py.
"""

from __future__ import annotations

from types import TracebackType
from typing import final

from operad.engine.thread import local
from operad.imperative.state import RECORDING, TRAINING


@final
class Scope:
    """A context manager that sets recording and mode and puts them back; None leaves one as it is.

    # invariant: an exception from outside, which can come after each call, leaves no mode behind. So the mode
    # is stored behind the last call of `__enter__` and before the first of `__exit__`. At the very entry of
    # `__exit__`, which is a function of Python, nothing helps.
    """

    __slots__ = ("_kept", "_previous", "_set")

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._kept = (RECORDING if recording is None else 0) | (TRAINING if training is None else 0)
        self._set = (RECORDING if recording else 0) | (TRAINING if training else 0)
        self._previous: list[int] = []

    def __enter__(self) -> None:
        thread = local.state
        before = thread.mode
        self._previous.append(before)
        thread.mode = before & self._kept | self._set

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        local.state.mode = self._previous[-1]
        self._previous.pop()


def record(train_mode: bool = True) -> Scope:
    """Record what is called inside, so that gradients can be computed.

    Args:
        train_mode: Whether to run in training mode as well.
    """
    return Scope(recording=True, training=train_mode)


def pause(train_mode: bool = False) -> Scope:
    """Record nothing inside."""
    return Scope(recording=False, training=train_mode)


def train_mode() -> Scope:
    """Run in training mode inside; recording stays as it is."""
    return Scope(recording=None, training=True)


def predict_mode() -> Scope:
    """Run in prediction mode inside; recording stays as it is."""
    return Scope(recording=None, training=False)
