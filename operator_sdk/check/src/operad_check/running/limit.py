"""Time limit of one check within this process."""

from __future__ import annotations

import gc
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final

from operad.errors import ArgumentError
from operad.system import TIMER

_AGAIN_S: Final = 1.0
"""Time after which an operator that caught the first signal is stopped once more."""


_SOON_S: Final = 0.001
"""The same where the collector called what the signal interrupted."""


class TimeIsUp(BaseException):
    """End of a check that took too long; no `Exception`, so that nothing takes it for the operator's."""


@contextmanager
def limited(limit_s: float | None) -> Iterator[None]:
    """Raise `TimeIsUp` in the block after so many seconds; None: never.

    It ends Python code and what waits. Native code that does not return goes on: `operad check` has a process
    for each operator, and ends that.

    Raises:
        ArgumentError: This is not the main thread, or the system has no such timer.
    """
    if limit_s is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread() or TIMER is None:
        raise ArgumentError(
            f"Profile(limit_s={limit_s:g}): expected the main thread of a system with timers; leave limit_s "
            "out, or use operad check --limit, which stops a process"
        )
    is_open, is_up = True, False

    def stop(number: int, frame: Any) -> None:
        nonlocal is_up
        if is_open:
            is_up = True
            if any(getattr(one, "__code__", None) is frame.f_code for one in gc.callbacks):
                TIMER(signal.ITIMER_REAL, _SOON_S, _AGAIN_S)  # Python would print the error, and go on
                return
            raise TimeIsUp

    before = signal.signal(signal.SIGALRM, stop)
    begin = monotonic()
    left_s, interval_s = TIMER(signal.ITIMER_REAL, limit_s, _AGAIN_S)
    try:
        yield
    finally:
        is_open = False
        TIMER(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left_s:  # the timer of whoever called, such as a test's time-out, goes on
            left_s = max(left_s - (monotonic() - begin), 1e-3)
            TIMER(signal.ITIMER_REAL, left_s, interval_s)
        if is_up:  # whatever caught it, and made a finding of it
            raise TimeIsUp
