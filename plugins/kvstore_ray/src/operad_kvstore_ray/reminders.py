"""Lines of a launcher about the work that it waits for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from operad.interrupts import start_thread

REMIND_S: Final = 5.0
"""From one line to the next, in seconds."""


@contextmanager
def reminding(echo: Callable[[str], None], what: str) -> Iterator[None]:
    """Report the work at once, and every few seconds that it is not done yet."""
    begun, done = time.monotonic(), threading.Lock()

    def remind() -> None:
        while not done.acquire(timeout=REMIND_S):
            echo(f"operad launch: still {what}, {time.monotonic() - begun:.0f} s")

    echo(f"operad launch: {what}")
    with done:
        start_thread("reminder", remind)
        yield
