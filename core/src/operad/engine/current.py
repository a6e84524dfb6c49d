"""The engine of the process: chosen by the environment or by `set`, made on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from operad.config import settings
from operad.engine.engine import Engine
from operad.engine.kinds import NaiveEngine, ThreadedEngine
from operad.engine.thread import OUTSIDE, local
from operad.errors import BlockingInOperatorError, EngineError
from operad.locks import new_lock

_ENGINES: Final[dict[str, Callable[[], Engine]]] = {
    "naive": NaiveEngine,
    "threaded": ThreadedEngine,
}
_changing: Final = new_lock()
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

    The engine in force before comes to rest and is stopped first. What other threads push meanwhile
    waits, and goes to the new one.

    Returns:
        The engine now in force.

    Raises:
        EngineError: `engine` is neither a known name nor an engine.
        BlockingInOperatorError: Called from inside an operation; nothing has changed.
        BaseException: Failures of the engine before that no wait has raised; the new engine is in force.
    """
    global _engine
    _refuse_inside("engine.set")
    new = _made(engine)
    with _changing:
        old = _engine
        try:
            if old is not None and old is not new:
                old.stop(new)
        finally:
            _engine = new
    return new


def _made(engine: object) -> Engine:
    if isinstance(engine, Engine):
        return engine
    if isinstance(engine, str) and engine in _ENGINES:
        return _ENGINES[engine]()
    raise EngineError(f"unknown engine {engine!r}; expected one of {', '.join(_ENGINES)}, or an engine")


def stop() -> None:
    """Stop the process's engine, if it has one; the next `get` makes another.

    Raises:
        BlockingInOperatorError: Called from inside an operation; nothing has changed.
        BaseException: Failures that no wait has raised; the engine is stopped.
    """
    global _engine
    _refuse_inside("engine.stop")
    with _changing:
        old = _engine
        try:
            if old is not None:
                old.stop()
        finally:
            _engine = None


def set_bulk_size(size: int) -> int:
    """Group the thread's consecutive pushes from now on, as `Engine.bulk` does, until the size is set again.

    A thread that ends with a size set must wait before, or set 0: what it was collecting is not pushed.

    Args:
        size: Members of a group at most; less than 2: push each by itself.

    Returns:
        The size until now; 0 if nothing was grouped.

    Raises:
        EngineError: `size` is negative, or the thread is inside `with Engine.bulk(...)`.
    """
    if size < 0:
        raise EngineError(f"set_bulk_size: size is {size}, expected at least 0")
    group = local.state.bulk
    if group is not None:
        if not group.is_lasting:
            raise EngineError(
                "set_bulk_size inside `with Engine.bulk(...)`; use `with operad.engine.bulk(...)`"
            )
        group.__exit__()
    if size > 1:
        made = get().bulk(size)
        made.is_lasting = True
        made.__enter__()
    return 0 if group is None else group.size


@contextmanager
def bulk(size: int) -> Iterator[None]:
    """Group the thread's consecutive pushes inside `with`, at most `size` in a group; see `Engine.bulk`.

    Source: python/mxnet/engine.py.
    """
    before = set_bulk_size(size)
    try:
        yield
    finally:
        set_bulk_size(before)


def _refuse_inside(what: str) -> None:
    if local.state.inside != OUTSIDE:
        raise BlockingInOperatorError(
            f"{what} inside an operation would wait for that operation; call it outside"
        )
