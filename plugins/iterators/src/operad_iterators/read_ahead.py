"""A thread that makes items before the consumer takes them.

One `ReadAhead` is one pass: it ends with the items, with an error, or with `stop`. A pass is never begun
again, so nothing is handed between passes and `stop` may leave items behind.

The thread is a daemon and holds no reference to who takes the items, so neither the end of the process nor
a forgotten iterator waits for it. A forked child has a copy of this object without its thread: the child must
not touch it, which `is_ours` says.

Threads wait at locks of C code, each for a change that the other one makes, and look again after a moment. A
`Condition` waits in Python code: an exception that a signal's handler raises there leaves its lock held, and
the other thread waits for ever.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Final, Generic, TypeVar, final

from operad.interrupts import start_thread

T = TypeVar("T")
_SLICE_S: Final = 0.1


@final
class _Change:
    """A change that one thread waits for; the locked lock says that there was none."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def wait(self) -> None:
        """Return after the next change, or after a moment."""
        self._lock.acquire(timeout=_SLICE_S)

    def tell(self) -> None:
        """Let the other thread look."""
        with suppress(RuntimeError):  # it has not waited since the last one
            self._lock.release()


@final
class ReadAhead(Generic[T]):
    """Calls `make` in a thread of its own until it raises, at most `depth` items ahead.

    Args:
        make: Gives the next item; StopIteration says that there are no more.
        depth: How many items wait to be taken at most.
        name: Of the thread.
    """

    def __init__(self, make: Callable[[], T], depth: int, name: str) -> None:
        self._make = make
        self._depth = depth
        self._ready: deque[T] = deque()
        self._end: BaseException | None = None
        self._trace: TracebackType | None = None
        self._is_stopping = self._is_over = False
        self._made, self._taken = _Change(), _Change()
        self._process = os.getpid()
        start_thread(name, self._run)

    @property
    def is_ours(self) -> bool:
        """True if the thread is one of this process; False in a forked child."""
        return self._process == os.getpid()

    def take(self) -> T:
        """The next item, in order; waits for it.

        Raises:
            BaseException: What ended the pass, again at every call: StopIteration, or the error of `make`.
        """
        while True:
            end = self._end  # before the items, of which there are no more behind it
            try:
                item = self._ready.popleft()
            except IndexError:
                if end is not None:
                    # From the thread's frames on: raising it again would add this call's once more each time.
                    raise end.with_traceback(self._trace) from None
                self._made.wait()
            else:
                self._taken.tell()
                return item

    def request_stop(self) -> None:
        """Let the thread end once it is done with the item it makes; does not wait for it."""
        if self.is_ours:
            self._is_stopping = True
            self._taken.tell()

    def stop(self) -> None:
        """`request_stop`, and wait for the thread."""
        self.request_stop()
        while self.is_ours and not self._is_over:
            self._made.wait()

    def _run(self) -> None:
        try:
            while not self._is_stopping:
                if len(self._ready) < self._depth:
                    self._ready.append(self._make())
                    self._made.tell()
                else:
                    self._taken.wait()
        except BaseException as error:  # noqa: BLE001 - raised again by `take`
            self._trace = error.__traceback__
            self._end = error
        finally:
            self._is_over = True
            self._made.tell()
