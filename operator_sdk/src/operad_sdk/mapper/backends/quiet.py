"""The log of numba's compiler, which at level DEBUG tells of each of its steps."""

from __future__ import annotations

import logging


def keep_numba_quiet() -> None:
    """Keep those messages out of the log of a form that shows all of its own, unless it asks for them.

    It asks by giving the logger `numba` a level.
    """
    logger = logging.getLogger("numba")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
