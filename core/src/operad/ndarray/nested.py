"""Operators that are written with operators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from operad import engine
from operad.imperative import set_recording, set_training


@contextmanager
def nested(is_train: bool) -> Iterator[None]:
    """Inside an operator: what it calls runs at once, in its thread, in this mode, and is not recorded.

    Such calls raise their errors where they are made. They may name new arrays, and arrays that no pending
    work names; waiting for anything else raises BlockingInOperatorError.
    """
    was_recording, was_training = set_recording(False), set_training(is_train)
    try:
        with engine.nested():
            yield
    finally:
        set_training(was_training)
        set_recording(was_recording)
