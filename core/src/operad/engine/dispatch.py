"""Dispatcher between the dependency queue and the runners of its blocks."""

from __future__ import annotations

import os
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, final

from operad.device import Context, cpu
from operad.engine.budget import ThreadBudget
from operad.engine.completion import AsyncRun, Completion, Rest
from operad.engine.failure import Failure, alive, interrupted, note_on, without_first_frame
from operad.engine.lock import CombiningLock, Request
from operad.engine.operation import CALLED, CLAIM, DELETE, DONE, LEAVING, RAN, WAIT, Opr, OprBlock, RunContext
from operad.engine.thread import local, new_event, wait_for
from operad.engine.var import DependencyQueue, Var
from operad.errors import EngineError
from operad.interrupts import is_from_outside

ProfileHook = Callable[[str, Context, float, float], object]

_CPU: Final = cpu()


class Runner(ABC):
    """Decides in which thread blocks run.

    Args:
        budget: The threads that operations may use together.

    Attributes:
        is_threaded: Whether that may be another thread than the pushing one.
    """

    is_threaded: bool

    def __init__(self, budget: ThreadBudget) -> None:
        self.budget = self._budget = budget

    def attach(self, dispatcher: Dispatcher) -> None:
        """Run the blocks of `dispatcher`."""
        self._dispatcher = dispatcher

    @abstractmethod
    def in_hand(self, is_own: bool) -> list[OprBlock]:
        """The blocks that the calling thread is running, or that all others are."""

    @abstractmethod
    def renew(self) -> None:
        """Go on in a forked child, where no thread but the calling one exists.

        What another thread has taken, and did not call, is offered again.
        """

    @abstractmethod
    def offer(self, block: OprBlock) -> None:
        """`block` may run from now on. Under the lock. A block may be offered twice; it is TAKEN once."""

    def go_on_with(self, block: OprBlock) -> None:
        """`offer`, of a block that the calling thread's operation has just made ready. Under the lock."""
        self.offer(block)

    @abstractmethod
    def after(self) -> None:
        """Do what `offer` left for after the lock is released."""

    @abstractmethod
    def help(self, is_over: Callable[[], bool]) -> None:
        """The calling thread is about to wait: it may run blocks instead, until `is_over()`."""

    def step_aside(self) -> bool:
        """The calling thread's operation waits for others: whether they may use its place of the budget."""
        return False

    def step_back(self) -> None:  # noqa: B027 - nothing where there is no place
        """It goes on."""

    @abstractmethod
    def heal(self) -> None:
        """Go on with what exceptions ended, or see to it that a thread does."""

    @abstractmethod
    def end(self) -> None:
        """Let the workers go; nothing is pending."""


@final
class _Watcher(Request):
    """A thread that waits for something of the whole queue."""

    __slots__ = ("event", "has_left", "is_over")

    def __init__(self, step: Callable[[_Watcher], object], is_over: Callable[[], bool]) -> None:
        super().__init__(step)
        self.is_over = is_over
        self.has_left = False
        self.event = new_event()


@final
class Dispatcher:
    """Takes blocks into a queue, hands ready ones to a runner, calls their functions, and takes them back.

    Args:
        runner: Runs them, at first.

    Attributes:
        queue: Used under `lock` only.
        lock: See its module.
        runner: Runs the blocks. It changes at rest, and under the lock.
        enter: The step that enters a block.
        retire: The step that takes back a block that RAN.
        watchers: Threads that wait for something of the whole queue. Under the lock.
        started: Runs of asynchronous blocks that are not completed.
        dropped: Runs of asynchronous blocks whose `on_complete` died; most of them are completed.
        pid: The process that it is in, which a fork changes; see `forking`.
        num_finished: Blocks that were taken back; claims are none.
        open_at: It belongs to `back_pressure`, as `vain_at`, `num_vain`, `waited_at` and `waiting_inside`.
        profile_hook: See `Engine`.
        engine: The engine whose runner is in force; it belongs to `Engine`.
    """

    engine: object

    def __init__(self, runner: Runner) -> None:
        self.queue = DependencyQueue()
        self.lock = CombiningLock(self._after, self._give_up)
        # Bound once: blocks keep them, and making one is an allocation.
        self.enter, self.retire = self._enter, self._retire
        self.profile_hook: ProfileHook | None = None
        self.watchers: list[_Watcher] = []
        self.started: set[AsyncRun] = set()
        self.dropped: deque[AsyncRun] = deque()
        self.pid = os.getpid()
        self.num_finished, self.open_at = 0, -1
        self.waiting_inside: list[OprBlock] = []
        self.use(runner)

    def use(self, runner: Runner) -> None:
        """Have `runner` run the blocks from now on. Under the lock, with no block handed out."""
        runner.attach(self)
        self.runner, self.waited_at, self.vain_at, self.num_vain = runner, self.queue.seq, -1, 0
        self.lock.is_waited_for = not runner.is_threaded
        self.lock.has_after = True  # where it is not for good, that does no harm

    # Blocks in and out.

    def submit(self, block: OprBlock) -> None:
        """Enter a block into the queue, and see to it that it is run."""
        block.step = self.enter
        self.lock.do(block)

    def finish(self, block: OprBlock, error: BaseException | Failure | None) -> None:
        """Take back a block that was CALLED, with what it raised; in any thread."""
        # commit: begin
        block.error = error
        block.state = RAN
        block.step = self.retire
        # commit: end
        self.lock.do(block)

    def is_done(self, var: Var, write: bool) -> bool:
        """Return whether all operations pushed so far that mutate `var` are done; with `write`, that name it.

        The one answer to this question, for waits, recycling and the fast path alike.
        """
        lock = self.lock
        # invariant: in this order. What is asked for is in a request, in the step of who holds the lock, or
        # entered, and passes from one to the next; asked the other way round it could be in none.
        return (
            lock.owner is None
            and lock.next is None
            and lock.current is None
            and (not var.holders or (not write and var.holders > 0 and not var.queue))
        )

    def _enter(self, block: OprBlock) -> None:
        if self.queue.add(block):
            self.runner.offer(block)
        elif self.queue.ready:
            self.hand_out()

    def _retire(self, block: OprBlock) -> None:
        queue, state, opr = self.queue, block.state, block.opr
        if state == RAN:
            error = block.error
            if error is not None and not isinstance(error, Failure):
                block.error = self.failed(block, error)
            if error is not None or alive or opr.kind == DELETE:
                queue.conclude(block)
        self.num_finished += opr.kind != CLAIM
        if state in (RAN, LEAVING):
            queue.release(block, 0 if opr.is_async else 1)
        if queue.ready:
            self.hand_out()
        if self.watchers:
            self._look()

    def hand_out(self) -> None:
        """Hand ready blocks to the runner. Under the lock."""
        queue, ready = self.queue, self.queue.ready
        while ready:
            block = ready[0]
            if not block.waiting and queue.hand_out(block):
                self.runner.go_on_with(block)
            del ready[0]
        if self.watchers:
            self._look()

    def _rest(self, rest: Rest) -> None:
        running = self.queue.running - 1
        if not rest.is_counted:
            # commit: begin
            self.queue.running = running
            rest.is_counted = True
            # commit: end
        if self.watchers:
            self._look()

    def _after(self) -> None:
        self.runner.after()

    def _give_up(self, request: Request, error: BaseException) -> None:
        """A step always raises, a mistake of the engine: nothing is to wait for it. Under the lock."""
        if isinstance(request, OprBlock) and request.state != DONE:
            made = EngineError(f"{request.opr.title}: a step of the engine failed; please report this")
            made.__cause__ = error
            self.queue.give_up(
                request, Failure(made, request.seq, note_on(request.opr.title, request.site, False))
            )
            self.hand_out()

    # Waiting.

    def wait_for_var(self, var: Var, write: bool) -> None:
        """See `Engine.wait_for_var`; with `write`, `Engine.wait_to_write`."""
        self.runner.help(partial(self.is_done, var, write))
        if self.is_done(var, write) and var.failure is None:
            return
        event, found = new_event(), []

        def arrive(failure: Failure | None) -> None:
            found.append(failure)
            if event.locked():
                event.release()

        const_vars, mutable_vars = ((), (var,)) if write else ((var,), ())
        self.submit(OprBlock(Opr(arrive, const_vars, mutable_vars, kind=WAIT), _CPU))
        wait_for(event, None, partial(self.heal, event))
        if (failure := found[0]) is not None:
            error = self.queue.failures.error_of(failure)
            try:
                raise error
            finally:
                del error, failure, found  # this frame is part of the error's traceback

    def wait_until(self, is_over: Callable[[], bool], timeout_s: float | None = None) -> bool:
        """Wait until `is_over()`, asked under the lock when something has finished; whether in time."""
        watcher = _Watcher(self._watch, is_over)
        try:
            self.lock.do(watcher)
            return wait_for(watcher.event, timeout_s, partial(self.heal, watcher.event))
        finally:
            watcher.has_left = True

    def _watch(self, watcher: _Watcher) -> None:
        if watcher not in self.watchers:
            self.watchers.append(watcher)
        self._look()

    def _look(self) -> None:
        for watcher in tuple(self.watchers):
            if watcher.has_left or watcher.is_over():
                if watcher.event.locked():
                    watcher.event.release()
                self.watchers.remove(watcher)

    def heal(self, event: threading.Lock | None = None) -> None:
        """Go on with what an exception ended in any thread; asked now and then by who waits, for `event`."""
        self.close_dropped()
        self.lock.heal()
        self.runner.heal()
        if event is not None:
            self.runner.help(lambda: not event.locked())

    def close_dropped(self) -> None:
        """Finish asynchronous blocks whose `on_complete` died without being called."""
        while self.dropped:
            try:
                dropped = self.dropped.popleft()
            except IndexError:  # perhaps another thread took the last one
                return
            dropped.drop()

    # Calling functions.

    def run(self, block: OprBlock, run_ctx: RunContext, has_caller: bool) -> None:
        """Run a synchronous block that was TAKEN, and finish it.

        Args:
            block: What to run.
            run_ctx: For its function.
            has_caller: Whether an exception from outside has a call that it can come out of.
        """
        lock, thread, raised = self.lock, local.state, None
        start_s = time.perf_counter() if block.profiling else 0.0
        try:
            # commit: begin
            block.has_caller = has_caller
            block.state = CALLED
            run_ctx.is_running = True
            # commit: end
            thread.run(block.opr.fn, run_ctx)
        except BaseException as error:  # noqa: BLE001 - every error belongs to the operation; waits raise it
            block.error = error
            if has_caller and is_from_outside(error):
                raised = error
        finally:
            # `finish`, without a call before it.
            # commit: begin
            run_ctx.is_running = False  # who waits for the block may have all threads before this one rests
            block.state = RAN
            block.step = self.retire
            lock.tail.next = lock.tail = block
            # commit: end
        if block.profiling:
            self.report(block.opr.title, block.ctx, start_s)
        lock.catch_up(thread)
        if raised is not None:
            raise raised

    def start(self, block: OprBlock, run_ctx: RunContext, has_caller: bool) -> None:
        """Call an asynchronous block's function, which finishes the block by itself."""
        lock, rest = self.lock, Rest(self._rest)
        asynchronous = AsyncRun(self, block.opr.title, block.profiling, rest)
        self.started.add(asynchronous)
        completion = Completion(asynchronous, self)
        raised: BaseException | None = None
        try:
            # commit: begin
            asynchronous.block = block
            block.has_caller = has_caller
            block.state = CALLED
            # commit: end
            local.state.run(block.opr.fn, run_ctx, completion)
        except BaseException as error:  # noqa: BLE001 - as in `run`
            if has_caller and is_from_outside(error):
                raised = error
            if not asynchronous.close(error) and raised is None:
                self.record_apart(block, error)
        finally:
            lock.tail.next = lock.tail = rest  # commit
        lock.catch_up()
        del completion
        self.close_dropped()
        if raised is not None:
            raise raised

    def report(self, title: str, ctx: Context, start_s: float) -> None:
        """Tell the profiler of a run that ends now."""
        hook = self.profile_hook
        if hook is None:
            return
        try:
            hook(title, ctx, start_s, time.perf_counter())
        except Exception as error:  # noqa: BLE001 - it must not end the worker; a wait raises it
            self.profile_hook = None
            self.record_apart(OprBlock(Opr(hook, name="profile_hook"), ctx), error)

    # Failures.

    def failed(self, block: OprBlock, error: BaseException) -> Failure:
        """The failure of `block` by `error`."""
        title = block.opr.title
        note = note_on(title, block.site, self.runner.is_threaded)
        if block.has_caller and is_from_outside(error):
            return interrupted(title, error, block.seq, note)
        return Failure(without_first_frame(error), block.seq, note)

    def record_apart(self, block: OprBlock, error: BaseException) -> None:
        """Keep an error that belongs to no variable, such as one raised after completion."""
        title, site = block.opr.title, block.site
        found: list[Failure] = []  # once, should the step be started over

        def record(_: Request) -> None:
            if not found:
                self.queue.seq += 1
                note = note_on(title, site, self.runner.is_threaded)
                found.append(Failure(without_first_frame(error), self.queue.seq, note))
            self.queue.failures.record(found[0])

        self.lock.do(Request(record))
