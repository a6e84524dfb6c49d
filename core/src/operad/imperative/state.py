"""What the calling thread does with its imperative calls: record them, run them in training mode."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from operad.engine.thread import local

TRAINING: Final = 1
RECORDING: Final = 2
"""A thread's mode, `local.state.mode`, is these added up: one number, by which a call looks up its plan."""


def is_recording() -> bool:
    """Whether calls of this thread are recorded."""
    return local.state.mode & RECORDING != 0


def is_training() -> bool:
    """Whether calls of this thread run in training mode."""
    return local.state.mode & TRAINING != 0


def set_recording(is_recording: bool) -> bool:
    """Switch recording; returns what it was."""
    return _switch(RECORDING, is_recording)


def set_training(train_mode: bool) -> bool:
    """Switch training mode; returns what it was."""
    return _switch(TRAINING, train_mode)


def set_mode(is_recording: bool, train_mode: bool) -> int:
    """Switch both; returns the mode that it was, to restore as `local.state.mode`."""
    thread = local.state
    before = thread.mode
    thread.mode = (RECORDING if is_recording else 0) + (TRAINING if train_mode else 0)
    return before


def _switch(part: int, is_on: bool) -> bool:
    thread = local.state
    before = thread.mode
    thread.mode = before | part if is_on else before & ~part
    return before & part != 0


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record nothing inside."""
    was_recording = set_recording(False)
    try:
        yield
    finally:
        set_recording(was_recording)
