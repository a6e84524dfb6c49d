"""Subjects that push, run inline, wait and delete."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from operad import engine as engines
from operad.engine import bulk
from operad.errors import EngineError
from tests.reliability.laboratory.subjects.subject import (
    CTX,
    Subject,
    caused_by,
    comes,
    require,
)
from tests.reliability.laboratory.trials import BROKEN, LIMIT_S, LOST

CHILD_LIMIT_S: Final = int(LIMIT_S / 2)


class Push(Subject):
    """A push to a variable that is idle, as a rule."""

    def __init__(self) -> None:
        self.engine = engines.get()
        self.var = self.engine.new_variable()
        self.ran: list[object] = []
        self.begun = self.done = 0

    def operation(self, run_ctx: object) -> None:
        """What is pushed."""
        self.ran.append(run_ctx)

    def push(self) -> None:
        """Push it, without a Python function that could be interrupted."""
        self.engine.push_sync(self.ran.append, CTX, (), (self.var,))

    def act(self) -> None:
        self.begun += 1
        self.work()
        self.done += 1

    def work(self) -> None:
        """What is interrupted, which pushes once what counts."""
        self.push()

    def _wait(self, hit: BaseException | None) -> None:
        """Wait until all ran; of the errors only those that come of `hit` are passed over."""
        self.engine.wait_for_all()
        try:
            self.engine.wait_for_var(self.var)
        except BaseException as error:
            if not caused_by(error, hit):
                raise

    def check(self, hit: BaseException | None) -> None:
        self._wait(hit)
        ran = len(self.ran)
        failed = isinstance(hit, Exception)  # then the operation may have failed instead of the push
        require(
            self.done - failed <= ran <= self.begun,
            f"{ran} operations ran, of {self.done} pushed and {self.begun - self.done} interrupted",
        )
        self.ran.clear()
        self.begun = self.done = 0
        self.push()
        self.engine.wait_for_var(self.var)
        require(len(self.ran) == 1, f"the push after it ran {len(self.ran)} times")
        self.ran.clear()


class PushAndWait(Push):
    """A push and a wait for it; the operation is a Python function, which may be interrupted itself."""

    def work(self) -> None:
        self.engine.push_sync(self.operation, CTX, (), (self.var,))
        self.engine.wait_for_var(self.var)


class PushAndHire(PushAndWait):
    """A push to an engine that has no worker yet, so that one is hired, and a wait for it."""

    def work(self) -> None:
        self.engine = engines.set(type(engines.get())())
        super().work()


class StopAndPush(PushAndWait):
    """The end of an engine, and a push to the next one."""

    def work(self) -> None:
        engines.stop()
        self.engine = engines.get()
        super().work()

    def check(self, hit: BaseException | None) -> None:
        self.engine = engines.get()
        super().check(hit)


class PushMany(Push):
    """Ten pushes in a chain and a wait for all; each runs once, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.pushed = 0
        self.order: list[int] = []

    def act(self) -> None:
        for _ in range(10):
            number = self.pushed + 1
            self.engine.push_sync(lambda _, number=number: self.order.append(number), CTX, (), (self.var,))
            self.pushed = number
        self.engine.wait_for_all()

    def check(self, hit: BaseException | None) -> None:
        self._wait(hit)
        done = self.order
        require(done == sorted(set(done)), f"pushes ran as {done}")
        missing = set(range(1, self.pushed + 1)) - set(done)
        require(len(missing) <= (hit is not None), f"pushes {missing} of {self.pushed} did not run")
        require(len(done) <= self.pushed + 1, f"{len(done)} of {self.pushed} pushes ran")
        self.order.clear()
        self.pushed = 0
        super().check(hit)


class PushBehind(Push):
    """Pushes that read and write what a pending operation holds, and its completion."""

    def work(self) -> None:
        engine, held = self.engine, self.held
        engine.push_async(lambda _, done: held.append(done), CTX, (), (self.var,))
        engine.push_sync(self.ran.append, CTX, (self.var,), (self.other,))
        held.complete()
        engine.wait_for_var(self.other)

    def __init__(self) -> None:
        super().__init__()
        self.other = self.engine.new_variable()
        self.held = self.completions()

    def completions(self) -> _Completions:
        """Those of the next time; on the naive engine a push returns when its operation is completed."""
        return _Completions(is_closed=isinstance(self.engine, engines.NaiveEngine))

    def settle(self, kinds: tuple[type[BaseException], ...]) -> BaseException | None:
        self.held.close()
        return super().settle(kinds)

    def check(self, hit: BaseException | None) -> None:
        self.held.close()
        self.held = self.completions()
        super().check(hit)


class _Completions:
    """Completions that operations in other threads hand over."""

    def __init__(self, is_closed: bool) -> None:
        self._found: list[Callable[[], object]] = []
        self._is_closed = is_closed

    def append(self, done: Callable[[], object]) -> None:
        self._found.append(done)
        if self._is_closed:
            self.close()

    def complete(self) -> None:
        """Complete the first one, which another thread may still have to bring, unless it failed to."""
        if not self._is_closed and comes(lambda: self._found):
            self._found[0]()
            del self._found[0]

    def close(self) -> None:
        """Complete what was brought and what will be."""
        self._is_closed = True
        for done in tuple(self._found):
            with suppress(EngineError):  # it was completed before
                done()


class Inline(Push):
    """A run in the calling thread."""

    def work(self) -> None:
        if not self.engine.run_inline(self.operation, (0,), CTX, (), (self.var,), None):
            self.push()


class Delete(Push):
    """A variable that is made, written and deleted."""

    def work(self) -> None:
        var = self.engine.new_variable()
        self.engine.push_sync(self.ran.append, CTX, (self.var,), (var,))
        self.engine.delete_variable(lambda _: None, CTX, var)


class Fork(Push):
    """A fork, whose child computes. Python can only print what comes out of handlers of forks."""

    may_be_printed = True
    status = 0

    def work(self) -> None:
        self.push()
        parent = os.getpid()
        try:
            pid = os.fork()
            if not pid:
                self._compute_and_exit()
        except BaseException:
            if os.getpid() != parent:
                os._exit(0)  # what was pending at the fork is pending in both processes
            raise
        self.status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def _compute_and_exit(self) -> None:
        status = 1
        try:
            sys.settrace(None)
            signal.alarm(CHILD_LIMIT_S)
            var, ran = self.engine.new_variable(), []
            self.engine.push_sync(ran.append, CTX, (), (var,))
            self.engine.wait_for_var(var)
            self.engine.run_inline(ran.append, (1,), CTX, (), (var,), None)
            self.engine.wait_for_all()
            status = 0 if len(ran) == 2 else 2
        finally:
            os._exit(status)

    def check(self, hit: BaseException | None) -> None:
        status, self.status = self.status, 0
        require(not status, f"the child ended with {status}", BROKEN)
        super().check(hit)


class Bulk(Push):
    """Pushes inside a bulk scope."""

    def work(self) -> None:
        with bulk(3):
            self.push()
            self.engine.push_sync(id, CTX, (self.var,), (self.engine.new_variable(),))
        self.engine.wait_for_var(self.var)


class WaitForFailure(Subject):
    """A wait that raises an operation's own failure, which must come out of a wait once."""

    def __init__(self) -> None:
        self.engine = engines.get()

    @staticmethod
    def fail(_: object) -> None:
        """The operation."""
        raise ValueError("the operation's own")

    def act(self) -> None:
        self.raised: list[BaseException] = []
        self.var = self.engine.new_variable()
        self.engine.push_sync(self.fail, CTX, (), (self.var,))
        self.is_pushed = True
        try:
            self.engine.wait_for_var(self.var)
        except ValueError as error:
            self.raised.append(error)

    def is_own(self, error: BaseException) -> bool:
        if isinstance(error, ValueError):
            self.raised.append(error)
        return isinstance(error, ValueError)

    def check(self, hit: BaseException | None) -> None:
        try:
            self.engine.wait_for_all()
        except ValueError as error:
            self.raised.append(error)
        if hit is not None and _holds(hit, ValueError):
            self.raised.append(hit)
        require(self.raised or hit is not None, "the operation's failure was never raised", LOST)


def _holds(error: BaseException | None, kind: type[BaseException]) -> bool:
    while error is not None:
        if isinstance(error, kind):
            return True
        error = error.__cause__ or error.__context__
    return False
