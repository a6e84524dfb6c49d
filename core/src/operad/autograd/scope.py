"""Scopes that switch recording and training mode, each the thread's own.

Source: python/mxnet/autograd.py.
"""

from __future__ import annotations

from types import TracebackType
from typing import final

from operad.imperative import is_recording, is_training, set_recording, set_training


@final
class Scope:
    """A context manager that sets recording and mode and puts them back; None leaves one as it is."""

    __slots__ = ("_previous", "_recording", "_training")

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._recording = recording
        self._training = training
        self._previous: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._previous.append((is_recording(), is_training()))
        if self._recording is not None:
            set_recording(self._recording)
        if self._training is not None:
            set_training(self._training)

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        recording, training = self._previous.pop()
        set_recording(recording)
        set_training(training)


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
