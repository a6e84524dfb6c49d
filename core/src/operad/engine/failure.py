"""Failures: what is kept of an operation that raised.

One record serves a whole dependent chain: every variable that the failed operation, or an operation
skipped because of it, would have written carries the same `Failure` until a later write of that
variable succeeds. Such a variable has no value, so operations that read it are skipped and every wait
for it raises. Whether that happens depends on the order of pushes alone, never on timing.

The first wait that meets a record raises an `OperatorError` that is also an instance of the class that
the operation raised, caused by that very exception. Its traceback grows with every frame it passes, and
those frames hold arrays, and so variables, and so the record itself: kept, it would be a cycle for each
array that was read in vain. So the record goes on with a copy that has the notes and the causes but no
traceback, and every later wait raises a copy of that copy. Refused: raising the one object again with
its first traceback, which keeps the frames of all callers alive.

Source: ThreadedVar::var_exception, src/engine/threaded_engine.h. Differs: independent failures are
all kept, and a variable is not taken for clean because a wait has raised it.
"""

from __future__ import annotations

import sys
import weakref
from types import CodeType, FrameType
from typing import Final, Self, TypeAlias, final

from operad.config import settings
from operad.errors import (
    InterruptedOperationError,
    OperadError,
    OperatorError,
    OperatorGroupError,
    as_one_of_ours,
    copied_as,
)

alive: Final[set[weakref.ref[Failure]]] = set()
"""Failures of any engine that a variable carries or that no wait has raised; often empty."""


@final
class Failure:
    """An error that an operation raised, shared by all variables it spoiled.

    Attributes:
        error: What waits raise: the operation's exception, and a bare copy after the first raise.
        seq: Push order of the operation that raised.
        note: The line that says which operation failed.
        is_told: Whether a call has raised already what there is to raise.
    """

    __slots__ = ("__weakref__", "error", "is_told", "note", "seq")

    def __init__(self, error: BaseException, seq: int, note: str, is_told: bool = False) -> None:
        self.error = error
        self.seq = seq
        self.note = note
        self.is_told = is_told

    def enlist(self) -> None:
        """Join `alive`, until nothing refers to this failure any more."""
        alive.add(weakref.ref(self, alive.discard))  # a function of C, in which no exception is lost

    def first_raise(self) -> BaseException:
        """The error to raise, with the note; called once, by the wait that raises it first."""
        error = as_operator_error(self.error)
        if self.note not in getattr(error, "__notes__", ()):
            error.add_note(self.note)
        self.error = _bare(error)
        if self.error is not error and (place := _innermost(error.__cause__ or error)):
            self.error.add_note(f"raised again; the first traceback ended at {place}")
        return error

    def next_raise(self) -> BaseException:
        """The same error as an object of its own, for every wait after the first."""
        return _bare(self.error)


@final
class FailureLog:
    """The failures of one engine that no wait has raised yet."""

    __slots__ = ("_unread",)

    def __init__(self) -> None:
        self._unread: dict[Failure, bool] = {}  # a set that keeps their order

    def record(self, failure: Failure) -> None:
        """Keep a new failure until a wait raises it; that it is kept already does no harm."""
        failure.enlist()
        if not failure.is_told:
            self._unread[failure] = True

    def unread(self) -> list[Failure]:
        """The unread failures, in push order."""
        return sorted(self._unread, key=lambda failure: failure.seq)

    def raise_unread(self) -> None:
        """Raise the unread failure; several in push order as a group."""
        errors = [failure.first_raise() for failure in self.unread() if self._take(failure)]
        try:
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise _group(f"{len(errors)} operations failed", errors)
        finally:
            del errors  # this frame is part of their traceback

    def error_of(self, failure: Failure) -> BaseException:
        """The error that a wait for a variable which carries `failure` raises."""
        return failure.first_raise() if self._take(failure) else failure.next_raise()

    def _take(self, failure: Failure) -> bool:
        """Take `failure` off the unread ones; whether it was among them. One atomic step."""
        return self._unread.pop(failure, False)


def _group(message: str, errors: list[BaseException]) -> BaseException:
    """All of them as one; interrupts, which no `except Exception` may catch, are no OperadError."""
    if all(isinstance(error, OperadError) for error in errors):
        return OperatorGroupError(message, errors)  # type: ignore[arg-type]  # tested above
    return BaseExceptionGroup(message, errors)


def as_operator_error(error: BaseException) -> BaseException:
    """`error` as an `OperatorError` that is also an instance of its class, and caused by it.

    What is an OperadError already, and an interrupt, comes back as it is.
    """
    if isinstance(error, OperadError) or not isinstance(error, Exception):
        return error
    made = as_one_of_ours(OperatorError, error)
    made.__cause__ = _from_plugin(error)
    return made


def _bare(error: BaseException) -> BaseException:
    """A copy of `error` and of its causes without tracebacks; `error` itself where no copy succeeds."""
    made = copied_as(type(error), error)
    if made is None:
        return error.with_traceback(None)
    if notes := getattr(error, "__notes__", None):
        made.__notes__ = list(notes)
    made.__cause__ = None if error.__cause__ is None else _bare(error.__cause__)
    is_shown = error.__context__ is not None and not error.__suppress_context__
    made.__context__ = _bare(error.__context__) if is_shown and error.__context__ else None
    made.__suppress_context__ = error.__suppress_context__
    return made


def _from_plugin(error: BaseException) -> BaseException:
    """`error` with a traceback that begins at the first frame that is not the system's own."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None and _is_ours(traceback.tb_frame):
        traceback = traceback.tb_next
    return error if settings().debug else error.with_traceback(traceback)


def _is_ours(frame: FrameType) -> bool:
    package = frame.f_globals.get("__name__", "").partition(".")[0]
    is_generated = frame.f_code.co_filename.startswith("<operad ")
    return is_generated or package in ("operad", "operad_sdk", "operad_check")


def _innermost(error: BaseException) -> str | None:
    """`file:line` where `error` was raised."""
    traceback = error.__traceback__
    if traceback is None:
        return None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    code = traceback.tb_frame.f_code
    return f"{code.co_filename}:{traceback.tb_lineno}, in {code.co_name}"


@final
class OperatorName(str):
    """The name of an operation that is one operator.

    Attributes:
        provider: The plugin that provides the operator, for messages about its failure.
    """

    __slots__ = ("provider",)
    provider: str

    def __new__(cls, name: str, provider: str) -> Self:
        """A name with what it says beyond."""
        made = super().__new__(cls, name)
        made.provider = provider
        return made


def interrupted(title: str, by: BaseException, seq: int, note: str) -> Failure:
    """The failure of an operation that an exception from outside ended, which its caller gets to see."""
    error = InterruptedOperationError(
        f"{title} was interrupted by {type(by).__name__}, so what it writes has no value; compute it again"
    )
    error.add_note(note)
    return Failure(error, seq, note, is_told=True)


def note_on(title: str, site: Site | None, other_thread: bool) -> str:
    """The line added to an error: which operation failed, where it was pushed, what to try."""
    provider = f" ({title.provider})" if isinstance(title, OperatorName) and title.provider else ""
    pushed = f" (pushed at {_written(site)})" if site else ""
    retry = "; set OPERAD_ENGINE=naive to run it in the calling thread" if other_thread else ""
    return f"{title}{provider} failed{pushed}{retry}"


Site: TypeAlias = tuple[CodeType, int]
"""Site of a push: the code that ran there, and the index of its instruction."""

_is_internal: Final[dict[str, bool]] = {}
"""By the name of a source file, whether it is operad's or of one of its distributions."""


def push_site() -> Site | None:
    """The innermost caller that is neither operad nor one of its distributions.

    Every push asks, so the line is worked out only for a message; and a frame, which would answer later,
    would keep the caller's arrays alive.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        is_internal = _is_internal.get(code.co_filename)
        if is_internal is None:
            package = frame.f_globals.get("__name__", "").partition(".")[0]
            is_internal = package == "operad" or package.startswith("operad_")
            _is_internal[code.co_filename] = is_internal
        if not is_internal:
            return code, frame.f_lasti
        frame = frame.f_back
    return None


def _written(site: Site) -> str:
    """`file:line`."""
    code, instruction = site
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
    return f"{code.co_filename}:{next(lines, code.co_firstlineno)}"


def without_first_frame(error: BaseException) -> BaseException:
    """`error` without the engine's own frame, which holds the block, at the head of its traceback."""
    traceback = error.__traceback__
    return error.with_traceback(None if traceback is None else traceback.tb_next)
