"""Modes of the calling thread's imperative calls: recorded, run in training mode."""

from __future__ import annotations

from typing import Final, final

from operad.engine.thread import local
from operad.scopes import Exit

TRAINING: Final = 1
RECORDING: Final = 2
TRACING: Final = 4
"""A thread's mode, `local.state.mode`, is these added up: one number, by which a call looks up its plan."""


def is_recording() -> bool:
    """Return whether calls of this thread are recorded."""
    return local.state.mode & RECORDING != 0


def is_training() -> bool:
    """Return whether calls of this thread run in training mode."""
    return local.state.mode & TRAINING != 0


def set_recording(is_recording: bool) -> bool:
    """Switch recording; returns what it was."""
    return _switch(RECORDING, is_recording)


def set_training(train_mode: bool) -> bool:
    """Switch training mode; returns what it was."""
    return _switch(TRAINING, train_mode)


def _switch(part: int, is_on: bool) -> bool:
    thread = local.state
    before = thread.mode
    mode = before | part if is_on else before & ~part
    if before >= TRACING:
        thread.trace.check_mode(mode)
    thread.mode = mode
    return before & part != 0


def refuse_traced(what: str, cure: str) -> None:
    """Raise TraceError if the calling thread traces a function, in which `what` has no place."""
    thread = local.state
    if thread.mode >= TRACING:
        raise thread.trace.refusal(what, cure)


@final
class Scope:
    """A context manager that sets recording and training and puts them back; None leaves one as it is.

    With `tracing`, calls inside are noted by the thread's trace, and not run.

    No exception from outside leaves a mode behind, see `operad.scopes`.
    """

    __slots__ = ("_kept", "_set")

    def __init__(self, recording: bool | None, training: bool | None, tracing: bool = False) -> None:
        self._kept = TRACING | (RECORDING if recording is None else 0) | (TRAINING if training is None else 0)
        self._set = (RECORDING if recording else 0) | (TRAINING if training else 0) | tracing * TRACING

    def __enter__(self) -> None:
        thread = local.state
        before = thread.mode
        level, mode = (before, thread.scopes), before & self._kept | self._set
        if before >= TRACING:
            thread.trace.check_mode(mode)
        # commit: begin
        thread.scopes = level
        thread.mode = mode
        # commit: end

    __exit__ = Exit(lambda _: local.state.ending)


def unrecorded() -> Scope:
    """Record nothing inside."""
    return Scope(recording=False, training=None)
