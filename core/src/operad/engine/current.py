"""The engine of the process: chosen by the environment or by `set`, made on first use."""

from __future__ import annotations

import threading
from typing import Final

from operad.config import settings
from operad.engine.base import Engine
from operad.engine.naive import NaiveEngine
from operad.engine.threaded import ThreadedEngine
from operad.errors import EngineError

_ENGINES: Final = {"naive": NaiveEngine, "threaded": ThreadedEngine}
_changing: Final = threading.Lock()
_engine: Engine | None = None


def get() -> Engine:
    """The process's engine; the first call makes the one that was `set`, or that `OPERAD_ENGINE` names."""
    return _engine or _first()


def _first() -> Engine:
    global _engine
    with _changing:
        if _engine is None:
            _engine = _ENGINES[settings().engine]()
        return _engine


def set(engine: str | Engine) -> Engine:
    """Make `engine` ("naive", "threaded" or an instance) the process's engine.

    The engine in force before is stopped first, so its pending work is finished.

    Returns:
        The engine now in force.

    Raises:
        EngineError: The name is unknown.
        BaseException: Failures of the engine before that no wait has raised; the new engine is in force.
    """
    global _engine
    if isinstance(engine, str) and engine not in _ENGINES:
        raise EngineError(f"unknown engine {engine!r}; expected one of {', '.join(_ENGINES)}")
    new = _ENGINES[engine]() if isinstance(engine, str) else engine
    with _changing:
        old, _engine = _engine, new
    if old is not None and old is not new:
        old.stop()
    return new


def stop() -> None:
    """Stop the process's engine, if it has one; the next `get` makes another."""
    global _engine
    with _changing:
        old, _engine = _engine, None
    if old is not None:
        old.stop()
