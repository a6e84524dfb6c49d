"""What the engines share beyond running blocks: pushing, grouping, deleting, waiting, ending.

*The inline path.* Where nothing conflicts, `run_inline` calls the function while it holds the queue's lock:
no conflicting operation can enter meanwhile, and neither a block nor a queue entry is made. Other
threads are not held up; they leave their pushes in the inbox (see `dispatch`).
"""

from __future__ import annotations

import threading
from _thread import get_ident
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

from operad.context import Context
from operad.engine.bulk import Bulk
from operad.engine.crew import PartFn, crew
from operad.engine.dispatch import Dispatcher
from operad.engine.failure import Failure, note_on, push_site
from operad.engine.operation import DELETE, AsyncFn, Block, FnProperty, Opr, RunContext, SyncFn
from operad.engine.thread import Sleeper, new_bell
from operad.engine.var import Var
from operad.errors import BlockingInOperatorError, EngineError, EngineStoppedError


class OrderedEngine(Dispatcher):
    """An engine over a `DependencyQueue`; subclasses say who runs the blocks."""

    def __init__(self, num_threads: int | None = None) -> None:
        self._deferred: deque[tuple[SyncFn, Context, Var]] = deque()
        self._detours: list[str] = []  # why `run_inline` must stand back: open bulk scopes, a stop
        super().__init__(num_threads)

    def _renew(self) -> None:
        super()._renew()
        self._inline_thread = 0  # who runs an inline function; 0 for nobody
        self._exit_thread = 0  # who ends the process
        self._exit_gate = threading.Lock()

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

    def push(self, opr: Opr, ctx: Context, priority: int = 0, profiling: bool = False) -> None:
        """See `Engine.push`."""
        if not isinstance(opr, Opr):
            raise EngineError(f"push of {opr!r}, expected what new_operator() made")
        if opr.deleted:
            raise EngineError(f"push of {opr.title!r}: the operator was deleted; make a new one")
        self._push(Block(opr, ctx, priority, profiling))

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
    ) -> None:
        """See `Engine.push_async`."""
        self._push(Block(Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, True), ctx, priority))

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
    ) -> None:
        """See `Engine.push_sync`."""
        opr = Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, is_parallel=is_parallel)
        self._push(Block(opr, ctx, priority))

    def use_threads(self, is_worth: bool) -> None:
        """See `Engine.use_threads`."""
        self._budget.use(is_worth)

    @property
    def num_threads_now(self) -> int:
        """See `Engine.num_threads_now`."""
        return self._budget.share if self._budget.is_worth else 1

    def parallel(self, function: PartFn, count: int, width: int) -> None:
        """See `Engine.parallel`."""
        budget = self._budget
        was_worth = budget.is_worth
        budget.use(is_worth=False)
        try:
            crew.run(function, count, width)
        finally:
            budget.use(was_worth)

    def _push(self, block: Block) -> None:
        if self._keeps_sites:
            block.site = push_site()
        if self._deferred:
            self._delete_deferred()
        if self._stopped:
            raise EngineStoppedError("push to a stopped engine; operad.engine.get() starts a new one")
        opr = block.opr
        for var in opr.const_vars:
            if var.deleted:
                raise opr.after_deletion_of(var)
        for var in opr.mutable_vars:
            if var.deleted:
                raise opr.after_deletion_of(var)
            var.version += 1
        if self._detours:
            self._wait_for_exit()
            if self._joins_bulk(block):
                return
        self._submit(block)

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
        lock = self._lock
        if self._detours or not lock.acquire(False):
            return False
        try:
            if self._inbox:
                self._read_inbox()
            for var in mutable_vars:
                if var.holders or var.failure is not None:
                    return False
            for var in const_vars:
                if var.failure is not None or (var.holders and (var.holders < 0 or var.queue)):
                    return False
            self._inline_thread = get_ident()
            try:
                fn(*args)
            except BaseException as error:  # noqa: BLE001 - waits raise it
                self._fail_inline(Opr(fn, (), mutable_vars, name=name), ctx, error)
            for var in mutable_vars:
                var.version += 1
            return True
        finally:
            self._inline_thread = 0
            lock.release()
            if self._inbox or self._has_chores:
                self._catch_up()

    def _fail_inline(self, opr: Opr, ctx: Context, error: BaseException) -> None:
        """Store the error of an inline function like that of a pushed one. Under the lock."""
        block = Block(opr, ctx)
        self._queue.seq = block.seq = self._queue.seq + 1
        failure = self.failed(block, error)
        failure.note = note_on(opr.title, push_site(), False)
        self._queue.record(failure)
        self._queue.settle(block, failure)

    # Grouping.

    @contextmanager
    def bulk(self, size: int) -> Iterator[None]:
        """See `Engine.bulk`."""
        if size < 1:
            raise EngineError(f"bulk({size}): a group has at least 1 member")
        outer = self._thread.bulk
        self._flush()
        self._thread.bulk = Bulk(size)
        self._detours.append("bulk")
        try:
            yield
        finally:
            self._flush()
            self._thread.bulk = outer
            self._detours.remove("bulk")

    def _joins_bulk(self, block: Block) -> bool:
        """Whether `block` became a member of this thread's group; else the group is pushed before it."""
        bulk = self._thread.bulk
        if bulk is None:
            return False
        if not bulk.accepts(block):
            self._flush()
            if not bulk.accepts(block):
                return False
        bulk.join(block)
        if bulk.is_full:
            self._flush()
        return True

    def _flush(self) -> None:
        bulk = self._thread.bulk
        group = bulk.take() if bulk is not None else None
        if group is not None:
            self._submit(group)

    # Variables.

    def is_idle(self, var: Var) -> bool:
        """See `Engine.is_idle`."""
        if self._detours and (bulk := self._thread.bulk) is not None and bulk.names(var):
            return False
        # In this order: a push noted in the inbox is in the queue once the lock is free again.
        return not self._inbox and not self._lock.locked() and var.holders == 0

    def delete_variable(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """See `Engine.delete_variable`."""
        if var.deleted:
            raise EngineError(f"delete_variable: {var!r} was deleted already")
        if self._detours:
            self._flush()
        opr = Opr(delete_fn, (), (var,), FnProperty.DELETE_VAR, kind=DELETE)
        is_inline = not ctx.is_gpu and self.is_idle(var)
        var.deleted = True
        if not is_inline:
            self._submit(Block(opr, ctx))
            return
        var.close()
        try:
            delete_fn(RunContext(ctx))
        except BaseException as error:  # noqa: BLE001 - waits raise it
            self._record_apart(Block(opr, ctx), error)

    def defer_delete(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """See `Engine.defer_delete`."""
        self._deferred.append((delete_fn, ctx, var))

    def _delete_deferred(self) -> None:
        while True:
            try:
                request = self._deferred.popleft()
            except IndexError:  # another thread took the last one
                return
            self.delete_variable(*request)

    # Waiting.

    def wait_for_var(self, var: Var) -> None:
        """See `Engine.wait_for_var`."""
        if (
            # In this order: see `is_idle`.
            not (self._inbox or self._detours or self._deferred or self._lock.locked())
            and var.holders >= 0
            and not var.queue
            and var.failure is None
            and not self._thread.is_running
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
        self._help(lambda: self._is_settled(var, write))
        if self._is_settled(var, write) and var.failure is None:
            return
        sleeper = Sleeper(var, write)
        self._submit(sleeper)
        sleeper.bell.acquire()
        if sleeper.failure is not None:
            error = self._queue.surface(sleeper.failure)
            try:
                raise error
            finally:
                del error, sleeper  # this frame is part of the error's traceback

    def _is_settled(self, var: Var, write: bool) -> bool:
        if self._inbox or self._lock.locked():  # in this order: see `is_idle`
            return False
        return var.holders == 0 or (not write and var.holders > 0 and not var.queue)

    def _prepare_to_wait(self, doing: str) -> None:
        """Refuse to wait inside an operation; else push what this thread holds back."""
        if self._thread.is_running or self._inline_thread == get_ident():
            raise BlockingInOperatorError(
                f"{doing} inside an operation of the engine would never end; "
                "name the variable in const_vars and use its data directly"
            )
        if self._deferred:
            self._delete_deferred()
        if self._detours:
            self._flush()

    def wait_for_all(self) -> None:
        """See `Engine.wait_for_all`."""
        self._prepare_to_wait("waiting for all operations")
        self._drain()
        self._raise_unread()

    def _drain(self) -> None:
        """Return when nothing is pending."""
        self._help(lambda: not self._queue.pending)
        bell = new_bell()
        self._inbox.append(bell)
        self._catch_up()
        bell.acquire()

    def _raise_unread(self) -> None:
        errors = [failure.first_raise() for failure in self._queue.take_unread()]
        try:
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise BaseExceptionGroup(f"{len(errors)} operations failed", errors)
        finally:
            del errors  # this frame is part of their traceback

    # Ending.

    def stop(self) -> None:
        """See `Engine.stop`."""
        if self._stopped:
            return
        self._prepare_to_wait("stopping the engine")
        self._drain()
        self._stopped = True
        self._detours.append("stop")
        self._end_workers()
        self._budget.lift()
        self._raise_unread()

    def hold_for_fork(self) -> None:
        """Finish what is pending, unless called inside an operation, and keep the lock (`lifetime`)."""
        is_inside = self._thread.is_running or self._inline_thread == get_ident()
        while True:
            if not is_inside:
                self._flush()
                self._drain()
            if is_inside and self._inline_thread == get_ident():
                return  # this thread holds it already
            self._lock.acquire()
            if is_inside or not (self._inbox or self._queue.pending):
                return
            self._lock.release()

    def release_after_fork(self) -> None:
        """The parent goes on."""
        if self._inline_thread != get_ident():
            self._lock.release()
            self._catch_up()

    def renew_after_fork(self) -> None:
        """The child starts without workers, pending work or memory of the other threads."""
        self._queue.pending = 0
        self._renew()

    def _wait_for_exit(self) -> None:
        """While the process ends, hold other threads' new work back: what is pending would never end."""
        if self._exit_thread not in {0, get_ident()} and not self._thread.is_running:
            with self._exit_gate:
                pass

    def finish_at_exit(self) -> list[Failure]:
        """Run what can run without another thread's `on_complete`; the failures nobody heard of."""
        if not (self._stopped or self._thread.is_running):
            self._flush()
            self._exit_thread = get_ident()
            with self._exit_gate:
                self._detours.append("exit")
                self._quiesce()
                self._detours.remove("exit")
        return self._queue.unread_in_order()
