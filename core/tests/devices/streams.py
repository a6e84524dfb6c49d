"""Streams and events of the stand-in for CuPy, which a test can hold up.

Arrays are computed at once. What a stream is told comes to an end at once too, unless a test holds it
up: then events are done, and waits end, when the test calls `Stream.complete`, never before. So a test
can prove what waits for what, without threads that sleep.

Within `Stream.late()` arrays are computed late too: a stream comes to what it was told when a thread
waits for an event behind that, in the thread that waits, and no further. So what nothing waits for is
never computed, as if its kernels took for ever, and whatever reads it too early reads what was there before.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Any, ClassVar, Self


class CUDARuntimeError(RuntimeError):
    """What CuPy raises for a failed call of the CUDA runtime; a kernel's error comes out of a wait."""


class _Current(threading.local):
    device = 0
    stream: Stream | None = None


_current = _Current()


class Device:
    """`cupy.cuda.Device`: there are two, over the same memory."""

    COUNT: ClassVar = 2

    def __init__(self, device: int | None = None) -> None:
        self.id = _current.device if device is None else device
        if not 0 <= self.id < self.COUNT:
            raise CUDARuntimeError(f"cudaErrorInvalidDevice: {device} of {self.COUNT}")
        self._before: list[int] = []

    def __enter__(self) -> Self:
        self._before.append(_current.device)
        _current.device = self.id
        return self

    def __exit__(self, *_: object) -> None:
        _current.device = self._before.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    def __hash__(self) -> int:
        return self.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>"


class Event:
    """`cupy.cuda.Event`: done from the beginning, until it is recorded."""

    def __init__(self, block: bool = False, disable_timing: bool = False) -> None:
        self._is_over = threading.Event()
        self._is_over.set()
        self._error: Exception | None = None
        self._stream: Stream | None = None

    @property
    def done(self) -> bool:
        """Whether everything came to an end that its stream had been told when it was recorded."""
        is_over = self._is_over.is_set()
        if is_over and self._error is not None:
            raise self._error
        return is_over

    @property
    def is_over(self) -> bool:
        """Whether it is done, or went wrong."""
        return self._is_over.is_set()

    def record(self, stream: Stream | None = None) -> None:
        """Mark the end of what the stream has been told so far."""
        (stream or get_current_stream()).record(self)

    def synchronize(self) -> None:
        """Wait until it is done; raises what went wrong on the stream."""
        if Stream.is_late and self._stream is not None:
            self._stream.come_to(self)
        self._is_over.wait()
        assert self.done

    def begin(self, stream: Stream) -> None:
        """It was recorded."""
        self._stream = stream
        self._error = None
        self._is_over.clear()

    def end(self, error: Exception | None = None) -> None:
        """The stream has come to it."""
        self._error = error
        self._is_over.set()


class Stream:
    """`cupy.cuda.Stream`: an ordered list of events, of waits for others' events, and of host functions."""

    null: ClassVar[Stream]
    is_late: ClassVar = False
    _is_held: ClassVar = False
    _device: ClassVar = threading.RLock()  # late streams take turns

    def __init__(self, null: bool = False, non_blocking: bool = False, ptds: bool = False) -> None:
        self.device_id = _current.device
        self._before: list[Stream | None] = []
        self._queue: deque[Event | tuple[Event] | Callable[[], object]] = deque()  # a 1-tuple is a wait

    @classmethod
    def held(cls) -> AbstractContextManager[None]:
        """Nothing ends by itself meanwhile, on any stream."""
        return cls._while_set("_is_held")

    @classmethod
    def late(cls) -> AbstractContextManager[None]:
        """Nothing is computed before a thread waits for it meanwhile, on any stream."""
        return cls._while_set("is_late")

    @classmethod
    @contextmanager
    def _while_set(cls, flag: str) -> Iterator[None]:
        setattr(cls, flag, True)
        try:
            yield
        finally:
            setattr(cls, flag, False)

    def work(self, function: Callable[[], object]) -> None:
        """Compute: at once, or late."""
        if self.is_late:
            self._queue.append(function)
        else:
            function()

    def come_to(self, event: Event) -> None:
        """Do all that was told before `event`; what goes wrong comes out of the next event."""
        with self._device:
            error: Exception | None = None
            while self._queue and not event.is_over:
                first = self._queue.popleft()
                try:
                    if isinstance(first, Event):
                        first.end(error)
                        error = None
                    elif isinstance(first, tuple):
                        first[0].synchronize()
                    else:
                        first()
                except Exception as raised:  # noqa: BLE001 - a kernel's error comes out of a wait
                    error = error or raised

    def complete(self, error: Exception | None = None) -> None:
        """Come to the end of everything told so far, or to a wait for an event that is not done.

        Args:
            error: What goes wrong; it comes out of the events that end here.
        """
        while self._queue:
            first = self._queue[0]
            if isinstance(first, tuple) and not first[0].done:
                return
            self._queue.popleft()
            if isinstance(first, Event):
                first.end(error)
            elif not isinstance(first, tuple):
                first()

    @property
    def done(self) -> bool:
        """Whether all that it was told is over."""
        return not self._queue

    def record(self, event: Event | None = None) -> Event:
        """Mark the end of what it has been told so far, by a new event if none is given."""
        event = event or Event()
        event.begin(self)
        self._tell(event)
        return event

    def wait_event(self, event: Event) -> None:
        """What it is told later begins when `event` is done."""
        self._tell((event,))

    def launch_host_func(self, callback: Callable[[Any], object], arg: Any) -> None:
        """Call `callback(arg)` when everything told so far is over."""
        self._tell(lambda: callback(arg))

    def synchronize(self) -> None:
        """Wait for everything told so far."""
        self.record().synchronize()

    def use(self) -> Self:
        """Become the thread's stream."""
        _current.stream = self
        return self

    def __enter__(self) -> Self:
        self._before.append(_current.stream)
        return self.use()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _current.stream = self._before.pop()

    def _tell(self, item: Event | tuple[Event] | Callable[[], object]) -> None:
        self._queue.append(item)
        if not self._is_held and not self.is_late:
            self.complete()


Stream.null = Stream(null=True)


def get_current_stream() -> Stream:
    """The thread's stream."""
    return _current.stream or Stream.null


def current_device() -> int:
    """The number of the thread's device."""
    return _current.device
