"""The hot path: calls of small operators on up to four arrays, in the calling thread.

This is the one module outside `engine` and `storage` that touches what those keep to themselves: the
engine's lock, by the rules that `engine.lock` gives for it, and the view that a block's handle keeps.
What a call of `nd.tanh` on 16x16 costs is Python calls and look-ups, so they are written out here, once, and
`specialize` makes a copy for each number of arrays. Every case that is in any way unusual is left to
`call.apply`, which does the same in the open.

A fast path with `runs_under_lock` runs under the engine's lock, any other one with its variables claimed.

# invariant: what runs under the lock calls nothing but functions of NumPy: ufuncs on so few elements that
# NumPy keeps the interpreter's lock, or what its author says to be as quick. So it takes no other lock and
# ends in a few microseconds; a thread that pushes meanwhile leaves a request, and only one that waits has to.
# Neither larger calls nor arbitrary code must run so.
# invariant: under the lock, with no request left, a variable without holders is named by no operation
# pushed so far. So inputs that are idle and clean hold their final values, and an idle output, which
# no other thread knows, may be written. Requests are read after the block was found dead, so what its last
# owner pushed is in the queue by then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import call
from typing import Any, Final

from operad.engine import current, run_single
from operad.engine.thread import NESTED, STEP, ThreadState, local
from operad.imperative.array import Array
from operad.imperative.array_spec import ArraySpec
from operad.imperative.chunk import Chunk, acquire
from operad.imperative.fast_path import FastPath
from operad.imperative.plan import Plan
from operad.imperative.specialize import specialized
from operad.imperative.state import RECORDING
from operad.imperative.tape import record

_new: Final = object.__new__

_COPIED_BYTES: Final = 16384
"""The largest arrays that are copied under the engine's lock, in about a microsecond."""

_MOST_ARGS: Final = 3
_MOST_STATES: Final = 2
"""Behind two arguments, which is how the updates of optimizers look."""


def fast_path(plan: Plan) -> FastPath | None:
    """The fast path of a plan; None if the hot path cannot run it."""
    signature, run_time = plan.signature, plan.run_time
    num_args = signature.num_args
    num_states = signature.num_inputs - num_args
    is_usual = num_args <= _MOST_ARGS if num_states == 0 else num_args == 2
    is_plain = plan.run.inline and not plan.run.resource_vars and signature.order is None
    is_partial = len(plan.out_specs) > 1
    direct = plan.operator.direct_visible if is_partial else plan.direct
    if (
        direct is None
        or (is_partial and plan.run.uses_blas)
        or not is_plain
        or not is_usual
        or num_states > _MOST_STATES
        or (is_partial and (signature.num_visible > 1 or run_time is not None))
    ):
        return None
    if plan.run.uses_blas:
        direct = partial(run_single, direct)
    num_values = 0 if run_time is None else len(run_time)
    return FastPath(
        _specialized(num_args + num_states, num_states, num_values, is_partial=is_partial),
        plan.name,
        direct,
        plan.out_specs[0],
        plan=plan,
        updates=[(position, 0) in signature.inplace for position in range(signature.num_inputs)],
        runs_under_lock=plan.run.runs_under_lock,
        run_time=run_time,
    )


@cache
def _specialized(
    num_arrays: int,
    num_states: int = 0,
    num_values: int = 0,
    *,
    is_partial: bool = False,
    is_converted: bool = True,
) -> Callable[..., Any]:
    return specialized(
        apply_fast,
        {"values": num_values},
        num_arrays=num_arrays,
        num_states=num_states,
        has_values=num_values > 0,
        is_partial=is_partial,
        is_converted=is_converted,
    )


def fill_fast(target: Array, value: float) -> bool:
    """Fill a small array with a number that fits its type; False if that must go another way."""
    thread, spec = local.state, target._spec
    if thread.mode >= RECORDING:
        return False
    fast = spec.fill
    if fast is None:
        if not _is_small(spec):
            return False
        call = _specialized(0, num_values=1, is_converted=False)
        fast = spec.fill = FastPath(call, "_copyto", _fill, spec)
    return fast.call(fast, thread, target.__class__, None, None, None, (value,), target) is target


def cast_fast(source: Array, out_spec: ArraySpec) -> Any:
    """A small array cast to a specification of its shape and context; None if that must go another way."""
    thread = local.state
    if source._spec.nbytes > _COPIED_BYTES or thread.mode >= RECORDING:
        return None
    fast = out_spec.copy
    if fast is None and (fast := _made_copy(out_spec)) is None:
        return None
    return fast.call(fast, thread, source, None, None, None, (), None)


def copy_fast(target: Array, source: Array) -> bool:
    """Copy between small arrays of one specification; False if that must go another way."""
    thread, spec = local.state, target._spec
    if source._spec is not spec or thread.mode >= RECORDING:
        return False
    fast = spec.copy
    if fast is None and (fast := _made_copy(spec)) is None:
        return False
    return fast.call(fast, thread, source, None, None, None, (), target) is target


def _made_copy(spec: ArraySpec) -> FastPath | None:
    if _is_small(spec):
        spec.copy = FastPath(_specialized(1), "_copyto", _copy, spec)
    return spec.copy  # type: ignore[no-any-return]  # it belongs to this module


def _is_small(spec: ArraySpec) -> bool:
    return spec.nbytes <= _COPIED_BYTES and not spec.ctx.is_gpu


def _copy(source: Any, target: Any) -> None:
    target[...] = source


def _fill(target: Any, value: float) -> None:
    target.fill(value)


def apply_fast(  # noqa: PLR0912, PLR0915 - a function more is a call more
    fast: FastPath,
    thread: ThreadState,
    first: Any,
    second: Any,
    third: Any,
    fourth: Any,
    values: tuple[Any, ...],
    out: Any,
    *,
    num_arrays: int,
    num_states: int,
    has_values: bool,
    is_partial: bool,
    is_converted: bool,
) -> Any:
    """Apply a plan by its fast path, whose `call` this is; None if that must go another way.

    The steps are, in this order: may the thread take this path; values; the output; variables; the call, with
    variables claimed or under the engine's lock; the tape. They have no functions of their own: a call of a
    Python function costs a twentieth of what all of them cost. Nothing is undone where a step returns
    None: a block that was acquired goes back when the array made of it is dropped.

    Args:
        fast: What to do.
        thread: The calling thread.
        first: The first array: arguments, and then states. Where there is none, the class of arrays.
        second: The second, `third` and `fourth`: anything where there is none.
        values: Values of all run-time parameters, `ABSENT` where not given.
        out: What to write into; None for a new array.
        num_arrays: How many arrays there are.
        num_states: How many of them are auxiliary states.
        has_values: Whether there are run-time parameters.
        is_partial: Whether there are outputs that it does not make, which a gradient may read.
        is_converted: Whether values are converted.
    """
    # May the thread take this path? Not inside an operation that calls no operators, or with no fast engine;
    # and not to record what has states, or outputs that are not made here.
    lock, mode, inside = current.hot_lock, thread.mode, thread.inside
    if lock is None or (inside and inside != NESTED):
        return None
    if (num_states > 0 or is_partial) and mode >= RECORDING:
        return None

    # Values. Those of the last call are converted already, and equal ones mean the same where they are plain:
    # no zeros, of which there are two, and no other types than Python's numbers.
    plan: Any = fast.plan
    if has_values and is_converted:
        if mode >= RECORDING:
            plan = plan.bound(values)
        run_time: Any = fast.run_time  # there is one, since there are values
        last, found, is_plain = run_time.last
        values = found if is_plain and values == last else run_time.converted(values, plan.operator)

    # The output: a new array, in the block of a dead one, or `out`.
    spec = fast.out_spec
    if out is None:
        # What `_new` does, without asking whether the block is idle, which is known under the lock. `pop` is
        # one call of C, so no two threads get one block.
        try:
            lease = spec.deferred.pop() if fast.is_recycled else acquire(spec.deferred, spec.ctx, spec.nbytes)
        except IndexError:
            lease = acquire(spec.deferred, spec.ctx, spec.nbytes)
        if lease.spec is spec:
            data = lease.view
        else:
            lease.handle.size_bytes = spec.nbytes
            data = lease.view = lease.handle.array(spec.shape, spec.dtype)
            lease.spec = spec
        chunk = Chunk(None, lease.reclaimer)
        chunk.var = var = lease.var
        chunk.lease = lease
        chunk.owner = chunk.note = None
        made = _new(type(first) if num_arrays > 0 else first)
        made._chunk = chunk
        made._data = data
        made._spec = spec
        made._autograd = None
    elif mode < RECORDING and type(out) is (type(first) if num_arrays > 0 else first) and out._spec is spec:
        made, chunk, data = out, out._chunk, out._data
        # What `Plan.may_overwrite` asks: what is read in the same memory is all of the output, and the
        # operator says that the output may lie there. It says so of no state.
        if num_arrays > 0 and first._chunk is chunk and not (first._data is data and fast.updates[0]):
            return None
        if num_arrays > 1 and second._chunk is chunk and not (second._data is data and fast.updates[1]):
            return None
        if num_arrays > 2 and third._chunk is chunk and not (third._data is data and fast.updates[2]):
            return None
        if num_arrays > 3 and fourth._chunk is chunk:
            return None
        var = chunk.var
    else:
        return None

    # Variables. A state is written, so nothing else may be where it is.
    if num_arrays > 0:
        first_var = first._chunk.var
    if num_arrays > 1:
        second_var = second._chunk.var
    if num_arrays > 2:
        third_var = third._chunk.var
    if num_arrays > 3:
        fourth_var = fourth._chunk.var
    if num_states > 0 and third_var in (first_var, second_var):
        return None
    if num_states > 1 and fourth_var in (first_var, second_var, third_var):
        return None

    # The call with its variables claimed, of all that is too long for the lock. The engine wants no variable
    # twice, and none in both lists.
    direct = fast.direct
    if not fast.runs_under_lock:
        args: tuple[Any, ...]
        read: tuple[Any, ...]
        written: tuple[Any, ...] = (var,)
        if num_arrays == 0:
            args, read = (data,), ()
        if num_arrays == 1:
            args, read = (first._data, data), (first_var,)
        if num_arrays == 2:
            args, read = (first._data, second._data, data), (first_var, second_var)
        if num_arrays == 3 and num_states == 0:
            args = (first._data, second._data, third._data, data)
            read = (first_var, second_var, third_var)
        if num_states == 1:
            args = (first._data, second._data, data, third._data)
            read, written = (first_var, second_var), (var, third_var)
        if num_states == 2:
            args = (first._data, second._data, data, third._data, fourth._data)
            read, written = (first_var, second_var), (var, third_var, fourth_var)
        if has_values:
            args = (*args, *values)
        if var in read or (num_arrays > 1 and len({*read}) < len(read)):
            read = tuple({*read} - {var})
        # An operation can neither wait for a recycled block nor push behind what uses it.
        if inside and out is None and not current.get().is_idle(var):
            return None
        if not current.get().run_inline(direct, args, spec.ctx, read, written, fast.name):
            return None
        if mode >= RECORDING:
            record(plan, (first, second, third)[:num_arrays], (made,))
        return made

    # The call under the engine's lock, as the head of `engine.lock` has it: the thread says that it is in a
    # step before it tries the lock, since a signal handler may run behind any line. A taken lock is not
    # waited for. An operation that calls operators runs under NumPy's error state already, which cannot be
    # nested.
    run = call if inside else thread.run
    if lock.blockers:
        return None
    try:
        thread.inside = STEP
        try:
            # commit: begin
            del lock.token
            lock.owner = thread
            # commit: end
        except AttributeError:  # another thread has it
            return None
        try:
            # Requests first: what is pending now names its variables from here on.
            if lock.next is not None or lock.current is not None:
                lock.read()
            # Idle, and with values? An array that is only read may have readers, but that is rare and slower
            # to ask.
            if (
                (var.holders or var.failure is not None)
                or (num_arrays > 0 and (first_var.holders or first_var.failure is not None))
                or (num_arrays > 1 and (second_var.holders or second_var.failure is not None))
                or (num_arrays > 2 and (third_var.holders or third_var.failure is not None))
                or (num_arrays > 3 and (fourth_var.holders or fourth_var.failure is not None))
            ):
                return None
            try:
                if num_arrays == 0:
                    run(direct, data, *values)
                if num_arrays == 1:
                    run(direct, first._data, data, *values)
                if num_arrays == 2:
                    run(direct, first._data, second._data, data, *values)
                if num_arrays == 3 and num_states == 0:
                    run(direct, first._data, second._data, third._data, data, *values)
                if num_states == 1:
                    run(direct, first._data, second._data, data, third._data, *values)
                if num_states == 2:
                    run(direct, first._data, second._data, data, third._data, fourth._data, *values)
            except BaseException as error:
                if inside:  # where no wait would raise it
                    raise
                written = (var,)
                if num_states == 1:
                    written = (var, third_var)
                if num_states == 2:
                    written = (var, third_var, fourth_var)
                current.get().fail_inline(direct, written, fast.name, error)
            var.version += 1
            if num_states > 0:
                third_var.version += 1
            if num_states > 1:
                fourth_var.version += 1
        finally:
            lock.owner = lock.token = None  # commit
    finally:
        # A thread that found the lock taken has left a request, and does not come back for it.
        thread.inside = inside
        if lock.next is not None or lock.has_after:
            lock.catch_up()

    if mode >= RECORDING:
        record(plan, (first, second, third)[:num_arrays], (made,))
    return made
