"""Worker threads per device, under one thread budget.

A push wakes at most one idle worker, and none while one is on its way; whoever takes a block while
more are ready wakes the next. A worker that has finished a block takes the next one at once, so a chain
of dependent operations runs through one worker without a wake-up. Who is woken or hired is decided
under the queue's lock. Ready queues and lists of idle workers are changed by single atomic steps
(`heappop`, `append`, `pop`) and looked at again after every step that could have missed another
thread's, so taking work needs no lock.

A thread that waits runs ready blocks itself while nothing else runs: a push and its wait take 7 to 14 us
that way, and 37 to 126 us where a worker has to be woken (4 shared cores, an empty function).
It does not join in while workers run, lest a long block keep it after what it waits for is done.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final, final

from operad.context import Context, cpu
from operad.engine.budget import ThreadBudget
from operad.engine.dispatch import Dispatcher, Runner
from operad.engine.operation import FnProperty, OprBlock, RunContext
from operad.engine.pools import WorkerPool
from operad.engine.stream import Stream
from operad.engine.thread import OPERATION, OUTSIDE, local, new_event

_CPU: Final = cpu()
_JOIN_S: Final = 0.001


@final
class _Worker:
    """One thread's place in a pool; `has_slot` says whether it counts against the budget now."""

    __slots__ = ("event", "has_slot", "pool", "run_ctx", "stream")

    def __init__(self, pool: WorkerPool, dispatcher: Dispatcher) -> None:
        self.pool = pool
        self.event = new_event()
        self.run_ctx = RunContext(pool.device or _CPU)
        self.stream = Stream(dispatcher) if pool.device else None
        self.has_slot = False


@final
class ThreadedRunner(Runner):
    """Runs blocks in worker threads; the CPU's pool has as many workers as the budget has threads."""

    is_threaded = True

    def __init__(self, budget: ThreadBudget) -> None:
        super().__init__(budget)
        self.renew()

    def renew(self) -> None:
        """See `Runner`."""
        self._budget.renew()
        self._cpu = WorkerPool("cpu", self._budget.total)
        self._gpus: dict[tuple[Context, FnProperty], WorkerPool] = {}
        self._threads: list[threading.Thread] = []
        self._hires: deque[WorkerPool] = deque()
        self._helpers: list[_Worker] = []
        self._is_ending = False

    # Waking and hiring.

    def offer(self, block: OprBlock) -> None:
        """See `Runner`."""
        pool = self._gpu_pool(block) if block.is_gpu else self._cpu
        heappush(pool.ready, (block.opr.rank, block.order, block.seq, block))
        if not pool.is_waking and (pool.idle or pool.workers < pool.size):
            self._wake(pool)

    def _gpu_pool(self, block: OprBlock) -> WorkerPool:
        kind = block.opr.prop
        if kind not in {FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE}:
            kind = FnProperty.NORMAL
        pool = self._gpus.get((block.ctx, kind))
        if pool is None:
            pool = self._gpus[block.ctx, kind] = WorkerPool(f"{block.ctx}-{kind.value}", 1, block.ctx)
        return pool

    def _wake(self, pool: WorkerPool, _: None = None) -> None:
        """See to it that a worker looks at `pool`, if one may run. Under the lock."""
        if pool.is_waking or (pool.is_counted and self._budget.is_full):
            return  # who is on the way wakes the next one; who runs looks when it is done
        pool.is_waking = True
        try:
            pool.idle.pop().release()
        except IndexError:  # nobody is idle, or the last one has just found work by itself
            if pool.workers < pool.size:
                pool.workers += 1
                self._hires.append(pool)
                self._dispatcher.lock.has_after = True
            else:
                pool.is_waking = False

    def _wake_next(self, pool: WorkerPool) -> None:
        if pool.ready and not pool.is_waking and (pool.idle or pool.workers < pool.size):
            self._dispatcher.lock.do(self._wake, pool)

    def after(self) -> None:
        """Hire the workers asked for."""
        self._dispatcher.lock.has_after = False
        while True:
            try:
                pool = self._hires.popleft()
            except IndexError:  # another thread hired the last one
                return
            name = f"operad-{pool.name}-{pool.workers}"
            thread = threading.Thread(target=self._serve, args=(pool,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is ending, and who ends it runs what is left
                pool.is_waking = False
            else:
                self._threads.append(thread)

    # The life of a worker.

    def _serve(self, pool: WorkerPool) -> None:
        local.state.inside = OPERATION
        worker = _Worker(pool, self._dispatcher)
        pool.is_waking = False
        while True:
            block = self._take(worker)
            if block is not None:
                self._run(block, worker)
                del block
                continue
            self._leave(worker)
            pool.idle.append(worker.event)
            if self._may_take(worker) and pool.withdraw(worker.event):
                continue  # work came between the last look and lying down
            if self._is_ending:
                return
            worker.event.acquire()
            pool.is_waking = False

    def _may_take(self, worker: _Worker) -> bool:
        pool = worker.pool
        return bool(pool.ready) and (worker.has_slot or not (pool.is_counted and self._budget.is_full))

    def _take(self, worker: _Worker) -> OprBlock | None:
        """The next block of the worker's pool, if there is one and the budget allows it."""
        pool, budget = worker.pool, self._budget
        if not pool.ready:
            return None
        if pool.is_counted and not worker.has_slot:
            if not budget.start(worker.run_ctx):
                return None
            worker.has_slot = True
        try:
            block = heappop(pool.ready)[3]
        except IndexError:  # another worker was faster
            return None
        worker.run_ctx.ctx = block.ctx
        if pool.ready and pool.size > 1:
            self._wake_next(pool)
        return block

    def _leave(self, worker: _Worker) -> None:
        """Give the budget slot back."""
        if worker.has_slot:
            self._budget.finish(worker.run_ctx)
            worker.has_slot = False
            self._budget.use(is_worth=True)

    def _run(self, block: OprBlock, worker: _Worker) -> None:
        """Run `block`, and finish it unless it is asynchronous or on a stream."""
        run_ctx, dispatcher = worker.run_ctx, self._dispatcher
        if worker.stream is not None:
            worker.stream.launch(block)
            return
        self._budget.use(block.opr.is_parallel)
        if block.opr.is_async:
            dispatcher.start(block, RunContext(block.ctx, None, run_ctx.num_threads))
        else:
            dispatcher.run(block, run_ctx)

    # Waiting and ending.

    def help(self, is_over: Callable[[], bool]) -> None:
        """See `Runner`."""
        pool, running, thread = self._cpu, self._budget.running, local.state
        if not pool.ready or running:
            return
        # A finalizer that interrupts this must not wait for a block that this thread has taken.
        thread.inside = OPERATION
        try:
            worker = self._helpers.pop()
        except IndexError:
            worker = _Worker(pool, self._dispatcher)
        limit = self._dispatcher.queue.pending  # what others push meanwhile is not waited for
        try:
            while limit and pool.ready and len(running) <= worker.has_slot and not is_over():
                block = self._take(worker)
                if block is None:
                    break
                self._run(block, worker)
                limit -= 1
        finally:
            self._leave(worker)
            thread.inside = OUTSIDE
            self._helpers.append(worker)
        self._wake_next(pool)

    def end(self) -> None:
        """Let the workers go; one that is hired later leaves when it has nothing to do."""
        self._is_ending = True
        for thread in self._threads:
            while thread.is_alive():
                for pool in (self._cpu, *self._gpus.values()):
                    while pool.idle:
                        pool.idle.pop().release()
                thread.join(_JOIN_S)
