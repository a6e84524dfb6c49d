"""Failures: what is kept of an operation that raised, until someone hears of it.

One record serves a whole dependent chain: every variable that the failed operation, or an operation
skipped because of it, would have written carries the same `Failure`. The first wait that meets the
record raises its error and stamps it with the number of operations pushed so far; from then on it
counts only for operations pushed before that stamp. So whether an operation is skipped depends on
the order of pushes and waits in the program, and never on how far the workers had got.

Source: ThreadedVar::var_exception, src/engine/threaded_engine.h. Differs: independent failures are
all kept, and the stamp replaces clearing a shared pointer, whose effect there depends on timing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType
from typing import final


@final
class Failure:
    """An error that an operation raised, shared by all variables it spoiled.

    Attributes:
        error: The exception object itself.
        seq: Push order of the operation that raised.
        consumed_at: Operations pushed when the error surfaced; None while it has not.
    """

    __slots__ = ("consumed_at", "error", "note", "seq")

    def __init__(self, error: BaseException, seq: int, note: str) -> None:
        self.error = error
        self.seq = seq
        self.note = note
        self.consumed_at: int | None = None

    def spoils(self, seq: int) -> bool:
        """Whether an operation pushed as number `seq` must be skipped because of this failure."""
        return self.consumed_at is None or seq <= self.consumed_at

    def surface(self, seq: int) -> BaseException:
        """The error, with a note on where it comes from; counts as heard from operation `seq` on."""
        self.consumed_at = seq
        if self.note not in getattr(self.error, "__notes__", ()):
            self.error.add_note(self.note)
        return self.error


def merged(failures: Iterable[Failure]) -> tuple[Failure, ...]:
    """`failures` without repetition, in push order."""
    by_seq = {failure.seq: failure for failure in failures}
    return tuple(by_seq[seq] for seq in sorted(by_seq))


def note_on(title: str, site: str | None, other_thread: bool) -> str:
    """The line added to an error: which operation failed, where it was pushed, what to try."""
    if not other_thread:
        return f"{title} failed (pushed at {site})" if site else f"{title} failed"
    retry = "set OPERAD_ENGINE=naive to run it in the calling thread"
    if site:
        return f"{title} failed (pushed at {site}); {retry}"
    return f"{title} failed; {retry}, or OPERAD_DEBUG=1 to learn where it was pushed"


def push_site() -> str | None:
    """`file:line` of the innermost caller that is neither operad nor one of its distributions."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        if package != "operad" and not package.startswith("operad_"):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return None
