"""What the calling thread does with its imperative calls: record them, run them in training mode."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, final

TRAINING: Final = 1
RECORDING: Final = 2


@final
class _State(threading.local):
    """One number, so that a call reads one thread-local value and looks up its plan by it.

    Attributes:
        mode: TRAINING and RECORDING, added up.
    """

    mode: int = 0


state: Final = _State()


def is_recording() -> bool:
    """Whether calls of this thread are recorded."""
    return state.mode & RECORDING != 0


def is_training() -> bool:
    """Whether calls of this thread run in training mode."""
    return state.mode & TRAINING != 0


def set_recording(is_record: bool) -> bool:
    """Switch recording; returns what it was."""
    previous = is_recording()
    state.mode = (state.mode & TRAINING) + is_record * RECORDING
    return previous


def set_training(train_mode: bool) -> bool:
    """Switch training mode; returns what it was."""
    previous = is_training()
    state.mode = (state.mode & RECORDING) + train_mode * TRAINING
    return previous


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record nothing inside."""
    was_recording = set_recording(False)
    try:
        yield
    finally:
        set_recording(was_recording)
