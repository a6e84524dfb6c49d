"""Lines of a launcher about the work that it waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from operad.interrupts import block_signals

REMIND_S: Final = 5.0
"""From one line to the next, in seconds."""


@contextmanager
def reminding(echo: Callable[[str], None], what: str) -> Iterator[None]:
    """Report the work at once, and every few seconds that it is not done yet."""
    begun, is_done = time.monotonic(), threading.Event()

    def remind() -> None:
        block_signals()
        while not is_done.wait(REMIND_S):
            echo(f"operad launch: still {what}, {time.monotonic() - begun:.0f} s")

    echo(f"operad launch: {what}")
    reminder = threading.Thread(target=remind, daemon=True)
    reminder.start()
    try:
        yield
    finally:
        is_done.set()
        reminder.join()
