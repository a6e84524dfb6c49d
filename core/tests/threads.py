"""Threads of operad that are there: one may be on its way up or down still, after who had it is done."""

from __future__ import annotations

import threading
import time

_LIMIT_S = 60


def names_left(prefix: str) -> list[str]:
    """Names of the threads that begin with `prefix` and do not end within a minute."""
    end = time.monotonic() + _LIMIT_S
    while names := [thread.name for thread in threading.enumerate() if thread.name.startswith(prefix)]:
        if time.monotonic() > end:
            break
        time.sleep(0.001)
    return names
