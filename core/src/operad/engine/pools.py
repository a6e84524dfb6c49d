"""Who runs what: pools of workers and their ready queues.

All CPU contexts share one pool of as many workers as the thread budget has threads, because they
share the cores; its ready queue is ordered by kind of work (prioritized, copies, the rest), then
priority, then push order. Workers of their own for prioritized work and for copies, as MXNet has,
would be refused by the budget whenever all others are busy, and idle when not; standing first in the
queue gives the same precedence without the threads. Every GPU has a pool of one worker for kernels
and one for each direction of copies, each with its own CUDA stream, since those overlap on the
device; they launch more than they compute and do not count against the budget.

Ready queues and lists of idle workers change by single atomic steps; see `threaded`. What decides who is
woken or hired (`is_waking`, `workers`) changes under the queue's lock.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, final

from operad.context import Context
from operad.engine.operation import FnProperty, OprBlock


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
        self.ready: list[tuple[int, int, int, OprBlock]] = []

    def withdraw(self, event: threading.Lock) -> bool:
        """Take `event` off the idle ones; False if someone is setting it already."""
        try:
            self.idle.remove(event)
        except ValueError:
            return False
        return True

    def new_stream(self) -> Any:
        """A CUDA stream for one worker of this pool; None on a CPU."""
        if self.device is None:
            return None
        cuda = self.device.xp.cuda
        with cuda.Device(self.device.device_id):
            return cuda.Stream(non_blocking=True)


@final
class WorkerPools:
    """The pools of one engine."""

    __slots__ = ("_gpu", "cpu")

    def __init__(self, num_threads: int) -> None:
        self.cpu = WorkerPool("cpu", num_threads)
        self._gpu: dict[tuple[Context, FnProperty], WorkerPool] = {}

    def gpu(self, block: OprBlock) -> WorkerPool:
        """Where `block` runs, which belongs to a GPU."""
        kind = block.opr.prop
        if kind not in {FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE}:
            kind = FnProperty.NORMAL
        pool = self._gpu.get((block.ctx, kind))
        if pool is None:
            pool = WorkerPool(f"{block.ctx}-{kind.value}", 1, block.ctx)
            self._gpu[block.ctx, kind] = pool
        return pool

    def __iter__(self) -> Iterator[WorkerPool]:
        """Every pool so far."""
        return iter([self.cpu, *self._gpu.values()])
