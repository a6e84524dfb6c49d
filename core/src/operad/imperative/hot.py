"""The hot path: small calls in the calling thread.

This is the one module outside `engine` and `storage` that touches what those keep to themselves: the
engine's lock, by the rules that `engine.lock` gives for it, and the view that a block's handle keeps.
What a call of `nd.tanh` on 16x16 costs is Python calls and look-ups, so they are written out here, once;
every case that is in any way unusual is left to `call.apply` and `Engine.run_inline`, which do the same
in the open.

# invariant: a ufunc of so few elements keeps the interpreter's lock, so while it runs under the
# engine's lock no thread is kept from pushing that could have run. Larger calls must not run here.
# invariant: under the lock, with an empty inbox, a variable without holders is named by no operation
# pushed so far. So inputs that are idle and clean hold their final values, and an idle output, which
# nobody else knows, may be written. The inbox is read after the block was found dead, so what its last
# owner pushed is in the queue by then.
"""

from __future__ import annotations

from typing import Any, Final

from operad.engine import ThreadedEngine, current
from operad.engine.interrupts import protect
from operad.engine.thread import OUTSIDE, STEP, local
from operad.imperative.array import Array
from operad.imperative.chunk import Chunk, lend
from operad.imperative.plan import Plan
from operad.imperative.state import RECORDING
from operad.imperative.tape import record

protect(__file__)

_new: Final = object.__new__


def apply_small(  # noqa: PLR0912, PLR0915 - a function more is a call more
    plan: Plan, first: Array, second: Array | None, values: tuple[Any, ...], mode: int
) -> Any:
    """Apply a plan that `is_small` to one or two arrays, into a new one; None if that must go another way.

    Args:
        plan: What to do.
        first: The first argument.
        second: The second; None where there is one.
        values: Values of all run-time parameters, `ABSENT` where not given.
        mode: The thread's mode.
    """
    engine, thread = current._engine, local.state
    if engine.__class__ is not ThreadedEngine or engine.lock.blockers or thread.inside:
        return None
    if values:
        if mode >= RECORDING:
            plan = plan.bound(values)
        values = plan.run_time.converted(values, plan.operator)  # type: ignore[union-attr]  # there are values
    spec = plan.out_spec
    direct: Any = plan.direct  # there is one, since it is small
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
    lock = engine.lock
    thread.inside = STEP
    try:
        # Asked again since the block was found: a group that names it may have been opened before.
        if not lock.blockers and lock.mutex.acquire(False):
            try:
                if lock.inbox:
                    lock.read_inbox()
                if not (
                    var.holders
                    or first_var.holders
                    or second_var.holders
                    or first_var.failure is not None
                    or second_var.failure is not None
                ):
                    is_done = True
                    var.failure = None
                    try:
                        if second is not None:
                            thread.run(direct, first._data, second._data, data, *values)
                        else:
                            thread.run(direct, first._data, data, *values)
                    except BaseException as error:  # noqa: BLE001 - waits raise it
                        engine.fail_inline(direct, (var,), plan.name, error)
                    var.version += 1
            finally:
                lock.mutex.release()
    finally:
        thread.inside = OUTSIDE
    if lock.inbox or lock.has_after:
        lock.catch_up()
    if not is_done:
        spec.limbo.append(handle)
        return None
    handle.size_bytes = spec.nbytes
    chunk = _new(Chunk)
    chunk.ctx = spec.ctx
    chunk.var = var
    chunk.handle = handle
    chunk.owner = chunk.note = None
    out = _new(first.__class__)
    out._chunk = chunk
    out._data = data
    out._spec = spec
    out._autograd = None
    if mode >= RECORDING:
        record(plan, (first,) if second is None else (first, second), (out,))
    return out
