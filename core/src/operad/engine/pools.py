"""Pools of workers and their ready queues.

All CPU contexts share one pool of as many workers as the thread budget has threads (more where
operations wait inside, whose places others have meanwhile), because they share the cores; its ready
queue is ordered by priority, then push order.
Workers of their own for prioritized work, as MXNet has, would be refused by the budget whenever all
others are busy, and idle when not; a priority gives the same precedence without the threads. Every GPU
has a pool of one worker for kernels and one for each direction of copies, each with its own CUDA stream,
since those overlap on the device; they launch more than they compute and do not count against the budget.

Ready queues and lists of idle workers change by single atomic steps; see `threaded`. What decides which
worker is woken or hired (`is_waking`, `workers`) changes under the queue's lock.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final, final

from operad.device import Context, cpu
from operad.engine.budget import ThreadBudget
from operad.engine.dispatch import Dispatcher
from operad.engine.lock import Request
from operad.engine.operation import OprBlock, RunContext
from operad.engine.stream import Stream
from operad.engine.thread import new_event

_CPU: Final = cpu()


@final
class WorkerPool:
    """A ready queue and the workers that serve it.

    Attributes:
        size: Workers it may have.
        workers: Workers it has.
        idle: Events of idle workers; the one idle for the shortest time is woken first.
        is_waking: Whether a worker was woken or hired and has not looked at the queue yet.
        is_counted: Whether running operations count against the thread budget.
    """

    __slots__ = ("device", "idle", "is_counted", "is_waking", "name", "ready", "size", "workers")

    def __init__(self, name: str, size: int, device: Context | None = None) -> None:
        self.name = name
        self.size = size
        self.device = device
        self.is_counted = device is None
        self.workers = 0
        self.is_waking = False
        self.idle: list[threading.Lock] = []
        self.ready: list[tuple[int, int, OprBlock]] = []

    def wake(self) -> None:
        """Wake an idle worker; IndexError where there is none."""
        # commit: begin
        event = self.idle[-1]
        del self.idle[-1]
        self.is_waking = True
        event.release()
        # commit: end with a call

    def withdraw(self, event: threading.Lock) -> bool:
        """Take `event` off the idle ones; False if someone is setting it already."""
        try:
            self.idle.remove(event)
        except ValueError:
            return False
        return True


@final
class Worker:
    """A thread's place in a pool.

    Attributes:
        block: What it has taken.
        is_serving: Whether its thread lives; where it is a helper's, whether a thread that waits uses it or
            puts it down.
        has_slot: Whether it counts against the budget now.
        was_broken_off: Whether an exception ended what it did.
    """

    __slots__ = ("block", "event", "has_slot", "is_serving", "pool", "run_ctx", "stream", "was_broken_off")

    def __init__(self, pool: WorkerPool, dispatcher: Dispatcher, budget: ThreadBudget) -> None:
        self.pool = pool
        self.event = new_event()
        self.run_ctx = RunContext(pool.device or _CPU, None, budget)
        self.stream = Stream(dispatcher) if pool.device else None
        self.block: OprBlock | None = None
        self.has_slot = self.was_broken_off = self.run_ctx.is_running = False
        self.is_serving = True


@final
class Wake(Request):
    """See to it that a worker looks at a pool."""

    __slots__ = ("pool",)

    def __init__(self, step: Callable[[Wake], object], pool: WorkerPool) -> None:
        super().__init__(step)
        self.pool = pool
