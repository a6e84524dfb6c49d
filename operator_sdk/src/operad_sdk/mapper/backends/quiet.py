"""The log of numba's compiler, which at level DEBUG tells of each of its steps."""

from __future__ import annotations

import logging


def keep_numba_quiet() -> None:
    """Keep numba's debug messages out of a log that shows its own, unless the log asks for them.

    A program asks for them by giving the logger `numba` a level.
    """
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
