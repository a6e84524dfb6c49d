"""What must be true of an engine when nothing is pending: the only place that knows its insides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from operad.engine import Engine
from operad.engine.thread import OUTSIDE, local


def unrest(engine: Engine) -> list[str]:
    """What is left over in an engine that has finished everything."""
    return [f"{what} is {found!r}" for what, found, wanted in _facts(engine) if found != wanted]


def _facts(engine: Any) -> Iterator[tuple[str, object, object]]:
    queue, lock, budget = engine._queue, engine.lock, engine._budget
    yield "pending", queue.pending, 0
    yield "pending_bytes", queue.pending_bytes, 0
    yield "running", queue.running, 0
    yield "the lock's token", getattr(lock, "token", "taken"), None
    yield "the lock's owner", lock.owner, None
    yield "the requests", (lock.next, lock.current, lock.tail is lock), (None, None, True)
    yield "the queue's ready blocks", list(queue.ready), []
    yield "blockers", lock.blockers, []
    yield "the budget's running operations", budget.running, []
    yield "unread failures", queue.failures.unread(), []
    yield "the thread's place", local.state.inside, OUTSIDE
    pool = getattr(engine._dispatcher.runner, "_cpu", None)
    if pool is not None:
        yield "ready blocks", pool.ready, []
        yield "whether a worker is on its way", pool.is_waking, False
        yield "idle workers", len(pool.idle), pool.workers
