"""Presence of numba, the sizes from which it pays, and the level of its log."""

from __future__ import annotations

import logging
from functools import cache
from importlib.util import find_spec
from typing import Final

NUMBA_FROM_SIZE: Final = 2048
"""Elements from which `auto` takes numba, where that is installed (`operad-sdk[fast]`).

Compiled loops win from a few elements on (huber over 2,048 float32: 5 us against 15 us; a lone
multiplication: equal), but the first one of a process costs half a second, and compiling a loop 0.1 s
to 0.25 s. So numba is left to sizes where it saves at least half of the time.
"""


@cache
def has_numba() -> bool:
    """Return whether loops can be compiled here, without importing numba; asked once, on first need."""
    return find_spec("numba") is not None


def keep_numba_quiet() -> None:
    """Keep numba's debug messages out of a log that shows its own, unless the log asks for them.

    A program asks for them by giving the logger `numba` a level.
    """
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
