"""Running a small function in the calling thread, without a block or an entry in a queue.

Where nothing conflicts, the variables are claimed under the queue's lock, and the function is called
without it: no conflicting operation can start meanwhile, and other threads' pushes and waits go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from operad.context import Context, cpu
from operad.engine.dispatch import Dispatcher, without_first_frame
from operad.engine.failure import Failure, note_on, push_site
from operad.engine.interrupts import calls_operations, is_ctrl_c
from operad.engine.lock import PROFILER
from operad.engine.thread import NESTED, OPERATION, STEP, local
from operad.engine.var import Var, settle
from operad.errors import BlockingInOperatorError


@calls_operations
def run(  # noqa: PLR0912, PLR0915 - a function more is a call more
    dispatcher: Dispatcher,
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

    For an operation that calls operators (the caller is NESTED), it runs at once, and its errors are
    raised here. Nothing that stands in a push's way counts: the operation below on the stack must
    end for anything to go on.

    Returns:
        True if it ran (an error it raised is stored like a pushed function's); False if a conflicting
        operation is pending, a variable carries a failure, some thread groups its pushes, or the caller
        is inside an operation: push it instead.

    Raises:
        BlockingInOperatorError: NESTED, and a variable is named by work that is pending.
        BaseException: NESTED, and a variable has no value, or `fn` failed.
    """
    thread, lock, queue = local.state, dispatcher.lock, dispatcher.queue
    seq, failure, start_s = 0, None, 0.0
    inside = thread.inside
    if inside and inside != NESTED:
        return False
    if lock.blockers:
        if not inside and any(word != PROFILER for word in lock.blockers):
            return False
        if PROFILER in lock.blockers:
            start_s = time.perf_counter()
    thread.inside = STEP
    try:
        if lock.take() if inside else lock.try_take():
            try:
                if lock.inbox:
                    lock.read_inbox()
                seq = queue.claim(const_vars, mutable_vars)
            finally:
                lock.give_back()
        if not seq:
            if inside:
                raise _refusal(dispatcher, _title(fn, name), (*const_vars, *mutable_vars))
            return False
        # invariant: from the claim on, the thread is inside. Nothing that interrupts it waits for the
        # claimed variables, and every way out of here gives them back.
        thread.inside = OPERATION
        if inside:  # under NumPy's error state already, which cannot be nested
            fn(*args)
        else:
            thread.run(fn, *args)
    except BaseException as error:
        if not seq or inside:
            raise
        failure = _failure(fn, name, error, seq)
    finally:
        thread.inside = STEP
        if not seq:
            thread.inside = inside
        elif not lock.inbox and lock.try_take():  # `lock.do` without a further frame
            try:
                ready = queue.end_claim(const_vars, mutable_vars, failure)
                if ready or dispatcher.watchers:
                    dispatcher.hand_out(ready)
            finally:
                lock.give_back()
                thread.inside = inside
        else:
            thread.inside = inside
            lock.do(dispatcher.end_claim, (const_vars, mutable_vars), failure)
        if lock.inbox or lock.has_after:
            lock.catch_up()
    if start_s and fn is not _nothing:
        dispatcher.report(_title(fn, name), ctx, start_s)
    if failure is not None and is_ctrl_c(failure.error):
        raise KeyboardInterrupt
    return True


def _refusal(dispatcher: Dispatcher, title: str, named: tuple[Var, ...]) -> BaseException:
    """The error of a function inside an operation whose variables are not idle, or have no value."""
    for var in named:
        if var.failure is not None:
            return dispatcher.queue.failures.error_of(var.failure)
    return BlockingInOperatorError(
        f"{title} inside an operation names an array that pending work reads or writes, "
        "and waiting for it could wait for the operation itself; hand the array to the operation as "
        "an input"
    )


def wait_nested(dispatcher: Dispatcher, var: Var, write: bool) -> None:
    """Wait inside an operation that calls operators: only what is idle can be waited for."""
    run(dispatcher, _nothing, (), cpu(), () if write else (var,), (var,) if write else (), "a wait")


def fail(
    dispatcher: Dispatcher,
    fn: Callable[..., object],
    mutable_vars: Sequence[Var],
    name: str | None,
    error: BaseException,
) -> None:
    """Store the error of a function that the hot path called under the lock. Under the lock."""
    queue = dispatcher.queue
    queue.seq += 1
    failure = _failure(fn, name, error, queue.seq)
    queue.failures.record(failure)
    settle(mutable_vars, failure)


def _title(fn: Callable[..., object], name: str | None) -> str:
    return name or getattr(fn, "__qualname__", None) or "operation"


def _failure(fn: Callable[..., object], name: str | None, error: BaseException, seq: int) -> Failure:
    return Failure(without_first_frame(error), seq, note_on(_title(fn, name), push_site(), False))


def _nothing() -> None:
    """What a wait inside an operation runs."""


class nested:  # noqa: N801 - a class for its speed, for callers a function
    """Inside an operation: the operators that it calls run at once, in its thread.

    Without this they are pushed, and run when the operation is over.
    """

    __slots__ = ("_before", "_thread")

    def __enter__(self) -> None:
        self._thread = local.state
        self._before = self._thread.inside
        self._thread.inside = NESTED

    def __exit__(self, *raised: object) -> None:
        self._thread.inside = self._before
