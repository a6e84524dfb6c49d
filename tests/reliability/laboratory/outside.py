"""An exception from outside, at every point where the interpreter can deliver one.

CPython looks at signals and asynchronous exceptions at the entry of a Python function, at a jump
backwards and after a call of C code, and nowhere else. So a trace function, called before each byte code,
notes in a first run which byte codes do such a thing; each of them is a *point*. In a further run for each
point it sees to it that an exception is pending when that byte code begins, and stops tracing. The
interpreter itself delivers the exception then, exactly where it would deliver a signal's.

The trace function must not meet the exception itself. So what makes the exception pending is a C function
that is called by reading a property: that is no call for the interpreter, and between it and the byte code
there is none.

A trace function is a function of Python, before each byte code, also of a commit: at its entry the
interpreter would let other threads run, in the midst of what is one step without it. So here threads
change only where one waits.

With `--lines` the trace function raises at the beginning of each line instead. That reaches places at which
the interpreter never delivers anything: the closing line of a `with` before `__exit__` is called, the `try:`
before a block, lines between two stores. What does harm there, and only there, is listed as "never
delivered": the byte code that was run before the line is none of those at which the interpreter looks.
Lines inside a commit, which `commits` proves to be one step, are left out.
"""

from __future__ import annotations

import argparse
import ctypes
import dis
import gc
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from tests.reliability.laboratory.commits import within_commits
from tests.reliability.laboratory.subjects import APART, SUBJECTS, Subject, Unraisable, judge, traced
from tests.reliability.laboratory.trials import BROKEN, HANG, LOST, MISSED, NEVER, Fault, conduct, options_of

WARM_UP: Final = 12
"""Runs before the first that is looked at, after which caches are full and workers hired."""

TRIES: Final = 4
"""Runs that may miss a point, because other threads came first."""

_LOOKS: Final = ("CALL", "CALL_KW", "CALL_FUNCTION_EX", "JUMP_BACKWARD", "POP_JUMP_BACKWARD")


_NEVER_S: Final = 3600.0
"""After so long one thread asks another for the interpreter."""


class Outside(BaseException):
    """What comes from outside."""


class Point(NamedTuple):
    """A byte code (or with `--lines` a line) in a run: the `nth` time that it is reached.

    Attributes:
        is_looked_at: Whether the interpreter itself could deliver there.
    """

    filename: str
    name: str
    place: int
    nth: int
    text: str
    is_looked_at: bool = True


def pend_async_exception() -> Callable[..., None]:
    """A C function that makes `Outside` pending in the calling thread."""
    pend = ctypes.pythonapi.PyThreadState_SetAsyncExc
    pend.argtypes, pend.restype = (ctypes.c_ulong, ctypes.py_object, ctypes.py_object), None
    return partial(pend, threading.get_ident(), Outside)


def pend_signal(number: int) -> Callable[..., None]:
    """A C function that sends the process a signal whose handler raises `Outside`."""

    def handler(*_: object) -> None:
        raise Outside

    signal.signal(number, handler)
    pend = ctypes.CDLL(None)["raise"]
    pend.argtypes, pend.restype = (ctypes.c_int, ctypes.py_object), None
    return partial(pend, number)


KINDS: Final[dict[str, Callable[[], Callable[..., None]]]] = {
    "exception": pend_async_exception,
    "alarm": partial(pend_signal, signal.SIGALRM),
    "interrupt": partial(pend_signal, signal.SIGINT),
}


class Deliverer:
    """Finds the points of a function, and delivers at one of them."""

    def __init__(self, kind: str) -> None:
        self._pending = type("_Pending", (), {"now": property(KINDS[kind]())})()

    def points(self, act: Callable[[], None]) -> list[Point]:
        """The points of one run."""
        seen: Counter[tuple[str, str, int]] = Counter()
        found: list[Point] = []
        last: list[Any] = [None]

        def note(frame: FrameType, event: str, _: object) -> Any:
            if event == "call":
                _trace_opcodes(frame, note)
                if last[0] is not None and (not found or found[-1] != last[0]):
                    found.append(last[0])  # that byte code enters a Python function
            elif event == "opcode":
                code, offset = frame.f_code, frame.f_lasti
                name = dis.opname[code.co_code[offset]]
                key = code.co_filename, _qualified(code), offset
                seen[key] += 1
                line = frame.f_lineno
                last[0] = Point(*key, seen[key], f"{_short(code)}:{line} {code.co_name} {name}@{offset}")
                if name.startswith(_LOOKS):
                    found.append(last[0])
            return note

        _traced(note, act)
        return found

    def deliver(self, point: Point, act: Callable[[], None]) -> bool:
        """Run `act` with an exception pending at `point`; whether the run came there."""
        filename, name, place, nth = point[:4]
        pending, count, reached = self._pending, 0, False

        def watch(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count, reached
            if event == "call":
                _trace_opcodes(frame, watch)
                return watch
            if event != "opcode" or frame.f_lasti != place:
                return watch
            code = frame.f_code
            if code.co_filename != filename or _qualified(code) != name:
                return watch
            count += 1
            if count < nth:
                return watch
            reached = True
            sys.settrace(None)
            pending.now  # invariant: from here on no call, until the byte code has begun  # noqa: B018
            return None

        try:
            _traced(watch, act)
        finally:
            self.reached = reached
        return reached


class Liner:
    """The same for lines, at whose beginning a trace function raises."""

    def points(self, act: Callable[[], None]) -> list[Point]:
        """The lines of one run."""
        seen: Counter[tuple[str, str, int]] = Counter()
        found: list[Point] = []

        before: list[Any] = [None, ""]

        def note(frame: FrameType, event: str, _: object) -> Any:
            code = frame.f_code
            if event == "call":
                _trace_opcodes(frame, note)
                frame.f_trace_lines = True
                before[:] = frame, _LOOKS[0]  # its RESUME
            elif event == "opcode":
                before[:] = frame, dis.opname[code.co_code[frame.f_lasti]]
            elif event == "line":
                key = code.co_filename, _qualified(code), frame.f_lineno
                seen[key] += 1
                if frame.f_lineno in within_commits(code.co_filename):
                    return note
                is_looked_at = before[0] is frame and before[1].startswith(_LOOKS)
                text = f"{_short(code)}:{frame.f_lineno} {code.co_name}"
                found.append(Point(*key, seen[key], text, is_looked_at))
            return note

        _traced(note, act)
        return found

    def deliver(self, point: Point, act: Callable[[], None]) -> bool:
        """Run `act` with an exception raised at a line; whether the run came there."""
        filename, name, place, nth = point[:4]
        count = 0
        self.reached = False

        def watch(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            code = frame.f_code
            if (
                event == "line"
                and frame.f_lineno == place
                and code.co_filename == filename
                and _qualified(code) == name
            ):
                count += 1
                if count == nth:
                    self.reached = True
                    sys.settrace(None)
                    # Raised by no `raise`, which would look like one of the operation's own.
                    _never_begun().throw(Outside())
            return watch

        _traced(watch, act)
        return self.reached


def _never_begun() -> Generator[None]:
    """What is thrown into it comes out where nobody has raised it."""
    yield


def _traced(trace: Callable[..., Any], act: Callable[[], None]) -> None:
    sys._getframe().f_trace_opcodes = True  # without it, 3.12 traces no byte codes of other frames
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(None)
    _nothing()  # entering it delivers what may still be pending


def _nothing() -> None:
    """A function, to be entered."""


def _trace_opcodes(frame: FrameType, trace: Callable[..., Any]) -> None:
    frame.f_trace = trace  # 3.13 wants it before the next
    frame.f_trace_opcodes = True
    frame.f_trace_lines = False


def _qualified(code: CodeType) -> str:
    return f"{code.co_qualname}:{code.co_firstlineno}"


def _short(code: CodeType) -> str:
    return "/".join(code.co_filename.split("/")[-2:])


class Trial:
    """One subject in this process, and what is delivered into it."""

    def __init__(self, deliverer: Deliverer | Liner) -> None:
        self._deliverer = deliverer
        self._unraisable = Unraisable()
        self._subjects: dict[str, Subject] = {}
        self._points: dict[str, Point] = {}

    def keys(self, name: str, most: int) -> Iterator[str]:
        """What there is to try with a subject: `most` points of all, or all if that is 0."""
        subject = self._subjects[name] = {**SUBJECTS, **APART}[name]()
        for _ in range(WARM_UP):
            subject.act()
            subject.check(None)
        points = self._deliverer.points(subject.act)
        subject.check(None)
        counts: Counter[tuple[str, str, int]] = Counter(point[:3] for point in points)
        chosen = [point for point in points if point.nth <= 2 or point.nth == counts[point[:3]]]
        step = max(1, -(-len(chosen) // most)) if most else 1
        for point in chosen[::step]:
            key = f"{name} {point.text} #{point.nth}"
            self._points[key] = point
            yield key

    def attempt(self, key: str) -> str:
        """Deliver at one point, and look what became of it."""
        subject, point = self._subjects[key.split(maxsplit=1)[0]], self._points[key]
        try:
            return self._deliver(subject, point)
        except Fault as fault:
            if point.is_looked_at:
                raise
            raise Fault(NEVER, f"{fault.kind}: {fault}") from None

    def unended(self, key: str) -> str:
        """The verdict on a trial that does not end."""
        return HANG if self._points[key].is_looked_at else NEVER

    def _deliver(self, subject: Subject, point: Point) -> str:
        for _ in range(TRIES):
            hit = self._hit(subject, point)
            if subject.may_be_printed and self._unraisable.take():
                hit = Outside()
            judge(subject, hit, Outside)
            ignored = self._unraisable.take()
            if ignored and not subject.may_be_printed:
                raise Fault(LOST, "\n".join(ignored))
            if hit is not None:
                return ""
            if self._deliverer.reached:
                raise Fault(LOST, "it came out of nothing")
        return MISSED

    def _hit(self, subject: Subject, point: Point) -> BaseException | None:
        try:
            self._deliverer.deliver(point, subject.act)
        except Outside as error:
            return error
        except BaseException as error:  # noqa: BLE001 - what is raised is the verdict
            raise Fault(BROKEN, traced(error)) from None
        return None


def main() -> None:
    """Try some subjects in this process; with `--report` in others, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", default=list(SUBJECTS))
    parser.add_argument("--kind", choices=KINDS, default="exception")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--most", type=int, default=0)
    options = options_of(parser, __spec__.name)
    sys.setswitchinterval(_NEVER_S)
    trial = Trial(Liner() if options.lines else Deliverer(options.kind))
    gc.set_threshold(0)  # finalizers at random moments would be other points in each run
    conduct(options.subjects, lambda name: trial.keys(name, options.most), trial.attempt, trial.unended)


if __name__ == "__main__":
    main()
