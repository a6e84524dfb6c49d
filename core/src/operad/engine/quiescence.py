"""Bringing an engine to rest: for a fork, the end of the process, `stop` and `set`.

All hold pushes of other threads back, and wait until nothing runs that could run by itself. That is
not "nothing pending": an asynchronous operation may be pending for ever.

What is done before and after a fork may be ended by an exception from outside, and started over: each step
looks at what is done already (see `lifetime`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final, final

from operad.engine.dispatch import Dispatcher, Runner
from operad.engine.failure import Failure
from operad.engine.forking import in_hand, renew
from operad.engine.lock import QUIESCING, Request
from operad.engine.thread import OUTSIDE, STEP, ThreadState, local, new_event, wait_for

_POLL_S: Final = 0.01
_HELD_POLL_S: Final = 0.001
_MOST_POLLS: Final = 500
_FORKING: Final = ThreadState()
_FORKING.inside = STEP  # as the lock's owner during a fork: no thread that waits takes it for left behind


@final
class Quiescence:
    """Brings one engine to rest, and lets it go on; see also `lifetime`."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._turn: Any = threading.RLock()  # held by the thread that began
        self._owner: ThreadState | None = None
        self._dispatcher = dispatcher
        self._lock = dispatcher.lock
        self._is_held_for_fork = False

    def begin(self) -> bool:
        """Hold pushes back and return when nothing runs; False if this thread began before."""
        thread = local.state
        if self._owner is thread:
            return False
        try:
            if not self._turn._is_owned():  # else an exception ended this here
                self._turn.acquire()
            self._owner = thread
            self._lock.blockers.append(QUIESCING)
            self._rest()
        except BaseException:
            self.end()
            raise
        return True

    def change(self, step: Callable[[], object] = int) -> None:
        """Call `step` between `begin` and `end`, once asynchronous operations are completed as well."""
        queue = self._dispatcher.queue
        try:
            while self.begin() and not queue.is_done:
                self.end()  # what completes them may be held back
                self._dispatcher.wait_until(lambda: queue.is_done, _POLL_S)
            step()
        finally:
            try:
                self.end()
            except BaseException:  # from outside, at its entry or in its midst: it does what is not done
                self.end()
                raise

    def use(self, runner: Runner) -> None:
        """Have another runner run the operations, once none is handed out; between `begin` and `end`."""

        def change(_: Request) -> None:
            if self._dispatcher.queue.is_at_rest:
                self._dispatcher.use(runner)

        while self._dispatcher.runner is not runner:
            self._rest()
            self._lock.do(Request(change))

    def end(self) -> None:
        """Let the other threads go on, if this one holds them back."""
        if not self._turn._is_owned():
            return
        while QUIESCING in self._lock.blockers:
            self._lock.blockers.remove(QUIESCING)
        self._owner = None
        self._turn.release()

    def wait_until_resumed(self) -> None:
        """Wait, before a push, while another thread needs the engine to stand still.

        Operations, and whatever interrupts a step of the engine, never wait: they are part of what comes
        to rest.
        """
        thread = local.state
        while self._owner not in (None, thread) and thread.inside == OUTSIDE:
            wait_for(new_event(), _HELD_POLL_S)

    def _rest(self) -> None:
        queue = self._dispatcher.queue

        def is_at_rest() -> bool:
            return queue.is_at_rest

        dispatcher = self._dispatcher
        while self._lock.is_busy or not queue.is_at_rest:
            dispatcher.runner.help(is_at_rest)  # at the end of the process no worker may start any more
            dispatcher.wait_until(is_at_rest, _POLL_S)
            if not queue.is_at_rest:
                dispatcher.heal()

    def hold_for_fork(self) -> None:
        """Come to rest, and keep the lock, unless this thread has it already: then its step goes on in both.

        Inside the engine there is no rest to wait for; see `let_end`.
        """
        thread = local.state
        is_outside = thread.inside == OUTSIDE
        if is_outside:
            if self._owner is not thread:
                self._is_held_for_fork = True
            self.begin()
        if self._lock.owner not in (_FORKING, thread):
            self._lock.take(_FORKING)
        while is_outside and (self._lock.next is not None or not self._dispatcher.queue.is_at_rest):
            self._lock.give_back()
            self._rest()
            self._lock.take(_FORKING)

    def let_end(self) -> None:
        """Give what other threads run a moment to end, since it would be lost to the child.

        Not for ever, for it may be waiting for this thread, which is inside the engine. Outside nothing runs.
        """
        for _ in range(_MOST_POLLS):
            if local.state.inside == OUTSIDE or not in_hand(self._dispatcher, is_own=False):
                break
            time.sleep(_HELD_POLL_S)

    def release_after_fork(self) -> None:
        """The parent goes on."""
        if self._lock.owner is _FORKING:
            self._lock.give_back()
        if local.state.inside != STEP:  # else what it goes on to does that
            self._lock.catch_up()
        if self._is_held_for_fork:
            self.end()
            self._is_held_for_fork = False

    def renew_after_fork(self) -> None:
        """The child goes on without the other threads."""
        blockers = self._lock.blockers
        self._turn = threading.RLock()
        self._owner = None
        self._is_held_for_fork = False
        blockers[:] = [word for word in blockers if word != QUIESCING]
        renew(self._dispatcher)

    def finish_at_exit(self) -> list[Failure]:
        """Run what can run without another thread's `on_complete`; the failures no wait has raised."""
        thread = local.state
        if thread.inside == OUTSIDE and self.begin():
            self.end()
        return self._dispatcher.queue.failures.unread()
