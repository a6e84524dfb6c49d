"""`mx.log`: a logger with a short prefix of level, time and source line.

Source: python/mxnet/log.py.
"""

from __future__ import annotations

import logging
from typing import Final

CRITICAL, ERROR, WARNING, INFO, DEBUG, NOTSET = (
    logging.CRITICAL, logging.ERROR, logging.WARNING, logging.INFO, logging.DEBUG, logging.NOTSET
)  # fmt: skip

_with_handler: Final[set[str]] = set()


def get_logger(
    name: str | None = None, filename: str | None = None, filemode: str | None = None, level: int = WARNING
) -> logging.Logger:
    """A logger that writes to `filename`, else to standard error; given its handler once."""
    logger = logging.getLogger(name)
    if name is not None and name not in _with_handler:
        handler = logging.FileHandler(filename, filemode or "a") if filename else logging.StreamHandler()
        _with_handler.add(name)
        handler.setFormatter(
            logging.Formatter("%(levelname).1s%(asctime)s %(filename)s:%(lineno)d %(message)s")
        )
        logger.addHandler(handler)
        logger.setLevel(level)
    return logger


getLogger = get_logger  # noqa: N816 - its older name
