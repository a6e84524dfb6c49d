"""Operators that are written with operators."""

from __future__ import annotations

from typing import final

from operad import engine
from operad.imperative import TRAINING, local


@final
class nested(engine.nested):  # noqa: N801 - as its base
    """Inside an operator: what it calls runs at once, in its thread, in this mode, and is not recorded.

    Such calls raise their errors where they are made. They may name new arrays and what the operation around
    them names, whatever is queued behind that. For other arrays they wait; BlockingInOperatorError is raised
    where pending work on them seems to wait for the operation itself.

    Args:
        is_train: Whether operators see training.
    """

    __slots__ = ("_is_train",)

    def __init__(self, is_train: bool) -> None:
        super().__init__()
        self._is_train = is_train

    def __enter__(self) -> None:
        thread, mode = local.state, TRAINING if self._is_train else 0
        super().__enter__()
        thread.mode = mode
