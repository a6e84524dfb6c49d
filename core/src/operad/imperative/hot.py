"""The hot path: calls of small operators on one to three arrays, in the calling thread.

This is the one module outside `engine` and `storage` that touches what those keep to themselves: the
engine's lock, by the rules that `engine.lock` gives for it, and the view that a block's handle keeps.
What a call of `nd.tanh` on 16x16 costs is Python calls and look-ups, so they are written out here, once;
every case that is in any way unusual is left to `call.apply`, which does the same in the open.

A plan that `is_brief` runs under the engine's lock, any other one with its variables claimed.

# invariant: what is brief does nothing but call ufuncs on so few elements that NumPy keeps the interpreter's
# lock. So it takes no other lock, ends in a few microseconds, and while it runs under the engine's lock no
# thread is kept from pushing that could have run. Neither larger calls nor arbitrary code must run so.
# invariant: under the lock, with an empty inbox, a variable without holders is named by no operation
# pushed so far. So inputs that are idle and clean hold their final values, and an idle output, which
# nobody else knows, may be written. The inbox is read after the block was found dead, so what its last
# owner pushed is in the queue by then; or in a group that a `bulk` scope still collects, and then there is a
# blocker, which is asked for after the block was found, too.
"""

from __future__ import annotations

from operator import attrgetter, call
from typing import Any, Final

from operad.engine import ThreadedEngine, current
from operad.engine.interrupts import protect
from operad.engine.thread import NESTED, STEP, ThreadState
from operad.imperative.array import Array
from operad.imperative.chunk import Chunk, lend
from operad.imperative.plan import Plan
from operad.imperative.state import RECORDING
from operad.imperative.tape import record

protect(__file__)

_new: Final = object.__new__
_data_of: Final = attrgetter("_data")


def apply_small(  # noqa: PLR0912, PLR0915 - a function more is a call more
    plan: Plan, thread: ThreadState, first: Any, second: Any, third: Any, values: tuple[Any, ...], out: Any
) -> Any:
    """Apply a plan that `is_small` to its arrays; None if that must go another way.

    Args:
        plan: What to do.
        thread: The calling thread.
        first: The first array.
        second: The second and `third`: anything where there is none.
        values: Values of all run-time parameters, `ABSENT` where not given.
        out: What to write into; None for a new array.
    """
    engine, mode, inside = current._engine, thread.mode, thread.inside
    if engine.__class__ is not ThreadedEngine or (inside and inside != NESTED):
        return None
    if values:
        if mode >= RECORDING:
            plan = plan.bound(values)
        values = plan.run_time.converted(values, plan.operator)  # type: ignore[union-attr]  # there are values
    spec, count = plan.out_spec, plan.num_args
    if out is None:
        # What `_new` does, without asking whether the block is idle, which is known under the lock.
        try:
            handle = spec.limbo.pop() if plan.is_recycled else lend(spec.limbo, spec.ctx, spec.nbytes)
        except IndexError:
            handle = lend(spec.limbo, spec.ctx, spec.nbytes)
        handle.size_bytes = spec.nbytes
        var = handle.var
        shape, dtype, data = handle._cached
        if shape is not spec.shape or dtype is not spec.dtype:
            data = handle.array(spec.shape, spec.dtype)
        chunk = _new(Chunk)
        chunk.var = var
        chunk.handle = handle
        chunk.owner = chunk.note = None
        made = _new(first.__class__)
        made._chunk = chunk
        made._data = data
        made._spec = spec
        made._autograd = None
    elif (
        mode < RECORDING
        and isinstance(out, Array)
        and out._spec is spec
        and plan.may_write((first, second, third)[:count], out)
    ):
        made, var, data = out, out._chunk.var, out._data
    else:
        return None
    direct: Any = plan.direct  # there is one, since it is small
    first_var = second_var = third_var = first._chunk.var
    if count > 1:
        second_var = second._chunk.var
        if count > 2:
            third_var = third._chunk.var
    if not plan.is_brief:
        inputs = (first, second, third)[:count]
        args = (*map(_data_of, inputs), data, *values)
        const = tuple({first_var, second_var, third_var} - {var})
        if not engine.run_inline(direct, args, plan.ctx, const, (var,), plan.name):
            return None
        if mode >= RECORDING:
            record(plan, inputs, (made,))
        return made
    is_done = False
    # An operation that calls operators runs under NumPy's error state already, which cannot be nested.
    run = call if inside else thread.run
    lock = engine.lock
    thread.inside = STEP
    try:
        # Asked again since the block was found: a group that names it may have been opened before.
        if not lock.blockers and lock.mutex.acquire(False):
            try:
                if lock.inbox:
                    lock.read_inbox()
                if (
                    not (var.holders or first_var.holders)
                    and var.failure is first_var.failure is None
                    and (
                        count == 1
                        or (
                            not (second_var.holders or third_var.holders)
                            and second_var.failure is third_var.failure is None
                        )
                    )
                ):
                    is_done = True
                    try:
                        if not values and count == 1:
                            run(direct, first._data, data)
                        elif not values and count == 2:
                            run(direct, first._data, second._data, data)
                        elif count == 1:
                            run(direct, first._data, data, *values)
                        elif count == 2:
                            run(direct, first._data, second._data, data, *values)
                        else:
                            run(direct, first._data, second._data, third._data, data, *values)
                    except BaseException as error:
                        if inside:  # where nobody waits for it
                            raise
                        engine.fail_inline(direct, (var,), plan.name, error)
                    var.version += 1
            finally:
                lock.mutex.release()
    finally:
        thread.inside = inside
        if lock.inbox or lock.has_after:
            lock.catch_up()
    if not is_done:
        return None
    if mode >= RECORDING:
        record(plan, (first, second, third)[:count], (made,))
    return made
