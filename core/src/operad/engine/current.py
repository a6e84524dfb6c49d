"""The engine of the process: chosen by the environment or by `set`, made on first use."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Final, final

from operad.config import settings
from operad.engine.engine import Engine
from operad.engine.kinds import NaiveEngine, ThreadedEngine
from operad.engine.lock import CombiningLock
from operad.engine.thread import OUTSIDE, local
from operad.errors import BlockingInOperatorError, EngineError
from operad.locks import new_lock
from operad.scopes import Ending, Exit, as_now

_ENGINES: Final[dict[str, Callable[[], Engine]]] = {
    "naive": NaiveEngine,
    "threaded": ThreadedEngine,
}
_changing: Final = new_lock()
_engine: Engine | None = None
hot_lock: CombiningLock | None = None
"""The lock of the process's engine, for the imperative hot path; None where there is none to take it."""
_last: Engine | None = None
"""The engine before, where that was stopped: its queue is the process's for good."""


def get() -> Engine:
    """The process's engine; the first call makes the one that was `set`, or that `OPERAD_ENGINE` names."""
    return _engine or _first()


def _first() -> Engine:
    with _changing:
        return _engine or _put(_ENGINES[settings().engine]())


def _put(new: Engine) -> Engine:
    """Make `new` the process's engine. There is one dependency queue for the life of the process."""
    global _engine, _last, hot_lock
    old = _engine or _last
    try:
        if old is not None and old is not new:
            new.take_over(old)
    finally:
        if old is None or new._dispatcher is old._dispatcher:
            _engine, _last = new, None
            hot_lock = new.lock if isinstance(new, ThreadedEngine) else None
    return new


def set(engine: str | Engine) -> Engine:
    """Make `engine` ("naive", "threaded" or an instance) the process's engine.

    The engine in force comes to rest first, and what other threads push meanwhile waits. What changes is who
    runs operations: the queue that orders them stays, so that a push or a wait through the engine before,
    now or later, is the same as one through the new engine.

    Returns:
        The engine now in force.

    Raises:
        EngineError: `engine` is neither a known name nor an engine.
        BlockingInOperatorError: Called from inside an operation; nothing has changed.
        BaseException: Failures of the engine before that no wait has raised; the new engine is in force.
    """
    _refuse_inside("engine.set")
    new = _made(engine)
    with _changing:
        return _put(new)


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
    global _engine, _last, hot_lock
    _refuse_inside("engine.stop")
    with _changing:
        old = _engine
        try:
            if old is not None:
                old.stop()
        finally:
            _engine, _last, hot_lock = None, old or _last, None


def set_bulk_size(size: int) -> int:
    """Say that the thread's pushes belong together from now on, `size` at a time; see `bulk`.

    Args:
        size: How many; less than 2: they do not.

    Returns:
        The size until now; 0 if none was set.

    Raises:
        EngineError: `size` is negative.
    """
    thread, given = local.state, _bulk_size("set_bulk_size", size)
    before, thread.bulk_size = thread.bulk_size, given
    return before


@final
class bulk:  # noqa: N801 - MXNet's name
    """Say that the thread's pushes inside `with` belong together, `size` at a time.

    MXNet's programs say so to have operations grouped. Here a thread that has run an operation goes on at
    once with what that made ready, said or not, so this is accepted and changes nothing.

    Source: python/mxnet/engine.py.

    Raises:
        EngineError: `size` is negative.
    """

    __slots__ = ("_ending", "_size")

    def __init__(self, size: int) -> None:
        self._size = _bulk_size("bulk", size)
        self._ending = Ending(as_now(local.state, "bulk_size"))

    def __enter__(self) -> None:
        local.state.bulk_size = self._size

    __exit__ = Exit(attrgetter("_ending"))


def _bulk_size(call: str, size: int) -> int:
    if size < 0:
        raise EngineError(f"{call}: size is {size}, expected at least 0")
    return size if size > 1 else 0


def _refuse_inside(what: str) -> None:
    if local.state.inside != OUTSIDE:
        raise BlockingInOperatorError(
            f"{what} inside an operation would wait for that operation; call it outside"
        )
