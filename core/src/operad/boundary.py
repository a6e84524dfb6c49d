"""The way of errors out of operad: an `OperadError`, and a traceback that shows the user's line.

A public function marked with `boundary` lets nothing bare of NumPy, Python or the operating system through,
and of operad's own frames only the last one: where in the system a wrong shape was noticed helps no reader
who gave it. `OPERAD_DEBUG=1` keeps every frame.

A function that may call back into the user's code is marked `shortened` instead: errors of that code are the
user's own and pass as they are.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from operad.config import settings
from operad.errors import ConfigError, OperadError, OperatorError, as_one_of_ours

P = ParamSpec("P")
R = TypeVar("R")

_MOST_CAUSES: Final = 100
"""Most causes of a chain that are followed; one can be made a cycle."""


def boundary(function: Callable[P, R], shortening: type[Exception] = Exception) -> Callable[P, R]:
    """The function, whose errors of the class `shortening` leave it as the module says."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except shortening as error:
            raise leaving(error)  # noqa: B904 - it has its cause

    return call


def shortened(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose own errors leave it without the frames they have passed."""
    return boundary(function, OperadError)


def leaving(error: Exception) -> Exception:
    """`error` as it leaves: an `OperadError`, without the frames it has passed."""
    if not isinstance(error, OperadError):
        error = as_one_of_ours(OperadError, error)
    if not _keeps_frames():
        _shorten(error)
    return error


def _keeps_frames() -> bool:
    try:
        return settings().debug
    except ConfigError:  # which may be what is leaving
        return False


def _shorten(error: BaseException) -> None:
    """Drop the frames of `error` and of its causes, and causes that say the same as what they led to.

    What an operator raised keeps its frames: they are the plugin's, and lead to the fault.
    """
    error.__traceback__ = None
    for _ in range(_MOST_CAUSES):
        cause = error.__cause__
        if cause is None:
            error.__suppress_context__ = True
            return
        if isinstance(error, OperatorError):
            return
        cause.__traceback__ = None
        if isinstance(cause, OperadError) and not isinstance(cause, OperatorError):
            error.__cause__ = cause.__cause__  # it says the same, with less about where
        else:
            error = cause
