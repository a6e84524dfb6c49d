"""Memory that a call takes."""

from __future__ import annotations

import tracemalloc


def peak_bytes(call):
    """Most bytes that Python and NumPy have at once for what `call` makes."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
