"""The engine: a dependency queue, a runner, and what a program may ask of both."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from operad.config import settings
from operad.context import Context, cpu
from operad.engine import interrupts, lifetime
from operad.engine.base import Engine, ProfileHook
from operad.engine.budget import ThreadBudget
from operad.engine.bulk import Bulk
from operad.engine.dispatch import Dispatcher, Runner
from operad.engine.failure import push_site
from operad.engine.inline import InlinePath
from operad.engine.intra_op import PartFn, intra_op_pool
from operad.engine.lock import BULK, DELETION, PROFILER, STOP
from operad.engine.operation import DELETE, AsyncFn, FnProperty, Opr, OprBlock, RunContext, SyncFn
from operad.engine.run_ahead import RunAhead
from operad.engine.standstill import StandStill
from operad.engine.thread import OUTSIDE, local, new_event, wait_for
from operad.engine.var import Var, WaitBlock
from operad.errors import BlockingInOperatorError, EngineError, EngineStoppedError


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
        self._stand_still = StandStill(self._dispatcher, runner)
        self._inline = InlinePath(self._dispatcher)
        self._deferred: deque[tuple[SyncFn, Context, Var]] = deque()
        self._profiles_all = False
        self._is_stopped = False
        self._successor: DependencyEngine | None = None
        self._run_ahead = RunAhead(self._dispatcher, options.max_pending, options.max_pending_bytes)
        budget.apply_if_restricted()
        interrupts.install()
        lifetime.watch(self._stand_still)

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
        if self._run_ahead.is_too_far(block.size_bytes):
            self._run_ahead.wait_for_room(block.size_bytes)
        self._dispatcher.submit(block)

    def _admits(self, block: OprBlock) -> bool:
        """See to what stands in the way of a push; False if another engine has taken it."""
        if self._deferred:
            self._delete_deferred()
        self._stand_still.gate.pass_through()
        if self._successor is not None:
            self._successor._push(block)
            return False
        if self._is_stopped and local.state.inside == OUTSIDE:
            raise EngineStoppedError("push to a stopped engine; operad.engine.get() starts a new one")
        if self._profiles_all:
            block.profiling = True
        return True

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
        if self._deferred:
            self._delete_deferred()
        return self._inline.run(fn, args, ctx, const_vars, mutable_vars, name)

    def fail_inline(
        self,
        fn: Callable[..., object],
        ctx: Context,
        mutable_vars: Sequence[Var],
        name: str | None,
        error: BaseException,
    ) -> None:
        """Store the error of a function that the hot path called under the lock. Under the lock."""
        self._inline.fail(fn, mutable_vars, name, error)

    # Grouping.

    @contextmanager
    def bulk(self, size: int) -> Iterator[None]:
        """See `Engine.bulk`."""
        if size < 1:
            raise EngineError(f"bulk({size}): a group has at least 1 member")
        thread = local.state
        outer = thread.bulk
        local.state.flush()
        self.lock.blockers.append(BULK)
        thread.bulk = Bulk(size, self, self._push_group, outer)
        try:
            yield
        finally:
            local.state.flush()
            thread.bulk = outer
            self._in_force().lock.blockers.remove(BULK)

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
            local.state.flush()
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
        self.lock.blockers.append(DELETION)

    def _delete_deferred(self) -> None:
        while True:
            try:
                request = self._deferred.popleft()
            except IndexError:  # another thread took the last one
                return
            self.lock.blockers.remove(DELETION)
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
        block = WaitBlock(var, cpu(), write, event.release)
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
            local.state.flush()

    def wait_for_all(self) -> None:
        """See `Engine.wait_for_all`."""
        self._prepare_to_wait("waiting for all operations")
        engine = self._in_force()
        queue = engine._queue
        engine._runner.help(lambda: not queue.pending)
        engine._dispatcher.wait_until(lambda: not queue.pending)
        queue.failures.raise_unread()

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
            (self.lock.blockers.append if is_on else self.lock.blockers.remove)(PROFILER)

    # Ending.

    def stop(self) -> None:
        """See `Engine.stop`."""
        self.stop_before(None)

    def stop_before(self, successor: DependencyEngine | None) -> None:
        """`stop`, and hand what other threads push from now on to `successor`, where there is one."""
        if self._is_stopped:
            return
        self._prepare_to_wait("stopping the engine")
        self._stand_still.begin_with_nothing_pending()
        self._is_stopped = True
        self._successor = successor
        blockers = self.lock.blockers
        if successor is not None:
            self._dispatcher.redirect = successor._dispatcher.submit
            successor.profile_hook = self.profile_hook
            successor.profile_all(self._profiles_all)
            while BULK in blockers:
                successor.lock.blockers.append(BULK)
                blockers.remove(BULK)
        blockers.append(STOP)
        self._stand_still.end()
        self._runner.end()
        self._budget.lift()
        self._queue.failures.raise_unread()

    def _in_force(self) -> DependencyEngine:
        """This engine, or the one that took over from it."""
        engine = self
        while engine._successor is not None:
            engine = engine._successor
        return engine
