"""Who runs what: pools of workers and their ready queues.

All CPU contexts share one pool of as many workers as the thread budget has threads, because they
share the cores; its ready queue is ordered by kind of work (prioritized, copies, the rest), then
priority, then push order. Workers of their own for prioritized work and for copies, as MXNet has,
would be refused by the budget whenever all others are busy, and idle when not; standing first in the
queue gives the same precedence without the threads. Every GPU has a pool of one worker for kernels
and one for each direction of copies, each with its own CUDA stream, since those overlap on the
device; they launch more than they compute and do not count against the budget.

Ready queues and lists of idle workers change by single atomic steps; see `threaded`.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Any, Protocol, final

from operad.context import Context
from operad.engine.operation import Block, FnProperty


class Bell(Protocol):
    """What an idle worker sleeps on: a held lock, released to wake it."""

    def release(self) -> None:
        """Wake the worker."""


@final
class Pool:
    """A ready queue and the workers that serve it.

    Attributes:
        size: Workers it may have.
        workers: Workers it has.
        idle: Bells of sleeping workers; the last one slept last and is woken first.
        is_waking: Whether a worker was woken or hired and has not looked at the queue yet.
        is_counted: Whether running operations count against the thread budget.
    """

    __slots__ = ("_hiring", "device", "idle", "is_counted", "is_waking", "name", "ready", "size", "workers")

    def __init__(self, name: str, size: int, device: Context | None = None) -> None:
        self.name = name
        self.size = size
        self.device = device
        self.is_counted = device is None
        self.workers = 0
        self._hiring = threading.Lock()
        self.is_waking = False
        self.idle: list[Bell] = []
        self.ready: list[tuple[int, int, int, Block]] = []

    def offer(self, block: Block) -> None:
        """Queue a block that may run."""
        heappush(self.ready, (block.opr.rank, block.order, block.seq, block))

    def take(self) -> Block:
        """The block to run next."""
        return heappop(self.ready)[3]

    def claim(self) -> bool:
        """Count one more worker in, unless the pool has all it may have."""
        with self._hiring:
            if self.workers >= self.size:
                return False
            self.workers += 1
            return True

    def withdraw(self, bell: Bell) -> bool:
        """Take `bell` off the idle ones; False if someone is ringing it already."""
        try:
            self.idle.remove(bell)
        except ValueError:
            return False
        return True

    @property
    def is_busy(self) -> bool:
        """Whether some worker is awake."""
        return len(self.idle) < self.workers

    def new_stream(self) -> Any:
        """A CUDA stream for one worker of this pool; None on a CPU."""
        if self.device is None:
            return None
        cuda = self.device.xp.cuda
        with cuda.Device(self.device.device_id):
            return cuda.Stream(non_blocking=True)


@final
class Policy:
    """Maps an operation to its pool."""

    __slots__ = ("_gpu", "cpu")

    def __init__(self, num_threads: int) -> None:
        self.cpu = Pool("cpu", num_threads)
        self._gpu: dict[tuple[Context, FnProperty], Pool] = {}

    def pool_of(self, block: Block) -> Pool:
        """Where `block` runs."""
        if not block.is_gpu:
            return self.cpu
        lane = block.opr.prop
        if lane not in {FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE}:
            lane = FnProperty.NORMAL
        pool = self._gpu.get((block.ctx, lane))
        if pool is None:
            pool = Pool(f"{block.ctx}-{lane.value}", 1, block.ctx)
            self._gpu[block.ctx, lane] = pool
        return pool

    def pools(self) -> Iterator[Pool]:
        """Every pool so far."""
        yield self.cpu
        yield from self._gpu.values()
