"""Annotations that a program records, beside the operations that ran meanwhile.

    domain = od.profiler.Domain("training")
    with domain.new_task("epoch"):
        ...
    domain.new_counter("samples").increment(32)
    domain.new_marker("saved").mark()

Nothing is noted while nothing is recorded; counters keep their values.

Source: python/mxnet/profiler.py. Differs: what has a beginning and an end is a context manager, too.
"""

from __future__ import annotations

import threading
from typing import ClassVar, Final, Self, final

from operad.errors import ParamError
from operad_profiler.recording import Moment, Run, is_recording, moments, now_s, runs, this_thread

_SCOPES: Final = ("process", "thread", "global")


@final
class Domain:
    """A name that tasks, frames, counters and markers are grouped under.

    Args:
        name: What the trace shows.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Task:
        """A task of this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A frame of this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: float | None = None) -> Counter:
        """A counter of this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A marker of this domain."""
        return Marker(self, name)


class _Duration:
    """Something with a beginning and an end."""

    _is_async: ClassVar = False

    def __init__(self, category: str, name: str) -> None:
        self.name = name
        self._category = category
        self._start_s: float | None = None

    def __str__(self) -> str:
        return self.name

    def start(self) -> None:
        """Begin."""
        self._start_s = now_s()

    def stop(self) -> None:
        """End.

        Raises:
            ParamError: It has not begun.
        """
        if self._start_s is None:
            raise ParamError(f"{type(self).__name__} {self.name!r}: stop without start")
        if is_recording():
            thread = this_thread()
            runs.append(Run(self.name, self._category, None, thread, self._start_s, now_s(), self._is_async))
        self._start_s = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


@final
class Task(_Duration):
    """A piece of work of a domain, which may end in another thread and overlap with others.

    Args:
        domain: Its domain.
        name: What the trace shows.
    """

    _is_async = True

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(domain.name, name)


@final
class Frame(_Duration):
    """One of many pieces of work alike, such as a batch.

    Args:
        domain: Its domain.
        name: What the trace shows.
    """

    def __init__(self, domain: Domain, name: str) -> None:
        super().__init__(domain.name, name)


@final
class Event(_Duration):
    """A piece of work of one thread, in no domain.

    Args:
        name: What the trace shows.
    """

    def __init__(self, name: str) -> None:
        super().__init__("event", name)


@final
class Counter:
    """A number that changes.

    Args:
        domain: Its domain.
        name: What the trace shows.
        value: What it is at first; None: 0, which is not noted.
    """

    def __init__(self, domain: Domain, name: str, value: float | None = None) -> None:
        self.name = name
        self._domain = domain
        self._lock = threading.Lock()
        self._value: float = 0
        if value is not None:
            self.set_value(value)

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: float) -> None:
        """Make it `value`."""
        with self._lock:
            self._note(value)

    def increment(self, delta: float = 1) -> None:
        """Add to it."""
        with self._lock:
            self._note(self._value + delta)

    def decrement(self, delta: float = 1) -> None:
        """Take from it."""
        self.increment(-delta)

    def __iadd__(self, delta: float) -> Self:
        self.increment(delta)
        return self

    def __isub__(self, delta: float) -> Self:
        self.decrement(delta)
        return self

    def _note(self, value: float) -> None:
        self._value = value
        if is_recording():
            moments.append(Moment(self.name, self._domain.name, this_thread(), now_s(), value, "process"))


@final
class Marker:
    """A moment.

    Args:
        domain: Its domain.
        name: What the trace shows.
    """

    def __init__(self, domain: Domain, name: str) -> None:
        self.name = name
        self._domain = domain

    def mark(self, scope: str = "process") -> None:
        """Note that it is now.

        Args:
            scope: Whom it concerns: "process", "thread" or "global"; how long the trace draws its line.

        Raises:
            ParamError: `scope` is none of these.
        """
        if scope not in _SCOPES:
            raise ParamError(f"Marker.mark: scope is {scope!r}, expected one of {', '.join(_SCOPES)}")
        if is_recording():
            moments.append(Moment(self.name, self._domain.name, this_thread(), now_s(), None, scope))
