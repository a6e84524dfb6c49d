"""What stands between the dependency queue and whoever runs its blocks."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import final

from operad.context import Context, cpu
from operad.engine.budget import ThreadBudget
from operad.engine.completion import Completion
from operad.engine.failure import Failure, alive, note_on
from operad.engine.interrupts import calls_operations, is_ctrl_c
from operad.engine.lock import CombiningLock
from operad.engine.operation import GROUP, WAIT, Opr, OprBlock, RunContext
from operad.engine.thread import local, new_event, wait_for
from operad.engine.var import DependencyQueue, Var, inherited, settle

ProfileHook = Callable[[str, Context, float, float], object]


class Runner(ABC):
    """Decides in which thread blocks run.

    Args:
        budget: The threads that operations may use together.

    Attributes:
        is_threaded: Whether that may be another thread than the pushing one.
    """

    is_threaded: bool

    def __init__(self, budget: ThreadBudget) -> None:
        self._budget = budget

    def attach(self, dispatcher: Dispatcher) -> None:
        """Run the blocks of `dispatcher`."""
        self._dispatcher = dispatcher

    @abstractmethod
    def renew(self) -> None:
        """Begin anew in a forked child, where no thread but the calling one exists."""

    @abstractmethod
    def offer(self, block: OprBlock) -> None:
        """`block` may run from now on. Under the lock."""

    @abstractmethod
    def after(self) -> None:
        """Do what `offer` left for after the lock is released."""

    @abstractmethod
    def help(self, is_over: Callable[[], bool]) -> None:
        """The calling thread is about to wait: it may run blocks instead, until `is_over()`."""

    @abstractmethod
    def end(self) -> None:
        """Let the workers go; nothing is pending."""


@final
class Dispatcher:
    """Takes blocks into a queue, hands ready ones to a runner, calls their functions, and takes them back.

    Args:
        runner: Who runs them.

    Attributes:
        queue: Used under `lock` only.
        lock: See its module.
        submit: Enters a block into the queue, and sees to it that it is run.
        finish: Takes back a block that is done, and its failure or None; called in any thread.
        successor: Takes the blocks instead, where another engine has taken over.
        watchers: Threads that wait for something of the whole queue. Under the lock.
        profile_hook: See `Engine`.
    """

    def __init__(self, runner: Runner) -> None:
        self.queue = DependencyQueue()
        self.lock = CombiningLock(self._after, waits=not runner.is_threaded)
        self.submit = partial(self.lock.do, self._enter)
        self.finish = partial(self.lock.do, self._retire)
        self.profile_hook: ProfileHook | None = None
        self.successor: Dispatcher | None = None
        self._runner = runner
        self.watchers: list[tuple[Callable[[], bool], threading.Lock]] = []
        runner.attach(self)

    def renew(self, is_in_step: bool) -> None:
        """Begin anew in a forked child; a thread that forked in a step goes on to hold the lock."""
        self.queue.forget()
        self.watchers.clear()
        if not is_in_step:
            self.lock.renew()
        self._runner.renew()

    # Blocks in and out.

    def _enter(self, block: OprBlock, _: None) -> None:
        if self.successor is not None:
            # A step of both, so that the order stays; what it leaves for after is the successor's.
            self.successor.submit(block)
            self.lock.has_after = True
        elif self.queue.add(block):
            self._runner.offer(block)

    def _after(self) -> None:
        """Do what steps left for after the lock is released."""
        if self.successor is None:
            self._runner.after()
        else:
            self.successor.lock.catch_up()

    def _retire(self, block: OprBlock, failure: Failure | None) -> None:
        ready = self.queue.finish(block, failure)
        if ready or self.watchers:
            self.hand_out(ready)

    def end_claim(self, held: tuple[Sequence[Var], Sequence[Var]], failure: Failure | None) -> None:
        """Give back what an inline function held. Under the lock."""
        self.hand_out(self.queue.end_claim(*held, failure))

    def hand_out(self, ready: list[OprBlock]) -> None:
        """See to what something that has finished makes possible. Under the lock."""
        for block in ready:
            self._runner.offer(block)
        if self.watchers:
            self._look()

    def _rest(self, _: OprBlock, __: None) -> None:
        """The function of an asynchronous block has returned."""
        self.queue.running -= 1
        if self.watchers:
            self._look()

    # Waiting.

    def wait_for_var(self, var: Var, write: bool) -> None:
        """See `Engine.wait_for_var`; with `write`, `Engine.wait_to_write`."""

        def is_over() -> bool:
            # In this order: see `CombiningLock.is_quiet`. What another thread's step has not entered
            # yet is seen as a note or a taken lock; asked after the holders, it would be in neither.
            if not self.lock.is_quiet:
                return False
            return var.holders == 0 or (not write and var.holders > 0 and not var.queue)

        self._runner.help(is_over)
        if is_over() and var.failure is None:
            return
        event, found = new_event(), []

        def arrive(failure: Failure | None) -> None:
            found.append(failure)
            event.release()

        const_vars, mutable_vars = ((), (var,)) if write else ((var,), ())
        self.submit(OprBlock(Opr(arrive, const_vars, mutable_vars, kind=WAIT), cpu()))
        wait_for(event)
        if (failure := found.pop()) is not None:
            error = self.queue.failures.error_of(failure)
            try:
                raise error
            finally:
                del error, failure  # this frame is part of the error's traceback

    def wait_until(self, is_over: Callable[[], bool], timeout_s: float | None = None) -> None:
        """Wait until `is_over()`, which is asked under the lock whenever something has finished."""
        event = new_event()
        self.lock.do(self._watch, is_over, event)
        wait_for(event, timeout_s)

    def _watch(self, is_over: Callable[[], bool], event: threading.Lock) -> None:
        if is_over():
            event.release()
        else:
            self.watchers.append((is_over, event))

    def _look(self) -> None:
        for watcher in [watcher for watcher in self.watchers if watcher[0]()]:
            self.watchers.remove(watcher)
            watcher[1].release()

    # Calling functions.

    @calls_operations
    def run(self, block: OprBlock, run_ctx: RunContext) -> None:
        """Run a synchronous block and finish it."""
        failure = None
        if block.profiling or block.opr.kind == GROUP:
            failure = self.call(block, run_ctx)
        else:  # `call` without a further frame
            try:
                local.state.run(block.opr.fn, run_ctx)
            except BaseException as error:  # noqa: BLE001 - as in `call`
                failure = self.failed(block, error)
        self.finish(block, failure)
        if failure is not None and is_ctrl_c(failure.error):
            raise KeyboardInterrupt

    @calls_operations
    def call(self, block: OprBlock, run_ctx: RunContext) -> Failure | None:
        """Call a synchronous block's function, or those of a group; the failure if it raised."""
        opr = block.opr
        if opr.kind == GROUP:
            self._call_members(opr.parts, run_ctx)
            return None
        failure = None
        start_s = time.perf_counter() if block.profiling else 0.0
        try:
            local.state.run(opr.fn, run_ctx)
        except BaseException as error:  # noqa: BLE001 - every error belongs to the operation; waits raise it
            failure = self.failed(block, error)
        if block.profiling:
            self.report(opr.title, block.ctx, start_s)
        return failure

    def _call_members(self, parts: tuple[OprBlock, ...], run_ctx: RunContext) -> None:
        for part in parts:
            # The group holds the variables, so nobody else changes what they carry.
            failure = inherited(part) if alive else None
            if failure is None:
                failure = self.call(part, run_ctx)
                if failure is not None:
                    self.queue.failures.record(failure)
            if alive:
                settle(part.opr.mutable_vars, failure)

    @calls_operations
    def start(self, block: OprBlock, run_ctx: RunContext, done: Callable[[], object] | None = None) -> None:
        """Call an asynchronous block's function, which finishes the block by itself.

        Args:
            done: Called when the block is finished.
        """
        start_s = time.perf_counter() if block.profiling else 0.0

        def complete(error: BaseException | None) -> None:
            self.finish(block, None if error is None else self.failed(block, error))
            if block.profiling:
                self.report(block.opr.title, block.ctx, start_s)
            if done is not None:
                done()

        completion = Completion(block.opr.title, complete)
        is_interrupted = False
        try:
            local.state.run(block.opr.fn, run_ctx, completion)
        except BaseException as error:  # noqa: BLE001 - as in `call`
            is_interrupted = is_ctrl_c(error)
            if not completion.close(error):
                self.record_apart(block, error)
        self.lock.do(self._rest, block)
        if is_interrupted:
            raise KeyboardInterrupt

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
        note = note_on(block.opr.title, block.site, self._runner.is_threaded)
        return Failure(without_first_frame(error), block.seq, note)

    def record_apart(self, block: OprBlock, error: BaseException) -> None:
        """Keep an error that spoils no variable, such as one raised after completion."""
        self.lock.do(self._record, block, error)

    def _record(self, block: OprBlock, error: BaseException) -> None:
        self.queue.seq = block.seq = self.queue.seq + 1
        self.queue.failures.record(self.failed(block, error))


def without_first_frame(error: BaseException) -> BaseException:
    """`error` without the engine's own frame, which holds the block, at the head of its traceback."""
    traceback = error.__traceback__
    return error.with_traceback(None if traceback is None else traceback.tb_next)
