"""Threads that help one operation with parts of its work.

An operation whose work falls into independent parts hands them to the pool and takes part itself.
Which thread computes which part changes nothing about the result. The pool waits at a queue between
jobs; no thread spins, so it does not compete with a BLAS pool, which has one thread meanwhile.

Refused: `concurrent.futures`, which makes a future, a lock and a condition for every part (30 us where a
part may take 100 us), and numba's or OpenMP's pools, which would be a second pool of spinning threads.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Final, final

from operad.engine.thread import OPERATION, local, new_event
from operad.interrupts import start_thread
from operad.system import at_fork

PartFn = Callable[[int, int], object]
"""`function(part, slot)`: computes part `part`; no two parts that run at once have one `slot`."""


_SLICE_S: Final = 0.02


@final
class _Job:
    """Parts of one piece of work."""

    __slots__ = ("_done", "_errors", "_function", "_open", "_parts")

    def __init__(self, function: PartFn, count: int) -> None:
        self._function = function
        self._parts = deque(range(count))  # not begun
        self._open = deque(range(count))  # one element for each part that is not ended, whichever
        self._done = new_event()
        self._errors: list[tuple[int, BaseException]] = []

    def work(self, slot: int) -> None:
        """Compute parts until none is left; after an error the rest is passed over."""
        parts, still_open = self._parts, self._open
        while parts:
            try:
                # commit: begin
                part = parts[0]
                del parts[0]
                # commit: end
            except IndexError:  # another thread was faster
                return
            try:
                if not self._errors:
                    self._function(part, slot)
            except BaseException as error:  # noqa: BLE001 - `finish` raises it in the operation's thread
                self._errors.append((part, error))
            finally:
                del still_open[0]  # commit
            if not still_open and self._done.locked():
                with suppress(RuntimeError):  # another thread has just done so
                    self._done.release()

    def pass_over(self, error: BaseException) -> None:
        """Begin no further part."""
        self._errors.append((len(self._parts) + len(self._open), error))
        self.work(0)

    def finish(self) -> None:
        """Wait for the parts of others, and raise the error of the first part that had one.

        Whatever comes meanwhile is raised afterwards: the others work in the operation's memory.
        """
        while self._open:
            try:
                self._done.acquire(True, _SLICE_S)
            except BaseException as error:  # noqa: BLE001 - raised below
                self.pass_over(error)
        if self._errors:
            raise min(self._errors, key=lambda found: found[0])[1]


class _Membership(threading.local):
    is_member: bool = False


@final
class IntraOpPool:
    """As many helping threads as jobs ask for, made when they are first needed."""

    def __init__(self) -> None:
        self._membership = _Membership()
        self._renew()
        at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._jobs: SimpleQueue[tuple[_Job, int]] = SimpleQueue()
        self._hired = 0
        self._hiring = threading.Lock()

    @property
    def is_inside(self) -> bool:
        """Return whether the calling thread computes parts."""
        return self._membership.is_member

    def run(self, function: PartFn, count: int, width: int) -> None:
        """Call `function(part, slot)` for every part below `count`, in up to `width` threads.

        Inside a part, a further `run` uses its own thread alone.

        Args:
            function: Computes a part, in memory that belongs to the part or to the slot.
            count: How many parts there are.
            width: How many may be computed at once; slots are below it.
        """
        width = min(width, count)
        if width <= 1 or self._membership.is_member:
            for part in range(count):
                function(part, 0)
            return
        self._hire(width - 1)
        job = _Job(function, count)
        for slot in range(1, width):
            self._jobs.put((job, slot))
        try:
            self._membership.is_member = True
            job.work(0)
        except BaseException as error:  # noqa: BLE001 - between two parts; `finish` raises it
            job.pass_over(error)
        finally:
            self._membership.is_member = False
        job.finish()

    def _hire(self, wanted: int) -> None:
        with self._hiring:
            while self._hired < wanted:
                start_thread(f"operad-intra-op-{self._hired + 1}", self._serve, self._jobs)
                self._hired += 1

    def _serve(self, jobs: SimpleQueue[tuple[_Job, int]]) -> None:
        self._membership.is_member = True
        thread = local.state
        thread.inside = OPERATION
        while True:
            job, slot = jobs.get()
            thread.run(job.work, slot)
            del job  # or the arrays it refers to live until the next one


intra_op_pool = IntraOpPool()
