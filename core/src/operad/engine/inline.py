"""Running a small function in the calling thread, without a block or an entry in a queue.

Where nothing conflicts, the variables are claimed under the queue's lock, and the function is called
without it: no conflicting operation can start meanwhile, and other threads' pushes and waits go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from operator import attrgetter

from operad.device import Context, cpu
from operad.engine.back_pressure import wait_for_small, wait_inside
from operad.engine.dispatch import Dispatcher
from operad.engine.failure import Failure, interrupted, note_on, push_site, without_first_frame
from operad.engine.forking import in_hand
from operad.engine.lock import PROFILER
from operad.engine.operation import CALLED, DONE, LEAVING, RAN, Claim
from operad.engine.thread import NESTED, OPERATION, STEP, local
from operad.engine.var import Var, set_failure
from operad.errors import BlockingInOperatorError
from operad.interrupts import is_from_outside
from operad.scopes import Ending, Exit, as_now

_Call = tuple[Callable[..., object], tuple[object, ...], Context, Sequence[Var], Sequence[Var], str | None]
"""Arguments of `run` behind the dispatcher."""


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
    end for anything to go on. Nor does what is queued behind that operation on the variables that it holds.

    Returns:
        True if it ran (an error it raised is stored like a pushed function's); False if a conflicting
        operation is pending, a variable carries a failure, or the caller is inside an operation: push
        it instead.

    Raises:
        BlockingInOperatorError: NESTED, and work on a variable that the operation does not hold stays
            pending, or one that it holds for reading is to be written.
        BaseException: NESTED, and a variable has no value, or `fn` failed; or an exception from outside.
    """
    # May the thread run anything here? A closed gate stops what begins, and not what an operation calls,
    # without which the operation would not end. The profiler wants the time.
    thread, lock, queue = local.state, dispatcher.lock, dispatcher.queue
    start_s, raised, is_refused = 0.0, None, False
    inside = thread.inside
    if inside and inside != NESTED:
        return False
    if lock.blockers:
        if not inside and any(word != PROFILER for word in lock.blockers):
            return False
        if PROFILER in lock.blockers:
            start_s = time.perf_counter()

    # A claim to hold the variables by: the thread's own, which is gone while it is in use. Code that
    # interrupts this function and calls it too gets another one.
    # commit: begin
    claim = thread.spare_claim
    thread.spare_claim = None
    # commit: end
    if claim is None:
        claim = Claim(thread)
    opr = claim.opr
    opr.const_vars, opr.mutable_vars = const_vars, mutable_vars  # type: ignore[assignment]
    claim.step = dispatcher.retire
    try:
        # The variables are claimed under the lock, for which no thread waits here: another one holds it for a
        # push or a finish, and a function can be pushed as well. Inside an operation it cannot.
        thread.inside = STEP
        try:
            # commit: begin
            del lock.token
            lock.owner = thread
            # commit: end
        except AttributeError:
            if not (inside and lock.take()):
                return False
        try:
            if lock.next is not None or lock.current is not None:
                lock.read()
            queue.claim(claim)
        finally:
            lock.owner = lock.token = None  # commit
        if claim.state == DONE:  # something is pending or failed
            is_refused = True
        else:
            # The call, without the lock.
            # invariant: from the claim on, the thread is inside. Nothing that interrupts it waits for the
            # claimed variables, and every way out of here gives them back.
            # commit: begin
            thread.inside = OPERATION
            claim.state = CALLED
            # commit: end
            if inside:  # under NumPy's error state already, which cannot be nested
                fn(*args)
            else:
                thread.run(fn, *args)
    except BaseException as error:
        if claim.state != CALLED or inside:
            raise
        claim.error = error
        if is_from_outside(error):
            raised = error
        _describe(claim, fn, name)
    finally:
        # The variables are given back by a request to the lock. A free lock without requests is taken here,
        # in the same commit, and the request done below without a queue. This commit must happen, whatever
        # interrupts: so it stands here, and in no function, since checks come at the entry of one.
        is_holder = False
        # commit: begin
        thread.inside = inside
        if claim.state != DONE:
            if claim.state != LEAVING:
                claim.state = RAN
            if lock.owner is None and lock.next is None and lock.current is None:
                del lock.token
                lock.owner = thread
                lock.current = claim
                thread.inside = STEP
                is_holder = True
            else:
                lock.tail.next = lock.tail = claim
        else:  # it holds nothing
            opr.const_vars = opr.mutable_vars = ()
            thread.spare_claim = claim
        # commit: end
        if is_holder:  # `catch_up`, of this request alone
            try:
                if claim.error is None:  # `Dispatcher.retire`, of what is usual
                    queue.release(claim, 1)
                    if queue.ready or dispatcher.watchers:
                        dispatcher.hand_out()
                else:
                    dispatcher.retire(claim)
                # commit: begin
                lock.current = None
                claim.error = None
                opr.const_vars = opr.mutable_vars = ()
                thread.spare_claim = claim  # no other thread knows of it
                # commit: end
            finally:
                # commit: begin
                lock.owner = lock.token = None
                thread.inside = inside
                # commit: end
        if lock.next is not None or lock.has_after:
            lock.catch_up(thread)

    if is_refused:
        return inside == NESTED and _run_nested(dispatcher, fn, args, ctx, const_vars, mutable_vars, name)
    if start_s and fn is not _nothing:
        dispatcher.report(_title(fn, name), ctx, start_s)
    if raised is not None:
        raise raised
    return True


def run_soon(dispatcher: Dispatcher, *call: *_Call) -> bool:
    """`run` once more, after a moment's wait for what the function would be queued behind.

    Args:
        dispatcher: The engine's.
        call: As for `run`.
    Returns:
        False if something still stands in its way, or no wait was earned (see `back_pressure`): push it.
    """
    _, _, _, const_vars, mutable_vars, _ = call
    return wait_for_small(dispatcher, const_vars, mutable_vars) and run(dispatcher, *call)


def _run_nested(dispatcher: Dispatcher, *call: *_Call) -> bool:
    """`run` inside operations once more, without the variables they hold, after a wait for the others."""
    fn, args, ctx, const_vars, mutable_vars, name = call
    around, named = in_hand(dispatcher, is_own=True), (*const_vars, *mutable_vars)
    written = {var for block in around for var in block.opr.mutable_vars}
    read = {var for block in around for var in block.opr.const_vars} - written
    held = read | written
    if read.intersection(mutable_vars):
        raise BlockingInOperatorError(
            f"{_title(fn, name)} inside an operation writes an array that the operation reads and others may "
            "read beside it; pass the array to the operation as an output, or write into a copy"
        )
    # invariant: an operation's variables are its own until it ends, and what it calls runs in its thread. So
    # nothing else writes them meanwhile, or reads what it writes; what is queued behind it comes later. The
    # push of the operation has counted its writes: counted here, versions would depend on when it runs.
    overwritten = [] if fn is _nothing else [*written.intersection(mutable_vars)]
    needed = [var for var in named if var not in written or var in const_vars]
    const_vars = [var for var in const_vars if var not in held]
    mutable_vars = [var for var in mutable_vars if var not in held]
    if not wait_inside(dispatcher, around, const_vars, mutable_vars):
        raise BlockingInOperatorError(
            f"{_title(fn, name)} inside an operation names an array that the operation does not hold, and "
            "that pending work reads or writes first, which seems to wait for the operation itself; hand the "
            "array to the operation as an input"
        )
    for var in needed:  # only now: what was pending may have failed, or overwritten what had
        if var.failure is not None:
            raise dispatcher.queue.failures.error_of(var.failure)
    set_failure(overwritten, None)
    return run(dispatcher, fn, args, ctx, const_vars, mutable_vars, name)


def _describe(claim: Claim, fn: Callable[..., object], name: str | None) -> None:
    """Note of what failed, for messages."""
    claim.opr.name = _title(fn, name)
    claim.site = push_site()


def wait_nested(dispatcher: Dispatcher, var: Var, write: bool) -> None:
    """Wait inside an operation that calls operators."""
    run(dispatcher, _nothing, (), cpu(), () if write else (var,), (var,) if write else (), "a wait")


def fail(
    dispatcher: Dispatcher,
    fn: Callable[..., object],
    mutable_vars: Sequence[Var],
    name: str | None,
    error: BaseException,
) -> None:
    """Store the error of a function that the hot path called under the lock. Under the lock.

    Raises:
        BaseException: `error` itself, if it came from outside.
    """
    queue, title = dispatcher.queue, _title(fn, name)
    queue.seq += 1
    note = note_on(title, push_site(), False)
    if is_from_outside(error):
        failure = interrupted(title, error, queue.seq, note)
    else:
        failure = Failure(without_first_frame(error), queue.seq, note)
    queue.failures.record(failure)
    set_failure(mutable_vars, failure)
    if failure.is_told:
        raise error


def _title(fn: Callable[..., object], name: str | None) -> str:
    return name or getattr(fn, "__qualname__", None) or "operation"


def _nothing() -> None:
    """Do nothing, as a wait inside an operation does."""


class nested:  # noqa: N801 - a class for its speed, for callers a function
    """Inside an operation: the operators that it calls run at once, in its thread.

    Without this they are pushed, and run when the operation is over.
    """

    __slots__ = ("_ending",)

    def __init__(self) -> None:
        self._ending = Ending(as_now(local.state, "inside", "mode"))

    def __enter__(self) -> None:
        local.state.inside = NESTED

    __exit__ = Exit(attrgetter("_ending"))


def refuse(*_: object) -> bool:
    """`run` and `run_soon` of a stopped engine: what is pushed instead is refused with a message."""
    return False
