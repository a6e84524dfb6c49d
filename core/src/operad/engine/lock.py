"""Lock of a dependency queue: threads do not wait for each other, and no exception tears a step.

The queue is guarded by one lock, and no push or finish blocks on it. Under the interpreter's own lock,
blocking on a contended lock in a hot path makes two threads hand over to each other at every step; a
first version that did so ran at half the speed with one worker and a quarter with four. Instead, every
push and finish is a *request*, which is linked to the lock; the thread that holds the lock, or finds it
free, does the requests in order (flat combining). The same rule settles re-entrance: a finalizer or signal
handler that interrupts the holder in its own thread finds the lock taken, leaves its request, and returns. It
must not *wait*, because the holder is below it on the same stack; `ThreadState.inside` tells it so.

*The rule of commits.* Signal handlers, exceptions sent to a thread and thread switches come at the entry of a
Python function, at a backward jump and after a call of C code, and nowhere else (CPython 3.11 to 3.13). So a
straight stretch of code without a call, a loop or an allocation is one step, whatever happens: a *commit*.
Everything that must hold together is written in one, between `# commit: begin` and `# commit: end`, or on
one line marked `# commit`. Only what stands before its first store may fail: an item that is not there, a
list that finds no memory to become shorter. What needs an allocation, such as a count, is computed before.
One call of C code may be the last thing in it, since checks come behind calls: `# commit: end with a call`.
No store in it lets go of the last reference to what a program made, since a finalizer would run there. A
`finally` that must happen has no call before its commit. Directly inside a `try`, loops are `for` loops:
since Python 3.12 the jump back of a `while` stands outside of the `try`, and what comes there would pass the
`finally` by.

*Steps are started over, not undone.* An exception may end a step anywhere between two commits: Ctrl-C, a
handler of the program that raises, no memory, no stack. So what a step has done so far stands in the
request itself, and the request stays `current` until its step has returned. The thread that takes the lock
next begins it again, and it goes on where it was. A step must bear to be started over even after its end.

*Who waits heals.* A thread that waits looks up now and then: it frees a lock whose owner has left its step
(only a trace function's exception can do that), does what is deferred, and wakes workers. So a thread
that was interrupted and calls the engine never again holds no other one up.

The lock itself is a slot: `del lock.token` tests and takes it in one instruction (13 ns; a list's `pop` 16,
`with threading.Lock()` 134), `owner` beside it says who has it.

Refused: a lock per variable (a push then takes several, in a global order), re-entrant locking (an
interrupted step would be seen half done), journals to undo from (they cost more than the steps), and
deferring signals (a program's own handlers cannot be deferred, and notebooks install theirs before each
cell).

*The surface for the imperative hot path.* One module outside the engine may run a small function
under the lock instead of calling `Engine.run_inline`. It does, with `lock = current.hot_lock`:

    thread = local.state  # or one that the caller keeps in a thread-local of its own
    inside = thread.inside
    if lock.blockers or inside not in (OUTSIDE, NESTED):
        ...  # take the slow way: `run_inline`, then `push_sync`
    thread.inside = STEP
    try:
        try:
            # commit: begin
            del lock.token
            lock.owner = thread
            # commit: end
        except AttributeError:
            ...  # the slow way
        try:
            if lock.next is not None or lock.current is not None:
                lock.read()
            ...  # is every variable idle? if not, the slow way, after the release
            try:
                thread.run(function, *args)  # NESTED: `function(*args)`, and errors are raised
            except BaseException as error:
                engine.fail_inline(function, mutable_vars, name, error)
            ...  # `var.version += 1` for each variable written
        finally:
            lock.owner = lock.token = None  # commit
    finally:
        thread.inside = inside
        if lock.next is not None or lock.has_after:
            lock.catch_up()

* A variable may be read if `var.holders >= 0 and not var.queue and var.failure is None`, and written if
  `not var.holders and var.failure is None`.
* Only for direct ufuncs of at most about 500 elements, where NumPy holds the interpreter's lock anyway,
  and for functions that say they are as quick (`Operator.lock_cost_limit_us`): who waits does so for some
  microseconds, and who pushes leaves a request. Longer functions go to `run_inline`, which claims their
  variables under the lock and calls them without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final, final

from operad.engine.thread import STEP, ThreadState, local
from operad.interrupts import is_from_outside

QUIESCING: Final = "quiescing"
PROFILER: Final = "profiler"
"""The words in `CombiningLock.blockers`."""

_RETRY_S: Final = 2e-5
_MOST_RETRIES: Final = 2

Step = Callable[[Any], object]


class Request:
    """Something to be done under the lock.

    Args:
        step: Called with the request; it may be started over, see the head of the module.
    """

    # invariant: `next` is set while the request is linked behind another one, and only then.
    __slots__ = ("next", "step")

    def __init__(self, step: Step) -> None:
        self.step = step
        self.next: Request | None = None


@final
class CombiningLock:
    """The lock of one dependency queue.

    Args:
        after: Does what steps left for after the lock is released, and resets `has_after`.
        give_up: Called as `give_up(request, error)` under the lock, of a request that always raises.

    Attributes:
        token: There while no thread holds the lock.
        owner: The thread that holds it; None if none does.
        next: The first request that waits for it; `tail` is the last one, or the lock itself.
        current: The request whose step is being done, or was ended by an exception.
        has_after: Whether a step left something to do after the release.
        is_waited_for: Whether a thread that finds the lock taken waits for it; one that interrupted its
            own step leaves its request all the same.
        blockers: Why there is no fast path now, one word each: a closed gate, the profiler. Appending and
            removing are atomic, so no lock guards it.
    """

    __slots__ = (
        "_after", "_give_up", "_retries", "blockers", "current", "has_after", "is_waited_for", "next",
        "owner", "tail", "token",
    )  # fmt: skip

    def __init__(
        self, after: Callable[[], None], give_up: Callable[[Any, BaseException], None] | None = None
    ) -> None:
        self._after = after
        self._give_up = give_up
        self.blockers: list[str] = []
        self.has_after = False
        self.is_waited_for = False
        self.renew()

    def renew(self) -> None:
        """Begin free and without requests, as in a forked child."""
        self._retries = 0
        self.current: Any = None
        self.next: Any = None
        self.tail: Any = self
        self.owner: ThreadState | None = None
        self.token = None

    def take(self, owner: ThreadState | None = None) -> bool:
        """Take the lock; wait while another thread holds it, which takes microseconds."""
        owner = owner or local.state
        while True:
            try:
                # commit: begin
                del self.token
                self.owner = owner
                # commit: end
            except AttributeError:
                time.sleep(_RETRY_S)
            else:
                return True

    def give_back(self) -> None:
        """Let go of the lock."""
        self.owner = self.token = None  # commit

    def do(self, request: Request) -> None:
        """Have the request's step done: here, or by the thread that holds the lock."""
        self.tail.next = self.tail = request  # commit
        self.catch_up()

    def catch_up(self, thread: ThreadState | None = None) -> None:
        """Do the requests, unless a thread does already and will see them; then do what is left for after.

        Args:
            thread: The calling thread, where the caller knows it.
        """
        thread = thread or local.state
        inside = thread.inside
        while self.next is not None or self.current is not None:
            try:
                thread.inside = STEP
                try:
                    # commit: begin
                    del self.token
                    self.owner = thread
                    # commit: end
                except AttributeError:
                    if not self.is_waited_for or inside == STEP or not self.take(thread):
                        break
                try:
                    self.read()
                finally:
                    self.owner = self.token = None  # commit
            finally:
                thread.inside = inside
        if self.has_after and inside != STEP:
            self._after()

    def read(self) -> None:
        """Do what is requested, first what an exception ended. Under the lock."""
        if self.current is not None:
            self._begin_anew(self.current)
        while (request := self.next) is not None:
            # commit: begin
            following = request.next
            self.current = request
            self.next = following
            if following is None:
                self.tail = self
            request.next = None
            # commit: end
            request.step(request)
            self.current = None

    def _begin_anew(self, request: Any) -> None:
        """Do the step of a request that an exception ended."""
        try:
            request.step(request)
        except Exception as error:
            if not self._is_hopeless(error):
                raise
            if self._give_up is not None:
                self._give_up(request, error)
        # commit: begin
        self._retries = 0
        self.current = None
        # commit: end

    def _is_hopeless(self, error: Exception) -> bool:
        """Return whether the current step has now raised three times by itself: a mistake of the engine."""
        if isinstance(error, (MemoryError, RecursionError)) or is_from_outside(error):
            return False
        self._retries += 1
        return self._retries >= _MOST_RETRIES

    @property
    def is_busy(self) -> bool:
        """Return whether a step is under way or requested."""
        return self.owner is not None or self.current is not None or self.next is not None

    def heal(self) -> None:
        """Free a lock whose owner is in no step any more, and do what is requested."""
        # commit: begin
        owner = self.owner
        if owner is not None and owner.inside != STEP:
            self.owner = self.token = None
        # commit: end
        self.catch_up()
