"""Back-pressure: a limit on the operations and bytes that pushes may have pending.

A push that would have too many operations or bytes pending waits until some are done. Only threads outside
the engine do; operations, finalizers and signal handlers never. It is no wall: the thread that waits may be
the one that would complete, or release, what is pending. So who has waited for a second in which nothing was
finished goes on, with a warning the first time.
"""

from __future__ import annotations

import warnings
from typing import Final

from operad.engine.dispatch import Dispatcher
from operad.engine.operation import OprBlock
from operad.engine.thread import OUTSIDE, local
from operad.interrupts import is_interruption

MAX_DEFERRED: Final = 64
"""Pushes that a thread leaves to the lock's holder before it waits: they are not counted as pending yet."""

_PATIENCE_S: Final = 1.0


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
    if local.state.inside != OUTSIDE or is_interruption():
        return

    most, most_bytes = max_pending // 2, min(max_bytes // 2, max_bytes - size_bytes)

    def has_capacity() -> bool:
        return queue.is_at_rest or (queue.pending <= most and queue.pending_bytes <= most_bytes)

    finished = -1
    while not has_capacity() and finished != queue.seq - queue.pending:
        finished = queue.seq - queue.pending
        dispatcher.wait_until(has_capacity, _PATIENCE_S)
    if not has_capacity() and not dispatcher.is_past_the_limit:
        dispatcher.is_past_the_limit = True
        warnings.warn(
            f"{queue.pending} operations with {queue.pending_bytes} bytes are pending, and none was finished "
            f"for {_PATIENCE_S:g} s; pushes go on beyond OPERAD_MAX_PENDING and OPERAD_MAX_PENDING_BYTES",
            RuntimeWarning,
            stacklevel=5,
        )


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
