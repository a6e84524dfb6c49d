"""How far pushes may run ahead of what is done.

A push that would have too many operations or bytes pending waits until some are done. Only threads outside
the engine do; operations, finalizers and signal handlers never, and nobody where nothing runs, because
the thread that waits may be the one that completes what is pending.
"""

from __future__ import annotations

import gc
import signal
import sys
import weakref
from types import CodeType, FrameType
from typing import Final

from operad.engine.dispatch import Dispatcher
from operad.engine.thread import OUTSIDE, local

MAX_NOTES: Final = 64
"""Pushes left in the inbox before a further one waits: they are not counted as pending yet."""


def wait_for_room(dispatcher: Dispatcher, max_pending: int, max_bytes: int) -> None:
    """Wait until a push may go on, if the calling thread may be made to wait.

    Args:
        dispatcher: Knows what is pending.
        max_pending: The most operations; half of them are to be done.
        max_bytes: The most bytes beside those of the push, which may have more if it goes alone.
    """
    queue = dispatcher.queue
    if local.state.inside != OUTSIDE or is_interruption():
        return

    def has_room() -> bool:
        return not queue.running or (queue.pending <= max_pending // 2 and queue.pending_bytes <= max_bytes)

    dispatcher.wait_until(has_room)


def is_interruption() -> bool:
    """Whether a finalizer, a collector's callback or a signal handler is on the calling thread's stack.

    It may have interrupted anything, and so must not be made to wait for other threads. Slow; asked
    only before a thread would wait.
    """
    handlers = _handlers()
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code in handlers:
            return True
        frame = frame.f_back
    return False


def _handlers() -> set[CodeType]:
    found = [signal.getsignal(number) for number in signal.valid_signals()]
    called = [*found, *gc.callbacks, weakref.finalize.__call__]
    return {code for handler in called if isinstance(code := getattr(handler, "__code__", None), CodeType)}
