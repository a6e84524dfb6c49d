"""A thread that makes items before the consumer takes them.

One `ReadAhead` is one pass: it ends with the items, with an error, or with `stop`. A pass is never begun
again, so nothing is handed between passes and `stop` may leave items behind.

The thread is a daemon and holds no reference to who takes the items, so neither the end of the process nor
a forgotten iterator waits for it. A forked child has a copy of this object without its thread, and perhaps
with its lock held: the child must not touch it, which `is_ours` says.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Generic, TypeVar, final

from operad.interrupts import block_signals

T = TypeVar("T")


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
        self._is_stopping = False
        # An RLock: the garbage collector may call `request_stop` in a thread that holds it.
        self._changed = threading.Condition(threading.RLock())
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def is_ours(self) -> bool:
        """True if the thread is one of this process; False in a forked child."""
        return self._process == os.getpid()

    def take(self) -> T:
        """The next item, in order; waits for it.

        Raises:
            BaseException: What ended the pass, again at every call: StopIteration, or the error of `make`.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ready or self._end is not None)
            if self._ready:
                item = self._ready.popleft()
                self._changed.notify_all()
                return item
            assert self._end is not None
            # From the thread's frames on: raising it again would add this call's once more each time.
            raise self._end.with_traceback(self._trace)

    def request_stop(self) -> None:
        """Let the thread end once it is done with the item it makes; does not wait for it."""
        if self.is_ours:
            with self._changed:
                self._is_stopping = True
                self._changed.notify_all()

    def stop(self) -> None:
        """`request_stop`, and wait for the thread."""
        self.request_stop()
        if self.is_ours:
            self._thread.join()

    def _run(self) -> None:
        block_signals()
        while True:
            try:
                item = self._make()
            except BaseException as error:  # noqa: BLE001 - raised again by `take`
                self._finish(error)
                return
            with self._changed:
                self._ready.append(item)
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._is_stopping or len(self._ready) < self._depth)
                if self._is_stopping:
                    return
            del item  # so that a batch is not kept while the next one is made

    def _finish(self, error: BaseException) -> None:
        with self._changed:
            self._end, self._trace = error, error.__traceback__
            self._changed.notify_all()
