"""The hot path: a small call of a ufunc, from arrays to a new array.

This is the one module outside `engine` and `storage` that touches what those keep to themselves: the
lock, inbox and detours of the threaded engine, and the view that a block's handle keeps. What a call of
`nd.tanh` on 16x16 costs is Python calls and look-ups, so they are written out here, once; every other
call, and every case that is in any way unusual, goes through `call.apply`, which does the same in the
open.

# invariant: a ufunc of so few elements keeps the interpreter's lock, so while it runs under the
# engine's lock no thread is kept from pushing that could have run. Larger calls must not run here.
# invariant: under the lock, with an empty inbox, a variable without holders or queue is named by no
# operation pushed so far. So inputs that are idle and clean hold their final values, and an idle
# output, which nobody else knows, may be written.
"""

from __future__ import annotations

from _thread import get_ident
from typing import Any, Final

from operad.engine import ThreadedEngine, current
from operad.engine.operation import Opr
from operad.imperative.array import Array
from operad.imperative.call import apply
from operad.imperative.chunk import Chunk, lend
from operad.imperative.plan import Plan
from operad.imperative.state import RECORDING
from operad.imperative.tape import record

_new: Final = object.__new__


def apply_small(plan: Plan, first: Array, second: Array | None, values: tuple[Any, ...], mode: int) -> Any:
    """Apply a plan that `is_small` to one or two arrays, into a new one.

    Args:
        plan: What to do.
        first: The first argument.
        second: The second; None where there is one.
        values: Values of all run-time parameters, `ABSENT` where not given.
        mode: The thread's mode.
    """
    inputs = (first,) if second is None else (first, second)
    engine = current._engine
    if engine.__class__ is not ThreadedEngine or engine._detours or engine._deferred:
        return apply(plan, inputs, None, values, mode, first.__class__)
    if values:
        if mode >= RECORDING:
            plan = plan.bound(values)
        values = plan.run_time.converted(values, plan.operator)
    spec = plan.out_spec
    try:
        handle = spec.limbo.pop()
    except IndexError:
        handle = lend(spec.limbo, spec.ctx, spec.nbytes)
    var, first_var = handle.var, first._chunk.var
    second_var = first_var if second is None else second._chunk.var
    shape, dtype, data = handle._cached
    if shape is not spec.shape or dtype is not spec.dtype:
        data = handle.array(spec.shape, spec.dtype)
    is_done = False
    if engine._lock.acquire(False):
        try:
            is_done = not (
                engine._inbox
                or var.holders
                or first_var.holders
                or second_var.holders
                or first_var.failure is not None
                or second_var.failure is not None
            )
            if is_done:
                engine._inline_thread = get_ident()
                try:
                    if second is not None:
                        plan.direct(first._data, second._data, data)
                    elif values:
                        plan.direct(first._data, data, *values)
                    else:
                        plan.direct(first._data, data)
                    var.failure = None
                except BaseException as error:  # noqa: BLE001 - waits raise it
                    engine._fail_inline(Opr(plan.direct, (), (var,), name=plan.name), plan.ctx, error)
                var.version += 1
        finally:
            engine._inline_thread = 0
            engine._lock.release()
            if engine._inbox or engine._has_chores:
                engine._catch_up()
    handle.size_bytes = spec.nbytes
    chunk = _new(Chunk)
    chunk.ctx = spec.ctx
    chunk.var = var
    chunk.handle = handle
    chunk.owner = None
    out = _new(first.__class__)
    out._chunk = chunk
    out._data = data
    out._spec = spec
    out._autograd = None
    if not is_done:
        plan.run(inputs, (out,), values=values)
    if mode >= RECORDING:
        record(plan, inputs, (out,))
    return out
