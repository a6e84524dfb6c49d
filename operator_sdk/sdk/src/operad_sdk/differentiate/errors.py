"""Error for code that cannot be differentiated, and the author's line where it is."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import PurePath
from types import FrameType, TracebackType
from typing import Final

from operad.errors import TraceError

OURS: Final = frozenset(("numpy", "operad", "operad_sdk", "functools"))
"""Packages whose functions are no author's."""
_CALLER: Final = "operad_sdk.declare.recorded"

Line = tuple[str, int]
"""A file and the number of a line in it."""


class NoAttributeError(TraceError, AttributeError):
    """A method or property of arrays for which there is no rule."""


_made: Final[ContextVar[list[TraceError] | None]] = ContextVar("made", default=None)
_steps: Final[ContextVar[Iterator[int] | None]] = ContextVar("steps", default=None)


def refusal(message: str) -> TraceError:
    """Error for what a traced function does, which ends its trace though the function may catch it."""
    error = TraceError(message)
    if (made := _made.get()) is not None:
        made.append(error)
    return error


@contextmanager
def lasting_refusals() -> Iterator[None]:
    """End a trace with the first `refusal` in it, also where the traced function caught that one."""
    made: list[TraceError] = []
    token = _made.set(made)
    try:
        yield
    finally:
        _made.reset(token)
    if made:
        raise made[0]


@contextmanager
def limited_steps(count: int) -> Iterator[None]:
    """End a trace of a program that takes more steps, before all of a long loop is traced."""
    token = _steps.set(iter(range(count)))
    try:
        yield
    finally:
        _steps.reset(token)


def count_step() -> None:
    """Count a step of a program.

    Raises:
        TraceError: The trace has had all the steps that `limited_steps` allows.
    """
    if (left := _steps.get()) is not None and next(left, None) is None:
        raise refusal("it takes more steps than a program has, as a loop over many parts of an array does")


def writing_plainly(name: str) -> TraceError:
    """Error for a function of NumPy that writes traced values into a plain array."""
    return refusal(
        f"numpy.{name} writes what it computes derivatives of into a plain array, where they would be "
        "lost; make the array with np.empty_like, or with op_ctx.xp"
    )


def calling_line() -> Line | None:
    """The innermost line of an author's function that is being traced; None outside any."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = str(frame.f_globals.get("__name__"))
        if module == _CALLER:
            return None
        if module.partition(".")[0] not in OURS:
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return None


def raising_line(traceback: TracebackType | None) -> Line | None:
    """The innermost line of an author's function that an exception passed."""
    found = None
    while traceback is not None:
        module = str(traceback.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] not in OURS:
            found = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def line_text(line: Line | None) -> str:
    """Name of the file, number and text of a line; nothing where there is none."""
    if line is None:
        return ""
    file, number = line
    return f"{PurePath(file).name}:{number}: {linecache.getline(file, number).strip()}"
