"""The engine's interface: everything the rest of operad may ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager

from operad.context import Context
from operad.engine.intra_op import PartFn
from operad.engine.operation import AsyncFn, FnProperty, Opr, SyncFn
from operad.engine.var import Var

ProfileHook = Callable[[str, Context, float, float], object]


class Engine(ABC):
    """Runs functions in an order that respects the variables they name, in parallel where it may.

    Two functions, one of which mutates a variable that the other names, run in push order;
    everything else may run in parallel. Every method may be called from any thread, and all but the
    waits from inside an operation too.

    An error of a function never surfaces where it was pushed. What it would have written has no value:
    functions that read it are skipped, what they would have written has none either, and every wait
    for such a variable raises that error until a later function has overwritten the variable.

    Attributes:
        profile_hook: Called as `hook(name, ctx, start_s, stop_s)` (`time.perf_counter` readings)
            after each run of an operation pushed with `profiling=True`, in the thread that ran it.

    Source: Engine, include/mxnet/engine.h.
    """

    profile_hook: ProfileHook | None = None

    @abstractmethod
    def new_variable(self, name: str | None = None) -> Var:
        """A fresh variable; `name` appears in messages."""

    @abstractmethod
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

        Args:
            fn: Called as `fn(run_ctx)`; with `prop=ASYNC` as `fn(run_ctx, on_complete)`, and done only
                when `on_complete(error=None)` was called, once, from any thread.
            const_vars: Variables that `fn` reads. Disjoint from `mutable_vars`.
            mutable_vars: Variables that `fn` mutates.
            prop: The kind of work; decides which worker runs it.
            name: What messages and profiles call it.
            reads_mutable: `fn` uses the old contents of all `mutable_vars`, or of those given (in-place
                update, partial write, ADD request): skip it where one of them holds a failure,
                instead of taking what failed for overwritten.
            is_parallel: Whether `fn` is worth several threads inside; see `use_threads`.

        Raises:
            DuplicateVarError: A variable is named twice, or in both lists.
        """

    @abstractmethod
    def delete_operator(self, opr: Opr) -> None:
        """Refuse later pushes of `opr`; those already pushed still run."""

    @abstractmethod
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

    @abstractmethod
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

        Args:
            prop: Which worker starts it; every property is allowed.
            fn, ctx, const_vars, mutable_vars, priority, name, reads_mutable, size_bytes: As in
                `new_operator` and `push`.

        Raises:
            DuplicateVarError: A variable is named twice. Errors of `fn` surface at a wait.
        """

    @abstractmethod
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
        """Schedule `fn(run_ctx)`, which is done when it returns; otherwise as `push_async`.

        `is_parallel` is as in `new_operator`.
        """

    @abstractmethod
    def use_threads(self, is_worth: bool) -> None:
        """Say, from inside an operation, whether what it does next is worth several threads.

        BLAS pools get the operation's share of the thread budget where it is, else one thread: a
        small product gains little from more, and loses much where cores are busy.
        """

    @property
    @abstractmethod
    def num_threads_now(self) -> int:
        """How many threads the operation that asks may use at this moment; 1 if it is worth no more."""

    @abstractmethod
    def parallel(self, function: PartFn, count: int, width: int) -> None:
        """Compute the parts of an operation's work, called from inside it; returns when all are done.

        BLAS pools get one thread meanwhile.

        Args:
            function: Called as `function(part, slot)` for every part below `count`, from up to `width`
                threads. The result must not depend on which thread, slot or order a part gets.
            count: How many parts there are.
            width: How many may be computed at once, as `num_threads_now` said; slots are below it.
        """

    @abstractmethod
    def run_inline(
        self,
        fn: Callable[..., object],
        args: tuple[object, ...],
        ctx: Context,
        const_vars: Sequence[Var],
        mutable_vars: Sequence[Var],
        name: str | None,
    ) -> bool:
        """Run `fn(*args)` here and now if nothing stands in its way; else do nothing.

        The variables are claimed as a push would, and other threads push and wait beside it. The lists
        are trusted to be disjoint and without repetition.

        Returns:
            True if it ran (an error it raised is stored like a pushed function's); False if a
            conflicting operation is pending, a variable carries a failure, some thread groups its
            pushes, or the caller is inside an operation: push it instead.
        """

    @abstractmethod
    def profile_all(self, is_on: bool) -> None:
        """Report every operation to `profile_hook` from now on, inline ones included, or no longer."""

    @abstractmethod
    def is_idle(self, var: Var) -> bool:
        """Whether no operation pushed so far still names `var`; takes no lock, so finalizers may ask."""

    @abstractmethod
    def delete_variable(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """Call `delete_fn(run_ctx)` after every operation that names `var`, failed or not.

        It may be called here and now where `var` is idle. Naming `var` afterwards is an EngineError.
        """

    @abstractmethod
    def defer_delete(self, delete_fn: SyncFn, ctx: Context, var: Var) -> None:
        """`delete_variable` for finalizers, which may interrupt any thread anywhere.

        Takes no lock and runs nothing: it notes the request, and the next push, wait or `run_inline`
        of any thread carries it out.
        """

    @abstractmethod
    def wait_for_var(self, var: Var) -> None:
        """Wait until every operation pushed so far that mutates `var` is done.

        Raises:
            BaseException: `var` has no value; the error of the earliest failure that is to blame. The
                first raise of a failure gives the exception that the function raised, with its
                traceback; later ones give copies without it.
            BlockingInOperatorError: Called from inside an operation.
        """

    @abstractmethod
    def wait_to_write(self, var: Var) -> None:
        """Wait until every operation pushed so far that names `var` is done; raises as `wait_for_var`."""

    @abstractmethod
    def wait_for_all(self) -> None:
        """Wait until nothing is pending.

        Raises:
            BaseException: The error of the one failure that no wait has raised yet; several come in
                push order as an ExceptionGroup.
            BlockingInOperatorError: Called from inside an operation.
        """

    @abstractmethod
    def stop(self) -> None:
        """Finish what is pending, end the workers, and raise what `wait_for_all` would; idempotent."""

    @abstractmethod
    def bulk(self, size: int) -> AbstractContextManager[None]:
        """Group this thread's consecutive synchronous pushes into operations of at most `size`.

        A group is pushed when it is full, when the next push has another context, priority or property
        or is asynchronous, when this thread waits, and at the end. What can be observed is unchanged,
        failures included; other threads see a group's members only once it is pushed.
        """
