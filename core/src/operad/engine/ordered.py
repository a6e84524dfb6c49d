"""What the engines share: pushes, waits and failures over one dependency queue.

One push lock guards the queue, so that a block enters all its variables in one step whichever thread
pushes. Subclasses say only who runs a block that may run.

*Re-entrance.* The lock is re-entrant and comes with a flag, `_busy`, that is set while the queue is
being changed or an inline function runs. Whoever finds it set holds the lock already: a finalizer or
signal handler that interrupted this very code, or an inline function that pushes. Its request is put
aside and carried out when the step it interrupted is complete; a wait, which could only deadlock,
raises `BlockingInOperatorError`.

*The inline path.* Where nothing conflicts, `run_inline` calls the function while it holds the lock:
nobody can push a conflicting operation meanwhile, and neither a block nor a queue entry is made. That
costs other threads' pushes a small function's time, where releasing and taking the lock again
would cost every call a second round trip.
"""

from __future__ import annotations

import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from operad.config import settings
from operad.context import Context, cpu
from operad.engine import lifetime
from operad.engine.base import Engine
from operad.engine.budget import ThreadBudget
from operad.engine.bulk import Bulk
from operad.engine.failure import Failure, note_on, push_site
from operad.engine.operation import DELETE, GROUP, AsyncFn, Block, FnProperty, Opr, RunContext, SyncFn
from operad.engine.var import DependencyQueue, Var, Waiter
from operad.errors import BlockingInOperatorError, EngineError, EngineStoppedError

_CPU: Final = cpu()


class Thread(threading.local):
    """What an engine keeps of each thread.

    Attributes:
        is_running: Whether the thread is inside an operation of this engine.
        bulk: The group it is collecting.
        backlog: Blocks it has to run (naive engine).
    """

    is_running: bool = False
    bulk: Bulk | None = None

    def __init__(self) -> None:
        self.backlog: deque[Block] = deque()


class Sleeper(Waiter):
    """A waiter that a thread sleeps on."""

    __slots__ = ("bell",)

    def __init__(self, var: Var, write: bool) -> None:
        super().__init__(var, _CPU, write)
        self.bell = new_bell()

    def arrive(self) -> None:
        """Wake the thread."""
        super().arrive()
        self.bell.release()


def new_bell() -> threading.Lock:
    """A lock that is held: acquiring it sleeps until someone releases it."""
    bell = threading.Lock()
    bell.acquire()
    return bell


class Completion:
    """The `on_complete` of one run of an asynchronous operation.

    Args:
        engine: Runs the operation.
        block: The run.
        bell: Rung when it is done.
    """

    __slots__ = ("_bell", "_block", "_engine", "_is_done")

    def __init__(self, engine: OrderedEngine, block: Block, bell: threading.Lock | None) -> None:
        self._bell = bell
        self._engine = engine
        self._block = block
        self._is_done = False

    def __call__(self, error: BaseException | None = None) -> None:
        """The operation is done, or failed with `error`.

        Raises:
            EngineError: It was done already.
        """
        if not self.close(error):
            title = self._block.opr.title
            raise EngineError(f"{title}: on_complete was called twice; call it once for each run")

    def close(self, error: BaseException | None) -> bool:
        """Finish the operation unless it is finished; whether this call did."""
        with self._engine._lock:
            if self._is_done:
                return False
            self._is_done = True
        failure = None if error is None else self._engine._failed(self._block, error)
        self._engine._finish(self._block, failure)
        if self._bell is not None:
            self._bell.release()
        return True

    def __del__(self) -> None:
        if not self._is_done:
            title = self._block.opr.title
            self.close(EngineError(f"{title}: on_complete was dropped without being called; call it once"))


class OrderedEngine(Engine):
    """An engine over a `DependencyQueue`; abstract in who runs the blocks.

    Args:
        num_threads: Size of the thread budget; default: the setting.
    """

    is_threaded: bool

    def __init__(self, num_threads: int | None = None) -> None:
        options = settings()
        self.num_threads = num_threads or options.num_threads
        self._debug = options.debug
        self._queue = DependencyQueue()
        self._deferred: deque[tuple[SyncFn, Context, Var]] = deque()
        self._budget = ThreadBudget(self.num_threads)
        self._budget.apply_if_restricted()
        self._stopped = False
        self._renew()
        lifetime.watch(self)

    def _renew(self) -> None:
        """Make all that threads share anew; a forked child has only one thread and does it again."""
        self._lock = threading.RLock()
        self._busy = False
        self._aside: deque[tuple[Callable[..., None], tuple[Any, ...]]] = deque()
        self._drained: list[threading.Lock] = []
        self._thread = Thread()
        self._detours = int(self._stopped)  # open bulk scopes, and one once stopped
        self._has_chores = False

    # What subclasses decide. `_offer` is called under the lock with `_busy` set, the others without.

    @abstractmethod
    def _offer(self, block: Block) -> None:
        """`block` may run from now on."""

    @abstractmethod
    def _do_chores(self) -> None:
        """Do what `_offer` left for after the lock is released (it sets `_has_chores`)."""

    @abstractmethod
    def _help(self, is_over: Callable[[], bool], bell: threading.Lock) -> None:
        """Return once `is_over()`; `bell` rings then. The thread may run blocks meanwhile."""

    @abstractmethod
    def _quiesce(self) -> None:
        """Return once no block runs or may run; asynchronous ones may still be pending."""

    @abstractmethod
    def _end_workers(self) -> None:
        """Let the workers go; nothing is pending."""

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
        reads_mutable: bool = False,
    ) -> Opr:
        """See `Engine.new_operator`."""
        return Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable)

    def delete_operator(self, opr: Opr) -> None:
        """See `Engine.delete_operator`."""
        opr.deleted = True

    def push(self, opr: Opr, ctx: Context, priority: int = 0, profiling: bool = False) -> None:
        """See `Engine.push`."""
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
        reads_mutable: bool = False,
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
        reads_mutable: bool = False,
    ) -> None:
        """See `Engine.push_sync`."""
        self._push(Block(Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable), ctx, priority))

    def _push(self, block: Block) -> None:
        if self._debug:
            block.site = push_site()
        if self._deferred:
            self._delete_deferred()
        if self._detours and self._joins_bulk(block):
            return
        self._submit(block)

    def _submit(self, block: Block) -> None:
        with self._lock:
            if self._busy:
                self._aside.append((self._admit, (block,)))
                return
            self._busy = True
            try:
                if self._queue.add(block):
                    self._offer(block)
                if self._aside:
                    self._carry_out_aside()
            finally:
                self._busy = False
        if self._has_chores:
            self._do_chores()

    def _admit(self, block: Block) -> None:
        if self._queue.add(block):
            self._offer(block)

    def _carry_out_aside(self) -> None:
        """Do what was put aside while `_busy`. Under the lock."""
        while self._aside:
            step, arguments = self._aside.popleft()
            try:
                step(*arguments)
            except EngineError as error:  # its pusher is gone: a deleted variable, in the end
                block: Block = arguments[0]
                self._queue.record(Failure(error, block.seq, note_on(block.opr.title, block.site, False)))

    # Running.

    def _call(self, block: Block, run_ctx: RunContext) -> Failure | None:
        """Run a synchronous block's function, or all members of a group; the failure if it raised."""
        opr = block.opr
        if opr.kind == GROUP:
            self._call_members(opr.parts, run_ctx)
            return None
        try:
            if block.profiling and self.profile_hook is not None:
                start_s = time.perf_counter()
                opr.fn(run_ctx)
                self.profile_hook(opr.title, block.ctx, start_s, time.perf_counter())
            else:
                opr.fn(run_ctx)
        except BaseException as error:  # noqa: BLE001 - every error belongs to the operation; waits raise it
            return self._failed(block, error)
        return None

    def _call_members(self, parts: tuple[Block, ...], run_ctx: RunContext) -> None:
        queue = self._queue
        for part in parts:
            # The group holds the variables, so their failures cannot change here.
            failures = queue.inherited(part) if queue.tainted else ()
            failure = None if failures else self._call(part, run_ctx)
            if failure is not None:
                with self._lock:
                    queue.record(failure)
                failures = (failure,)
            if queue.tainted:
                queue.settle(part, failures)

    def _start_async(self, block: Block, run_ctx: RunContext, bell: threading.Lock | None = None) -> None:
        """Call an asynchronous block's function, which finishes the block by itself and rings `bell`."""
        completion = Completion(self, block, bell)
        try:
            block.opr.fn(run_ctx, completion)
        except BaseException as error:  # noqa: BLE001 - as in `_call`
            if not completion.close(error):
                failure = self._failed(block, error)
                with self._lock:
                    self._queue.record(failure)

    def _finish(self, block: Block, failure: Failure | None) -> None:
        """`block` is done; called in any thread."""
        with self._lock:
            if self._busy:
                self._aside.append((self._retire, (block, failure)))
                return
            self._busy = True
            try:
                self._retire(block, failure)
                if self._aside:
                    self._carry_out_aside()
            finally:
                self._busy = False
        if self._has_chores:
            self._do_chores()

    def _retire(self, block: Block, failure: Failure | None) -> None:
        """Finish `block` and offer what it was in the way of. Under the lock."""
        for ready in self._queue.finish(block, failure):
            self._offer(ready)
        if not self._queue.pending and self._drained:
            self._ring_drained()

    def _ring_drained(self) -> None:
        drained, self._drained = self._drained, []
        for bell in drained:
            bell.release()

    def _failed(self, block: Block, error: BaseException) -> Failure:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            error.__traceback__ = error.__traceback__.tb_next  # the engine's own frame holds the block
        return Failure(error, block.seq, note_on(block.opr.title, block.site, self.is_threaded))

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
        with self._lock:
            if self._busy or self._detours:
                return False
            for var in mutable_vars:
                if var.holders or (var.failures and not self._forgets(var)):
                    return False
            for var in const_vars:
                if var.holders and (var.holders < 0 or var.queue):
                    return False
                if var.failures and not self._forgets(var):
                    return False
            self._busy = True
            try:
                try:
                    fn(*args)
                except BaseException as error:  # noqa: BLE001 - as in `_call`
                    self._fail_inline(fn, ctx, mutable_vars, name, error)
                else:
                    for var in mutable_vars:
                        var.version += 1
                if self._aside:
                    self._carry_out_aside()
            finally:
                self._busy = False
        if self._has_chores:
            self._do_chores()
        return True

    def _fail_inline(
        self,
        fn: Callable[..., object],
        ctx: Context,
        mutable_vars: Sequence[Var],
        name: str | None,
        error: BaseException,
    ) -> None:
        block = Block(Opr(fn, (), mutable_vars, name=name), ctx)
        block.site = push_site()
        self._queue.number(block)
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            error.__traceback__ = error.__traceback__.tb_next
        failure = Failure(error, block.seq, note_on(block.opr.title, block.site, False))
        self._queue.record(failure)
        self._queue.settle(block, (failure,))

    def _forgets(self, var: Var) -> bool:
        """Drop the failures of `var` if every later operation would ignore them; whether it did."""
        if var.holders or any(failure.consumed_at is None for failure in var.failures):
            return False
        var.failures = ()
        return True

    # Grouping.

    @contextmanager
    def bulk(self, size: int) -> Iterator[None]:
        """See `Engine.bulk`."""
        if size < 1:
            raise EngineError(f"bulk({size}): a group has at least 1 member")
        outer = self._thread.bulk
        self._flush()
        self._thread.bulk = Bulk(size)
        self._count_detours(1)
        try:
            yield
        finally:
            self._flush()
            self._thread.bulk = outer
            self._count_detours(-1)

    def _count_detours(self, change: int) -> None:
        with self._lock:
            self._detours += change

    def _joins_bulk(self, block: Block) -> bool:
        """Whether `block` became a member of this thread's group; else the group is pushed before it."""
        self._refuse_if_stopped()
        bulk = self._thread.bulk
        if bulk is None:
            return False
        if not bulk.accepts(block):
            self._flush()
            if not bulk.accepts(block):
                return False
        for var in (*block.opr.const_vars, *block.opr.mutable_vars):
            if var.deleted:
                raise EngineError(f"push of {block.opr.title!r}: {var!r} was deleted; use a new variable")
        with self._lock:
            self._queue.number(block)
        bulk.join(block)
        if bulk.is_full:
            self._flush()
        return True

    def _refuse_if_stopped(self) -> None:
        if self._stopped:
            raise EngineStoppedError("the engine was stopped; operad.engine.get() starts a new one")

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
        return var.holders == 0

    def delete_variable(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """See `Engine.delete_variable`."""
        if self._detours:
            self._flush()
        with self._lock:
            if var.deleted:
                raise EngineError(f"delete_variable: {var!r} was deleted already")
            is_inline = var.holders == 0 and not self._busy and not ctx.is_gpu
            if is_inline:
                var.deleted = True
                var.holders = -1
        if not is_inline:
            self._submit(Block(Opr(delete_fn, (), (var,), FnProperty.DELETE_VAR, kind=DELETE), ctx))
            return
        try:
            delete_fn(RunContext(ctx))
        except BaseException as error:  # noqa: BLE001 - as in `_call`
            with self._lock:
                self._fail_inline(delete_fn, ctx, (), None, error)

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
            var.holders >= 0
            and not var.queue
            and not var.failures
            and not (self._busy or self._detours or self._deferred)
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
        sleeper = Sleeper(var, write)
        self._submit(sleeper)
        if not sleeper.done:
            self._help(lambda: sleeper.done, sleeper.bell)
        for failure in sleeper.failures:
            with self._lock:
                error = self._queue.surface(failure)
            if error is not None:
                raise error

    def _prepare_to_wait(self, doing: str) -> None:
        """Refuse to wait inside an operation; else push what this thread holds back."""
        with self._lock:
            is_inside = self._busy or self._thread.is_running
        if is_inside:
            raise BlockingInOperatorError(
                f"{doing} inside an operation of the engine, which would never end; "
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
        bell = new_bell()
        with self._lock:
            if not self._queue.pending:
                return
            self._drained.append(bell)
        self._help(lambda: not self._queue.pending, bell)

    def _raise_unread(self) -> None:
        queue = self._queue
        with self._lock:
            unread = [queue.unread[seq] for seq in sorted(queue.unread)]
            errors = [error for failure in unread if (error := queue.surface(failure)) is not None]
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise BaseExceptionGroup(f"{len(errors)} operations failed", errors)

    def stop(self) -> None:
        """See `Engine.stop`."""
        if self._stopped:
            return
        self._prepare_to_wait("stopping the engine")
        self._drain()
        with self._lock:
            self._stopped = True
            self._detours += 1
        self._end_workers()
        self._raise_unread()

    # The process forks or ends (`lifetime`).

    def hold_for_fork(self) -> None:
        """Finish what is pending, unless called inside an operation, and keep the lock."""
        is_inside = self._thread.is_running
        while True:
            if not is_inside:
                self._drain()
            self._lock.acquire()
            if is_inside or self._busy or not self._queue.pending:
                return
            self._lock.release()

    def release_after_fork(self) -> None:
        """The parent goes on."""
        self._lock.release()

    def renew_after_fork(self) -> None:
        """The child starts without workers, pending work or memory of the other threads."""
        self._queue.pending = 0
        self._renew()

    def finish_at_exit(self) -> list[Failure]:
        """Run what can run without waiting for other threads' `on_complete`; the unread failures."""
        if not self._stopped and not self._thread.is_running:
            self._flush()
            self._quiesce()
        return [self._queue.unread[seq] for seq in sorted(self._queue.unread)]
