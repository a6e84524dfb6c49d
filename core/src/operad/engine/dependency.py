"""The engine: a dependency queue, a runner, and what a program may ask of both.

*The inline path.* Where nothing conflicts, `run_inline` claims the variables under the queue's lock, lets
go of it, and calls the function in the calling thread: no conflicting operation can start meanwhile, and
neither a block nor a queue entry is made. Other threads' pushes and waits go on beside it.

*Standing still.* A fork, the end of the process, `stop` and `set` need the engine at rest. They close a
gate for pushes of other threads, and wait until nothing runs that could run by itself. That is not
"nothing pending": an asynchronous operation may be pending for ever.

*Running ahead.* A push that would have too many operations or bytes pending waits until some are done.
Only threads outside the engine do; operations, finalizers and signal handlers never, and nobody where
nothing runs, because the thread that waits may be the one that completes what is pending.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from operad.config import settings
from operad.context import Context, cpu
from operad.engine import interrupts, lifetime
from operad.engine.base import Engine, ProfileHook
from operad.engine.budget import ThreadBudget
from operad.engine.bulk import Bulk
from operad.engine.dispatch import Dispatcher, Runner, without_first_frame
from operad.engine.failure import Failure, note_on, push_site
from operad.engine.gate import Gate, is_interruption
from operad.engine.interrupts import calls_operations, is_ctrl_c
from operad.engine.intra_op import PartFn, intra_op_pool
from operad.engine.operation import DELETE, AsyncFn, FnProperty, Opr, OprBlock, RunContext, SyncFn
from operad.engine.thread import OPERATION, OUTSIDE, STEP, local, new_event, wait_for
from operad.engine.var import Var, WaitBlock, settle
from operad.errors import BlockingInOperatorError, EngineError, EngineStoppedError

_CPU: Final = cpu()
_REST_POLL_S: Final = 0.01
_MAX_NOTES: Final = 64
"""Pushes left in the inbox before a further one waits: they are not counted as pending yet."""


class DependencyEngine(Engine):
    """An engine over a `DependencyQueue`.

    Args:
        runner: Decides who runs the blocks.
        budget: The threads that operations may use together.
        keeps_sites: Whether failures say where their operation was pushed.

    Attributes:
        lock: The queue's lock, for the imperative hot path; see its module.
    """

    def __init__(self, runner: Runner, budget: ThreadBudget, keeps_sites: bool) -> None:
        options = settings()
        self._runner = runner
        self._budget = budget
        self._keeps_sites = keeps_sites
        self._dispatcher = Dispatcher(runner)
        self._queue = self._dispatcher.queue
        self.lock = self._dispatcher.lock
        self._gate = Gate()
        self._deferred: deque[tuple[SyncFn, Context, Var]] = deque()
        self._profiles_all = False
        self._is_stopped = False
        self._successor: DependencyEngine | None = None
        self._max_pending = options.max_pending
        self._max_pending_bytes = options.max_pending_bytes
        budget.apply_if_restricted()
        interrupts.install()
        lifetime.watch(self)

    # Pushing.

    def new_variable(self, name: str | None = None) -> Var:
        """See `Engine.new_variable`."""
        return Var(name)

    def new_operator(
        self,
        fn: SyncFn | AsyncFn,
        const_vars: Sequence[Var] = (),
        mutable_vars: Sequence[Var] = (),
        prop: FnProperty = FnProperty.NORMAL,
        name: str | None = None,
        *,
        reads_mutable: bool | Collection[Var] = False,
        is_parallel: bool = True,
    ) -> Opr:
        """See `Engine.new_operator`."""
        return Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, is_parallel=is_parallel)

    def delete_operator(self, opr: Opr) -> None:
        """See `Engine.delete_operator`."""
        opr.deleted = True

    def push(
        self, opr: Opr, ctx: Context, priority: int = 0, profiling: bool = False, size_bytes: int = 0
    ) -> None:
        """See `Engine.push`."""
        if not isinstance(opr, Opr):
            raise EngineError(f"push of {opr!r}, expected what new_operator() made")
        if opr.deleted:
            raise EngineError(f"push of {opr.title!r}: the operator was deleted; make a new one")
        self._push(OprBlock(opr, ctx, priority, profiling, size_bytes))

    def push_async(
        self,
        fn: AsyncFn,
        ctx: Context,
        const_vars: Sequence[Var] = (),
        mutable_vars: Sequence[Var] = (),
        prop: FnProperty = FnProperty.NORMAL,
        priority: int = 0,
        name: str | None = None,
        *,
        reads_mutable: bool | Collection[Var] = False,
        size_bytes: int = 0,
    ) -> None:
        """See `Engine.push_async`."""
        opr = Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, True)
        self._push(OprBlock(opr, ctx, priority, False, size_bytes))

    def push_sync(
        self,
        fn: SyncFn,
        ctx: Context,
        const_vars: Sequence[Var] = (),
        mutable_vars: Sequence[Var] = (),
        prop: FnProperty = FnProperty.NORMAL,
        priority: int = 0,
        name: str | None = None,
        *,
        reads_mutable: bool | Collection[Var] = False,
        is_parallel: bool = True,
        size_bytes: int = 0,
    ) -> None:
        """See `Engine.push_sync`."""
        opr = Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, is_parallel=is_parallel)
        self._push(OprBlock(opr, ctx, priority, False, size_bytes))

    def _push(self, block: OprBlock) -> None:
        if self._keeps_sites:
            block.site = push_site()
        has_blockers = bool(self.lock.blockers)
        if has_blockers and not self._admits(block):
            return
        opr = block.opr
        for var in opr.const_vars:
            if var.deleted:
                raise opr.after_deletion_of(var)
        for var in opr.mutable_vars:
            if var.deleted:
                raise opr.after_deletion_of(var)
            var.version += 1
        if has_blockers and (bulk := self._bulk) is not None and bulk.join(block):
            return
        queue = self._queue
        if (
            queue.pending >= self._max_pending
            or queue.pending_bytes + block.size_bytes > self._max_pending_bytes
            or len(self.lock.inbox) >= _MAX_NOTES
        ):
            self._wait_for_room(block.size_bytes)
        self._dispatcher.submit(block)

    def _admits(self, block: OprBlock) -> bool:
        """See to what stands in the way of a push; False if another engine has taken it."""
        if self._deferred:
            self._delete_deferred()
        self._gate.pass_through()
        if self._successor is not None:
            self._successor._push(block)
            return False
        if self._is_stopped and local.state.inside == OUTSIDE:
            raise EngineStoppedError("push to a stopped engine; operad.engine.get() starts a new one")
        if self._profiles_all:
            block.profiling = True
        return True

    def _wait_for_room(self, size_bytes: int) -> None:
        """Wait until a push of `size_bytes` is not too far ahead of what is done."""
        queue = self._queue
        if local.state.inside != OUTSIDE or is_interruption():
            return

        def has_room() -> bool:
            if not queue.running:
                return True
            total_bytes = queue.pending_bytes + size_bytes
            return queue.pending <= self._max_pending // 2 and total_bytes <= self._max_pending_bytes

        self._dispatcher.wait_until(has_room)

    # Inside an operation.

    def use_threads(self, is_worth: bool) -> None:
        """See `Engine.use_threads`."""
        self._budget.use(is_worth)

    @property
    def num_threads(self) -> int:
        """Size of the thread budget."""
        return self._budget.total

    @property
    def num_threads_now(self) -> int:
        """See `Engine.num_threads_now`."""
        return self._budget.share if self._budget.is_worth else 1

    def parallel(self, function: PartFn, count: int, width: int) -> None:
        """See `Engine.parallel`."""
        was_worth = self._budget.is_worth
        self._budget.use(is_worth=False)
        try:
            intra_op_pool.run(function, count, width)
        finally:
            self._budget.use(was_worth)

    # The inline path.

    @calls_operations
    def run_inline(
        self,
        fn: Callable[..., object],
        args: tuple[object, ...],
        ctx: Context,
        const_vars: Sequence[Var],
        mutable_vars: Sequence[Var],
        name: str | None,
    ) -> bool:
        """See `Engine.run_inline`."""
        thread, lock = local.state, self.lock
        if thread.inside or (lock.blockers and not self._may_run_inline()):
            return False
        seq, failure = 0, None
        start_s = time.perf_counter() if self._profiles_all else 0.0
        thread.inside = STEP
        try:
            if not lock.mutex.acquire(False):
                return False
            try:
                if lock.inbox:
                    lock.read_inbox()
                seq = self._queue.claim(const_vars, mutable_vars)
            finally:
                lock.mutex.release()
            if not seq:
                return False
            # invariant: from the claim on, the thread is inside. Nothing that interrupts it waits for the
            # claimed variables, and every way out of here gives them back.
            thread.inside = OPERATION
            thread.run(fn, *args)
        except BaseException as error:
            if not seq:
                raise
            failure = _inline_failure(fn, name, error, seq)
        finally:
            thread.inside = OUTSIDE
            if seq:
                self._dispatcher.end_claim(const_vars, mutable_vars, failure)
            elif lock.inbox or lock.has_after:
                lock.catch_up()
        if self._profiles_all:
            self._dispatcher.report(_title(fn, name), ctx, start_s)
        if failure is not None and is_ctrl_c(failure.error):
            raise KeyboardInterrupt
        return True

    def _may_run_inline(self) -> bool:
        """Whether nothing but the profiler is in the way, after what a finalizer asked for was done."""
        if self._deferred:
            self._delete_deferred()
        return all(blocker == _PROFILER for blocker in self.lock.blockers)

    def fail_inline(
        self,
        fn: Callable[..., object],
        ctx: Context,
        mutable_vars: Sequence[Var],
        name: str | None,
        error: BaseException,
    ) -> None:
        """Store the error of a function that the hot path called under the lock. Under the lock."""
        queue = self._queue
        queue.seq += 1
        failure = _inline_failure(fn, name, error, queue.seq)
        queue.failures.record(failure)
        settle(mutable_vars, failure)

    # Grouping.

    @contextmanager
    def bulk(self, size: int) -> Iterator[None]:
        """See `Engine.bulk`."""
        if size < 1:
            raise EngineError(f"bulk({size}): a group has at least 1 member")
        thread = local.state
        outer = thread.bulk
        _flush()
        self.lock.blockers.append(_BULK)
        thread.bulk = Bulk(size, self, self._push_group, outer)
        try:
            yield
        finally:
            _flush()
            thread.bulk = outer
            self._in_force().lock.blockers.remove(_BULK)

    @property
    def _bulk(self) -> Bulk | None:
        """The group of this thread that pushes to this engine join."""
        bulk = local.state.bulk
        owner = None if bulk is None else bulk.owner
        return bulk if isinstance(owner, DependencyEngine) and owner._in_force() is self else None

    def _push_group(self, group: OprBlock) -> None:
        self._in_force()._dispatcher.submit(group)

    # Variables.

    def is_idle(self, var: Var) -> bool:
        """See `Engine.is_idle`."""
        if self.lock.blockers and (bulk := self._bulk) is not None and bulk.names(var):
            return False
        return self.lock.is_quiet and var.holders == 0

    def delete_variable(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """See `Engine.delete_variable`."""
        if var.deleted:
            raise EngineError(f"delete_variable: {var!r} was deleted already")
        if self.lock.blockers:
            _flush()
        engine = self._in_force()
        block = OprBlock(Opr(delete_fn, (), (var,), FnProperty.DELETE_VAR, kind=DELETE), ctx)
        is_inline = not ctx.is_gpu and engine.is_idle(var)
        var.deleted = True
        if not is_inline:
            engine._dispatcher.submit(block)
            return
        var.close()
        try:
            delete_fn(RunContext(ctx))
        except BaseException as error:  # noqa: BLE001 - waits raise it
            engine._dispatcher.record_apart(block, error)

    def defer_delete(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """See `Engine.defer_delete`."""
        self._deferred.append((delete_fn, ctx, var))
        self.lock.blockers.append(_DELETION)

    def _delete_deferred(self) -> None:
        while True:
            try:
                request = self._deferred.popleft()
            except IndexError:  # another thread took the last one
                return
            self.lock.blockers.remove(_DELETION)
            self.delete_variable(*request)

    # Waiting.

    def wait_for_var(self, var: Var) -> None:
        """See `Engine.wait_for_var`."""
        lock = self.lock
        if (
            # In this order: see `CombiningLock.is_quiet`.
            not (lock.blockers or lock.inbox or lock.mutex.locked())
            and var.holders >= 0
            and not var.queue
            and var.failure is None
            and not local.state.inside
        ):
            return
        self._wait(var, False)

    def wait_to_write(self, var: Var) -> None:
        """See `Engine.wait_to_write`."""
        self._wait(var, True)

    def _wait(self, var: Var, write: bool) -> None:
        self._prepare_to_wait(f"waiting for {var!r}")
        if var.deleted:
            raise EngineError(f"wait for {var!r}: it was deleted")
        if self._successor is not None:
            self._in_force()._wait(var, write)
            return
        self._runner.help(lambda: self._is_settled(var, write))
        if self._is_settled(var, write) and var.failure is None:
            return
        event = new_event()
        block = WaitBlock(var, _CPU, write, event.release)
        self._dispatcher.submit(block)
        wait_for(event)
        if block.failure is not None:
            error = self._queue.failures.error_of(block.failure)
            try:
                raise error
            finally:
                del error, block  # this frame is part of the error's traceback

    def _is_settled(self, var: Var, write: bool) -> bool:
        return self.lock.is_quiet and (var.holders == 0 or (not write and var.holders > 0 and not var.queue))

    def _prepare_to_wait(self, doing: str) -> None:
        """Refuse to wait inside the engine; else push what this thread holds back."""
        if local.state.inside:
            raise BlockingInOperatorError(
                f"{doing} inside an operation or a step of the engine would never end; name the variable "
                "in const_vars and use its data directly, and wait in no finalizer or signal handler"
            )
        if self.lock.blockers:
            self._delete_deferred()
            _flush()

    def wait_for_all(self) -> None:
        """See `Engine.wait_for_all`."""
        self._prepare_to_wait("waiting for all operations")
        engine = self._in_force()
        engine._drain()
        engine._queue.failures.raise_unread()

    def _drain(self) -> None:
        """Return when nothing is pending."""
        queue = self._queue
        self._runner.help(lambda: not queue.pending)
        self._dispatcher.wait_until(lambda: not queue.pending)

    # Profiling.

    @property
    def profile_hook(self) -> ProfileHook | None:
        """See `Engine`."""
        return self._dispatcher.profile_hook

    @profile_hook.setter
    def profile_hook(self, hook: ProfileHook | None) -> None:
        self._dispatcher.profile_hook = hook

    def profile_all(self, is_on: bool) -> None:
        """See `Engine.profile_all`."""
        if is_on != self._profiles_all:
            self._profiles_all = is_on
            (self.lock.blockers.append if is_on else self.lock.blockers.remove)(_PROFILER)

    # Standing still.

    def _stand_still(self) -> bool:
        """Close the gate and return when nothing runs; False if this thread closed it before."""
        if not self._gate.close():
            return False
        self.lock.blockers.append(_GATE)
        try:
            self._rest()
        except BaseException:
            self._go_on()
            raise
        return True

    def _go_on(self) -> None:
        self.lock.blockers.remove(_GATE)
        self._gate.open()

    def _rest(self) -> None:
        queue = self._queue

        def is_at_rest() -> bool:
            return not queue.running

        while True:
            self._runner.help(is_at_rest)
            self._dispatcher.wait_until(is_at_rest, _REST_POLL_S)
            if self.lock.is_quiet and is_at_rest():
                return  # no more is looked at than this: at the end of the process no worker starts

    def stop(self) -> None:
        """See `Engine.stop`."""
        self.stop_before(None)

    def stop_before(self, successor: DependencyEngine | None) -> None:
        """`stop`, and hand what other threads push from now on to `successor`, where there is one."""
        if self._is_stopped:
            return
        self._prepare_to_wait("stopping the engine")
        while True:
            self._stand_still()
            if not self._queue.pending:
                break
            # Asynchronous operations: what completes them may be held at the gate.
            self._go_on()
            self._dispatcher.wait_until(lambda: not self._queue.pending, _REST_POLL_S)
        self._is_stopped = True
        self._successor = successor
        blockers = self.lock.blockers
        if successor is not None:
            self._dispatcher.redirect = successor._dispatcher.submit
            successor.profile_hook = self.profile_hook
            successor.profile_all(self._profiles_all)
            while _BULK in blockers:
                successor.lock.blockers.append(_BULK)
                blockers.remove(_BULK)
        blockers.append(_STOP)
        self._go_on()
        self._runner.end()
        self._budget.lift()
        self._queue.failures.raise_unread()

    def _in_force(self) -> DependencyEngine:
        """This engine, or the one that took over from it."""
        engine = self
        while engine._successor is not None:
            engine = engine._successor
        return engine

    def hold_for_fork(self) -> None:
        """Come to rest, unless called inside the engine, and keep the lock (`lifetime`)."""
        thread = local.state
        if thread.inside == STEP:
            return  # this thread may hold the lock already, and goes on in both processes
        if thread.inside == OUTSIDE:
            _flush()
            self._stand_still()
        self.lock.mutex.acquire()
        while thread.inside == OUTSIDE and (self.lock.inbox or self._queue.running):
            self.lock.mutex.release()
            self._rest()
            self.lock.mutex.acquire()

    def release_after_fork(self) -> None:
        """The parent goes on."""
        thread = local.state
        if thread.inside == STEP:
            return
        self.lock.mutex.release()
        self.lock.catch_up()
        if thread.inside == OUTSIDE:
            self._go_on()

    def renew_after_fork(self) -> None:
        """The child starts without workers, pending work or memory of the other threads."""
        is_in_step = local.state.inside == STEP
        self._gate = Gate()
        self.lock.blockers[:] = [word for word in self.lock.blockers if word not in {_GATE, _BULK}]
        bulk = local.state.bulk
        while bulk is not None:
            self.lock.blockers.append(_BULK)
            bulk = bulk.outer
        self._dispatcher.renew(is_in_step)

    def finish_at_exit(self) -> list[Failure]:
        """Run what can run without another thread's `on_complete`; the failures nobody waited for."""
        if not (self._is_stopped or local.state.inside):
            _flush()
            if self._stand_still():
                self._go_on()
        return self._queue.failures.unread()


_BULK: Final = "bulk"
_DELETION: Final = "deletion"
_GATE: Final = "gate"
_PROFILER: Final = "profiler"
_STOP: Final = "stop"


def _flush() -> None:
    """Push the group that this thread is collecting."""
    bulk = local.state.bulk
    if bulk is not None:
        bulk.flush()


def _title(fn: Callable[..., object], name: str | None) -> str:
    return name or getattr(fn, "__qualname__", None) or "operation"


def _inline_failure(fn: Callable[..., object], name: str | None, error: BaseException, seq: int) -> Failure:
    note = note_on(_title(fn, name), push_site(), False)
    return Failure(without_first_frame(error), seq, note)
