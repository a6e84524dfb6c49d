"""Back-pressure: a limit on the operations and bytes that pushes may have pending, and on small ones.

A push that would have too many operations or bytes pending waits until some are done. Only threads outside
the engine do; operations, finalizers and signal handlers never. It is no wall: the thread that waits may be
the one that would complete, or release, what is pending. So who has waited for a second in which nothing was
finished goes on, with a warning the first time, and no push waits again until something has finished.

*Small functions*, which the calling thread runs itself, wait for a moment instead of being queued behind
pending work. Once one is queued, those after it, which read what it writes, are queued as well; each then
takes some 30 us longer (its block, memory that is not recycled yet, two threads that take turns at the
interpreter's lock), and the queue never runs dry. A thread that waits loses nothing that it could compute:
what it calls next mostly needs the result. What it loses is the time in which it would have pushed something
independent, or done something else, so waits are earned: by each operation `_EARNED_S`, which is about what
queueing it would have cost. After each wait in vain twice as much must be earned: what is pending is longer,
and workers begin meanwhile what the thread would run itself once it waits for all. So a program of long
operations with a few small ones between runs ahead as before, and one of small operations waits for the long
one among them and then goes on in its own thread.

The dispatcher keeps how many blocks had finished when a push (`open_at`) or a small function (`vain_at`)
waited in vain, or -1; `num_vain`, how many small ones have since one that had not; `waited_at`, the queue's
`seq` less the operations that have earned a wait; and `waiting_inside`, operations that wait for what they do
not hold, which changes by single atomic steps.

Refused: running what is ready in the thread that pushes. It may hold a lock of the program that the operation
asks for, and independent operations, which it has yet to push, would wait for each other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Final

from operad.engine.dispatch import Dispatcher
from operad.engine.forking import in_hand
from operad.engine.lock import QUIESCING
from operad.engine.operation import OprBlock
from operad.engine.thread import OUTSIDE, local
from operad.engine.var import Var
from operad.interrupts import is_interruption

MAX_DEFERRED: Final = 64
"""Pushes that a thread leaves to the lock's holder before it waits: they are not counted as pending yet."""

_PATIENCE_S: Final = 1.0
_EARNED_S: Final = 50e-6
_SHORTEST_S: Final = 0.5e-3
_LONGEST_S: Final = 20e-3
"""A small function's waits: what an operation earns, and the least and the most that may be waited."""


def wait_for_capacity(dispatcher: Dispatcher, max_pending: int, max_bytes: int, size_bytes: int) -> None:
    """Wait until a push may go on, if the calling thread may be made to wait.

    Args:
        dispatcher: Knows what is pending.
        max_pending: The most operations; half of them are to be done.
        max_bytes: The most bytes; half of them are to be freed. A push that has more goes alone.
        size_bytes: Those of the push.

    Half, since a thread that went on at the first room would be held again at its next push: a change of
    threads for each (130 us a push of 256x256 instead of 40).
    """
    queue = dispatcher.queue
    if dispatcher.open_at == dispatcher.num_finished or local.state.inside != OUTSIDE or is_interruption():
        return

    most, most_bytes = max_pending // 2, min(max_bytes // 2, max_bytes - size_bytes)

    def has_capacity() -> bool:
        return queue.is_at_rest or (queue.pending <= most and queue.pending_bytes <= most_bytes)

    finished = _wait_patiently(dispatcher, has_capacity)
    if finished is None:
        return
    is_first, dispatcher.open_at = dispatcher.open_at < 0, finished
    if is_first:
        warnings.warn(
            f"{queue.pending} operations with {queue.pending_bytes} bytes are pending, and none was finished "
            f"for {_PATIENCE_S:g} s; pushes go on beyond OPERAD_MAX_PENDING and OPERAD_MAX_PENDING_BYTES",
            RuntimeWarning,
            stacklevel=5,
        )


def wait_for_small(dispatcher: Dispatcher, const_vars: Sequence[Var], mutable_vars: Sequence[Var]) -> bool:
    """Wait a moment for the variables of a small function; whether it may run in the calling thread now.

    Args:
        dispatcher: Knows what is pending.
        const_vars: Variables that it reads.
        mutable_vars: Variables that it writes.
    """
    queue, finished = dispatcher.queue, dispatcher.num_finished
    earned_s = min(_EARNED_S * (queue.seq - dispatcher.waited_at), _LONGEST_S)
    shortest_s = min(_SHORTEST_S * 2 ** min(dispatcher.num_vain, 8), _LONGEST_S)
    if earned_s < shortest_s or dispatcher.vain_at == finished or not dispatcher.runner.is_threaded:
        return False
    if local.state.inside != OUTSIDE or QUIESCING in dispatcher.lock.blockers or is_interruption():
        return False

    is_free = partial(_is_free, const_vars, mutable_vars)
    end_s = perf_counter() + earned_s
    was_free = dispatcher.wait_until(is_free, earned_s)
    dispatcher.waited_at = queue.seq - int(max(0.0, end_s - perf_counter()) / _EARNED_S)
    dispatcher.vain_at, dispatcher.num_vain = (-1, 0) if was_free else (finished, dispatcher.num_vain + 1)
    return was_free


def wait_inside(
    dispatcher: Dispatcher, around: Sequence[OprBlock], const_vars: Sequence[Var], mutable_vars: Sequence[Var]
) -> bool:
    """Wait for variables inside operations that do not hold them; whether they were free.

    What is pending on them may stand behind these operations. So this gives up where nothing is finished for
    a second, and no operation is on its way but those that wait here as well. Meanwhile others may use their
    places of the thread budget: a place that waits for a place would wait for ever.

    Args:
        dispatcher: Knows what is pending.
        around: The operations; without one, as on a device's worker, nothing is known that would end a wait.
        const_vars: Variables to read.
        mutable_vars: Variables to write.
    """
    if not around or is_interruption():
        return _is_free(const_vars, mutable_vars)
    waiting, runner, is_aside = dispatcher.waiting_inside, dispatcher.runner, False
    is_free = partial(_is_free, const_vars, mutable_vars)

    def is_stuck() -> bool:
        begun = [run.block for run in tuple(dispatcher.started)]  # their functions may have returned
        is_offered = dispatcher.queue.running > len(waiting)
        return not is_offered and all(block in waiting for block in (*in_hand(dispatcher, False), *begun))

    try:
        waiting.extend(around)
        if is_free():
            return True
        is_aside = runner.step_aside()
        return _wait_patiently(dispatcher, is_free, is_stuck) is None
    finally:
        if is_aside:
            runner.step_back()
        for block in around:
            with suppress(ValueError):
                waiting.remove(block)


def _is_free(const_vars: Sequence[Var], mutable_vars: Sequence[Var]) -> bool:
    """Return whether a function that names these variables would not be queued."""
    is_written = any(var.holders < 0 or var.queue for var in const_vars)
    return not is_written and not any(var.holders for var in mutable_vars)


def _wait_patiently(
    dispatcher: Dispatcher, is_over: Callable[[], bool], is_stuck: Callable[[], bool] = lambda: True
) -> int | None:
    """Wait until `is_over()`, or nothing was finished for some time and `is_stuck()`.

    It is asked under the lock alone: in the middle of a step what goes on with the next operation seems idle.

    Returns:
        The number of finished blocks in the second case, else None.
    """
    while True:
        finished = dispatcher.num_finished
        if dispatcher.wait_until(is_over, _PATIENCE_S):
            return None
        if finished == dispatcher.num_finished and is_stuck():
            return finished


def wait_until_entered(dispatcher: Dispatcher, block: OprBlock, max_bytes: int) -> None:
    """Wait for `block`, which was left to the lock's holder, where the thread has left many to it.

    Or such as keep much memory in use: a sixteenth of the limit on bytes counts as many.
    """
    thread = local.state
    thread.num_deferred += 1 + 16 * MAX_DEFERRED * block.size_bytes // (max_bytes or 1)
    if thread.num_deferred < MAX_DEFERRED or thread.inside != OUTSIDE or is_interruption():
        return
    dispatcher.wait_until(lambda: block.seq > 0)
    thread.num_deferred = 0
