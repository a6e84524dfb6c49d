"""The engine: a dependency queue, a runner, and what a program may ask of both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from types import MethodType
from typing import ClassVar

from operad.config import settings
from operad.device import Context
from operad.engine import inline, lifetime
from operad.engine.back_pressure import wait_for_capacity, wait_until_entered
from operad.engine.budget import UNLIMITED, ThreadBudget, blas_limits
from operad.engine.dispatch import Dispatcher, ProfileHook, Runner
from operad.engine.failure import push_site
from operad.engine.lock import PROFILER
from operad.engine.operation import DELETE, AsyncFn, FnProperty, Opr, OprBlock, SyncFn
from operad.engine.quiescence import Quiescence
from operad.engine.thread import NESTED, OUTSIDE, local
from operad.engine.var import Var
from operad.errors import BlockingInOperatorError, EngineError, EngineStoppedError


class Engine:
    """Runs functions in an order that respects the variables they name, in parallel where it may.

    Two functions, one of which mutates a variable that the other names, run in push order;
    everything else may run in parallel. Every method may be called from any thread, and all but the
    waits from inside an operation too.

    An error of a function never surfaces where it was pushed. What it would have written has no value:
    functions that read it are skipped, what they would have written has none either, and every wait
    for such a variable raises that error until a later function has overwritten the variable.

    Args:
        num_threads: The threads that operations may use together; default: the setting.

    Attributes:
        runner_class: What decides who runs the functions.
        lock: The queue's lock, for the imperative hot path; see its module.
        submit: Takes a block past all that `push` looks at.
        run_inline: Runs a function here and now if nothing stands in its way; see `inline.run`.
        run_inline_soon: Does so after a moment's wait for what stands in its way; see `inline.run_soon`.
        fail_inline: Stores the error of a function that the hot path ran; see `inline.fail`.

    Source: Engine, include/mxnet/engine.h. Differs: push is thread-safe.
    """

    runner_class: ClassVar[type[Runner]]

    def __init__(self, num_threads: int | None = None) -> None:
        options = settings()
        self._budget = ThreadBudget(num_threads or options.num_threads)
        self._max_pending, self._max_bytes = options.max_pending, options.max_pending_bytes
        self._is_stopped = False
        dispatcher = Dispatcher(self.runner_class(self._budget))
        self._work_on(dispatcher, Quiescence(dispatcher))
        self._budget.limit_blas()
        lifetime.watch(self._quiescence)

    def _work_on(self, dispatcher: Dispatcher, quiescence: Quiescence) -> None:
        self._dispatcher = dispatcher
        self._quiescence = quiescence
        self._queue = dispatcher.queue
        self.lock = dispatcher.lock
        self.submit = dispatcher.submit
        # A method is called quicker than a partial, by 40 ns.
        self.run_inline: Callable[..., bool] = MethodType(inline.run, dispatcher)
        self.run_inline_soon: Callable[..., bool] = MethodType(inline.run_soon, dispatcher)
        self.fail_inline = partial(inline.fail, dispatcher)
        dispatcher.engine = self

    def take_over(self, other: Engine) -> None:
        """Go on with the queue of `other`, which comes to rest; `other` is another name for it from then on.

        Raises:
            BaseException: Failures of `other` that no wait has raised; this engine has taken over.
        """
        dispatcher, quiescence = other._dispatcher, other._quiescence
        self._quiescence.change()
        before = dispatcher.runner

        def go_on() -> None:
            quiescence.use(self.runner_class(self._budget))
            self._dispatcher.runner.end()
            self._work_on(dispatcher, quiescence)

        quiescence.change(go_on)
        before.end()
        self._budget.limit_blas()
        self._queue.failures.raise_unread()

    @property
    def budget(self) -> ThreadBudget:
        """The threads that operations, and the libraries below them, use together."""
        return self._dispatcher.runner.budget

    # Pushing.

    def new_variable(self, name: str | None = None) -> Var:
        """A fresh variable; `name` appears in messages."""
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
        """Prepare a function that will be pushed many times; the lists are checked once, here.

        The arguments that are not listed are as in `Opr`.

        Args:
            fn: Called as `fn(run_ctx)`; with `prop=ASYNC` as `fn(run_ctx, on_complete)`, and done only
                when `on_complete(error=None)` was called, once, from any thread.

        Raises:
            DuplicateVarError: A variable is named twice, or in both lists.
        """
        return Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, is_parallel=is_parallel)

    def delete_operator(self, opr: Opr) -> None:
        """Refuse later pushes of `opr`; those already pushed still run."""
        opr.deleted = True

    def push(
        self, opr: Opr, ctx: Context, priority: int = 0, profiling: bool = False, size_bytes: int = 0
    ) -> None:
        """Schedule one run of a prepared operation; legal while earlier runs are pending.

        Args:
            opr: Made by `new_operator`.
            ctx: Where it runs.
            priority: Larger runs first among ready operations; a hint, in no unit.
            profiling: Report this run to `profile_hook`.
            size_bytes: Memory that the operation keeps in use until it is done, for the limit on how far
                pushes run ahead: where too many operations or bytes are pending, a push waits until
                some are done. Threads inside the engine, finalizers and signal handlers never wait.

        Raises:
            EngineError: `opr` or one of its variables was deleted.
            EngineStoppedError: After `stop`.
        """
        if opr.__class__ is not Opr:
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
        """Schedule `fn(run_ctx, on_complete)` after every earlier operation it conflicts with.

        The operation is done when `on_complete` is called, once, from any thread; a second call
        raises EngineError there. An `on_complete` that is dropped uncalled fails the operation.
        The other arguments are as in `push` and `Opr`.

        Raises:
            DuplicateVarError: A variable is named twice. Errors of `fn` surface at a wait.
        """
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
        """Schedule `fn(run_ctx)`, which is done when it returns; otherwise as `push_async`."""
        opr = Opr(fn, const_vars, mutable_vars, prop, name, reads_mutable, is_parallel=is_parallel)
        self._push(OprBlock(opr, ctx, priority, False, size_bytes))

    def _push(self, block: OprBlock) -> None:
        block.site = push_site()
        lock, opr, queue = self.lock, block.opr, self._queue
        if lock.blockers or self._is_stopped:
            self._admit(block)
        revision: object = queue.revision
        for var in opr.const_vars:
            if var.deleted:
                raise opr.after_deletion_of(var)
        for var in opr.mutable_vars:
            if var.deleted:
                raise opr.after_deletion_of(var)
            var.version += 1
        if queue.pending >= self._max_pending or queue.pending_bytes + block.size_bytes > self._max_bytes:
            wait_for_capacity(self._dispatcher, self._max_pending, self._max_bytes, block.size_bytes)
        # `Dispatcher.submit`, without further frames, unless its variables are to be looked at again.
        # commit: begin
        block.step = self._dispatcher.enter
        if queue.revision is revision:
            lock.tail.next = lock.tail = block
            revision = None
        # commit: end
        if revision is not None:
            self._look_again(block)
        lock.catch_up()
        if not block.seq:
            wait_until_entered(self._dispatcher, block, self._max_bytes)

    def _look_again(self, block: OprBlock) -> None:
        """Link a block that a deletion has come between, or `recount_writes`."""
        lock, opr, queue = self.lock, block.opr, self._queue
        revision: object = queue.revision
        while revision is not None:
            for var in (*opr.const_vars, *opr.mutable_vars):
                if var.deleted:
                    raise opr.after_deletion_of(var)
            for var in opr.mutable_vars:
                var.version += 1
            # commit: begin
            last = queue.revision
            if last is revision:
                lock.tail.next = lock.tail = block
                last = None
            # commit: end
            revision = last

    def _admit(self, block: OprBlock) -> None:
        """See to what stands in the way of a push."""
        self._quiescence.wait_until_resumed()
        if self._is_stopped and local.state.inside == OUTSIDE:
            raise EngineStoppedError("push to a stopped engine; operad.engine.get() starts a new one")
        if PROFILER in self.lock.blockers:
            block.profiling = True

    # Variables.

    def recount_writes(self) -> None:
        """Have pushes that other threads have begun count their writes once more.

        A push counts its writes before it enters the queue. So a thread that reads `Var.version` may read of
        a write that comes behind what it pushes next. If it calls this between the two, it will find another
        version the next time it looks.
        """
        # A push takes the revision before it counts, and enters only if it is still the same.
        self._queue.revision = object()

    def is_idle(self, var: Var) -> bool:
        """Return whether no operation pushed so far names `var`; takes no lock, so finalizers may ask."""
        return self._dispatcher.is_done(var, True)

    def delete_variable(self, delete_fn: SyncFn, ctx: Context, var: Var, size_bytes: int = 0) -> None:
        """Call `delete_fn(run_ctx)` after every operation that names `var`, failed or not.

        Naming `var` afterwards is an EngineError.

        Args:
            size_bytes: Memory that `delete_fn` frees, for the limit on how far pushes run ahead.
        """
        if var.deleted:
            raise EngineError(f"delete_variable: {var!r} was deleted already")
        opr = Opr(delete_fn, (), (var,), kind=DELETE)
        block, queue, revision = OprBlock(opr, ctx, size_bytes=size_bytes), self._queue, object()
        # commit: begin
        queue.revision = revision
        var.deleted = True
        # commit: end
        self.submit(block)

    # Waiting.

    def wait_for_var(self, var: Var) -> None:
        """Wait until every operation pushed so far that mutates `var` is done.

        Raises:
            BaseException: `var` has no value; the error of the earliest failure that is to blame. The
                first raise of a failure gives the exception that the function raised, with its
                traceback; later ones give copies without it.
            BlockingInOperatorError: Called from inside an operation.
        """
        if self._dispatcher.is_done(var, False) and var.failure is None and not local.state.inside:
            return
        self._wait(var, False)

    def wait_to_write(self, var: Var) -> None:
        """Wait until every operation pushed so far that names `var` is done; raises as `wait_for_var`."""
        self._wait(var, True)

    def _wait(self, var: Var, write: bool) -> None:
        if local.state.inside == NESTED:
            inline.wait_nested(self._dispatcher, var, write)
            return
        self._prepare_to_wait("waiting for", var)
        if var.deleted:
            raise EngineError(f"wait for {var!r}: it was deleted")
        self._dispatcher.wait_for_var(var, write)

    def wait_for_all(self) -> None:
        """Wait until nothing is pending.

        Raises:
            BaseException: The error of the one failure that no wait has raised yet; several come in
                push order as an ExceptionGroup.
            BlockingInOperatorError: Called from inside an operation.
        """
        self._prepare_to_wait("waiting for", "all operations")
        queue, lock = self._queue, self.lock

        def is_over() -> bool:
            return queue.is_done

        self._dispatcher.runner.help(is_over)
        if lock.is_busy or queue.pending:
            self._dispatcher.wait_until(is_over)
        blas_limits.restore()
        queue.failures.raise_unread()

    def _prepare_to_wait(self, doing: str, what: object) -> None:
        """Refuse to wait inside the engine."""
        if local.state.inside:
            raise BlockingInOperatorError(
                f"{doing} {what} inside an operation or a step of the engine would never end; name the "
                "variable in const_vars and use its data, and do not wait in a finalizer or signal handler"
            )
        self._dispatcher.close_dropped()

    # Profiling.

    @property
    def profile_hook(self) -> ProfileHook | None:
        """Called with name, context, start and stop (`time.perf_counter`) of each run to be profiled."""
        return self._dispatcher.profile_hook

    @profile_hook.setter
    def profile_hook(self, hook: ProfileHook | None) -> None:
        self._dispatcher.profile_hook = hook

    def profile_all(self, is_on: bool) -> None:
        """Report every operation to `profile_hook` from now on, inline ones included, or no longer."""
        blockers = self.lock.blockers
        if is_on != (PROFILER in blockers):
            (blockers.append if is_on else blockers.remove)(PROFILER)

    # Ending.

    def stop(self) -> None:
        """Finish what is pending, end the workers, and raise what `wait_for_all` would; idempotent."""
        if self._is_stopped or self._dispatcher.engine is not self:  # Another one has taken over.
            return
        self._prepare_to_wait("stopping", self)

        def end() -> None:
            self._is_stopped = True
            self.run_inline = self.run_inline_soon = inline.refuse

        self._quiescence.change(end)
        self._dispatcher.runner.end()
        blas_limits.rest_at(UNLIMITED)
        self._queue.failures.raise_unread()
