"""Operators that are written with operators."""

from __future__ import annotations

from typing import final

from operad import engine
from operad.imperative import local, set_mode


@final
class nested(engine.nested):  # noqa: N801 - as its base
    """Inside an operator: what it calls runs at once, in its thread, in this mode, and is not recorded.

    Such calls raise their errors where they are made. They may name new arrays, and arrays that no pending
    work names; waiting for anything else raises BlockingInOperatorError.

    Args:
        is_train: Whether operators see training.
    """

    __slots__ = ("_is_train", "_mode")

    def __init__(self, is_train: bool) -> None:
        self._is_train = is_train

    def __enter__(self) -> None:
        self._mode = set_mode(False, self._is_train)
        super().__enter__()

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        local.state.mode = self._mode
