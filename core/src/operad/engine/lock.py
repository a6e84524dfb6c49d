"""How threads share one dependency queue without waiting for each other.

The queue is guarded by one lock, and no push or finish blocks on it. Under the interpreter's own lock,
blocking on a contended lock in a hot path makes two threads hand over to each other at every step; a
first version that did so ran at half the speed with one worker and a quarter with four. Instead, who
finds the lock taken leaves a note in the inbox, and whoever holds it reads the inbox before and after
letting go (flat combining). Appending to a deque is atomic, so notes keep each thread's order.

The same rule settles re-entrance: a finalizer or signal handler that interrupts the holder in its own
thread finds the lock taken, leaves its note, and returns. It must not *wait*, because the holder is
below it on the same stack; `ThreadState.inside` tells it so.

Refused: a lock per variable (a push then takes several, in a global order), and re-entrant
locking (an interrupted step would be seen half done).

The lock itself is a list of one element: `pop` takes it and `append` gives it back. Both are atomic, and take
a fifth of the time of `threading.Lock`, whose only other gift, sleeping until it is free, nothing on a hot
path wants.

*The surface for the imperative hot path.* One module outside the engine may run a small function
under the lock instead of calling `Engine.run_inline`. It does, with `lock = engine.lock`:

    thread = local.state  # or one that the caller keeps in a thread-local of its own
    inside = thread.inside
    if lock.blockers or inside not in (OUTSIDE, NESTED):  # and again once a block to be used anew was found
        ...  # take the slow way: `run_inline`, then `push_sync`
    thread.inside = STEP
    try:
        try:
            lock.free.pop()
        except IndexError:
            ...  # the slow way
        try:
            if lock.inbox:
                lock.read_inbox()
            ...  # is every variable idle? if not, the slow way, after the release
            try:
                thread.run(function, *args)  # NESTED: `function(*args)`, and errors are raised
            except BaseException as error:
                engine.fail_inline(function, mutable_vars, name, error)
            ...  # `var.version += 1` for each variable written
        finally:
            lock.free.append(None)
    finally:
        thread.inside = inside
        if lock.inbox or lock.has_after:
            lock.catch_up()

* A variable may be read if `var.holders >= 0 and not var.queue and var.failure is None`, and written if
  `not var.holders and var.failure is None`.
* Under the lock and with the inbox read *after* an object was found dead, its variable is idle if
  `not var.holders`; `Engine.is_idle` is for threads that do not hold the lock.
* Only for direct ufuncs of at most about 500 elements, where NumPy holds the interpreter's lock anyway,
  and for functions that say they are as brief (`Operator.brief_us`): who waits does so for some
  microseconds, and who pushes leaves a note. Longer functions go to `run_inline`, which claims their
  variables under the lock and calls them without it.
* The module says `protect(__file__)` (`engine.interrupts`), so that Ctrl-C spares it.
* `lock`, `free` and `inbox` are looked up at each call: a forked child has others.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, final

from operad.engine.thread import STEP, local

BULK: Final = "bulk"
GATE: Final = "gate"
PROFILER: Final = "profiler"
STOP: Final = "stop"
"""The words in `CombiningLock.blockers`."""

_RETRY_S: Final = 2e-5

Step = Callable[[Any, Any], object]


@final
class CombiningLock:
    """The lock of one dependency queue.

    Args:
        after: Does what steps left for after the lock is released, and resets `has_after`.
        waits: Whether a thread that finds the lock taken waits for it; a thread that interrupted its
            own step leaves a note all the same.

    Attributes:
        free: The lock itself: one element while nobody holds it.
        inbox: Steps that others left for the holder.
        has_after: Whether a step left something to do after the release.
        blockers: Why there is no fast path now, one word each: an open bulk scope, a closed gate, the
            profiler, a stop. Appending and removing are atomic, so no lock guards it.
    """

    __slots__ = ("_after", "_waits", "blockers", "free", "has_after", "inbox")

    def __init__(self, after: Callable[[], None], waits: bool = False) -> None:
        self._after = after
        self._waits = waits
        self.blockers: list[str] = []
        self.has_after = False
        self.renew()

    def renew(self) -> None:
        """Begin free and with an empty inbox, as in a forked child."""
        self.free: list[None] = [None]
        self.inbox: deque[tuple[Step, Any, Any]] = deque()

    def try_take(self) -> bool:
        """Take the lock, unless somebody holds it."""
        try:
            self.free.pop()
        except IndexError:
            return False
        return True

    def take(self) -> bool:
        """Take the lock; wait while another thread holds it, which takes microseconds."""
        while not self.try_take():
            time.sleep(_RETRY_S)
        return True

    def give_back(self) -> None:
        """Let go of the lock."""
        self.free.append(None)

    def do(self, step: Step, first: Any, second: Any = None) -> None:
        """Have `step(first, second)` done under the lock: here, or by the thread that holds it."""
        thread = local.state
        before = thread.inside
        thread.inside = STEP
        try:
            if self.take() if self._waits and before != STEP else self.try_take():
                try:
                    if self.inbox:
                        self.read_inbox()
                    step(first, second)
                finally:
                    self.give_back()
            else:
                self.inbox.append((step, first, second))
        finally:
            thread.inside = before
        if self.inbox or self.has_after:
            self.catch_up()

    def catch_up(self) -> None:
        """Read the inbox, unless somebody does already and will see what is in it; then do what is left."""
        thread = local.state
        before = thread.inside
        while self.inbox:
            thread.inside = STEP
            try:
                if not self.try_take():
                    break
                try:
                    self.read_inbox()
                finally:
                    self.give_back()
            finally:
                thread.inside = before
        if self.has_after and before != STEP:
            self._after()

    def read_inbox(self) -> None:
        """Do what others noted. Under the lock."""
        inbox = self.inbox
        while inbox:
            step, first, second = inbox.popleft()
            step(first, second)

    @property
    def is_quiet(self) -> bool:
        """Whether no step is under way or noted, so that variables may be read without the lock."""
        # invariant: in this order. A step noted in the inbox is done once the lock is free again.
        return not self.inbox and bool(self.free)
