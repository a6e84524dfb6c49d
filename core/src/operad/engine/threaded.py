"""The threaded engine: workers per device, under one thread budget.

A push wakes at most one sleeping worker, and none while one is on its way; whoever takes a block while
more are ready wakes the next. A worker that has finished a block takes the next one at once, so a chain
of dependent operations runs through one worker without a wake-up. Ready queues and lists of idle
workers are changed by single atomic steps (`heappop`, `append`, `pop`) and looked at again
after every step that could have missed another thread's, so taking work needs no lock.

A thread that waits runs ready blocks itself while nothing else runs: a push and its wait take 7 to 14 us
that way, and 37 to 126 us where a worker has to be woken (4 shared cores, an empty function).
It does not join in while workers run, lest a long block keep it after what it waits for is done.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final, final

from operad.context import cpu
from operad.engine.operation import Block, RunContext
from operad.engine.ordered import OrderedEngine
from operad.engine.policy import Policy, Pool
from operad.engine.thread import Thread, new_bell

_CPU: Final = cpu()
_EXIT_POLL_S: Final = 0.001


@final
class _Worker:
    """One thread's place in a pool: its bell, its run context, and whether it holds a budget slot."""

    __slots__ = ("bell", "has_slot", "pool", "run_ctx")

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.bell = new_bell()
        self.run_ctx = RunContext(pool.device or _CPU, pool.new_stream())
        self.has_slot = False


class _Thread(Thread):
    """Adds the place from which a waiting thread helps."""

    helper: _Worker | None = None


@final
class ThreadedEngine(OrderedEngine):
    """Runs operations on worker threads, in parallel where their variables allow it.

    Args:
        num_threads: Size of the thread budget, and of the pool of CPU workers; default: the setting.
    """

    is_threaded = True

    def _renew(self) -> None:
        super()._renew()
        self._policy = Policy(self.num_threads)
        self._budget.renew_lock()
        self._thread: _Thread = _Thread()
        self._threads: list[threading.Thread] = []
        self._hires: deque[Pool] = deque()

    # Waking and hiring.

    def _offer(self, block: Block) -> None:
        pool = self._policy.pool_of(block)
        pool.offer(block)
        if pool.idle or pool.workers < pool.size:
            self._wake(pool)

    def _wake(self, pool: Pool) -> None:
        """See to it that a worker looks at `pool`, if one may run."""
        if pool.is_waking or (pool.is_counted and self._budget.is_full):
            return  # who is on the way wakes the next one; who runs looks when it is done
        pool.is_waking = True
        try:
            bell = pool.idle.pop()
        except IndexError:
            self._hires.append(pool)
            self._has_chores = True
        else:
            bell.release()

    def _do_chores(self) -> None:
        """Hire the workers asked for."""
        self._has_chores = False
        while self._hires:
            pool = self._hires.popleft()
            if not pool.claim():
                pool.is_waking = False
                if pool.ready and pool.idle:
                    self._wake(pool)  # for work whose offer saw `is_waking` and left it to us
                continue
            name = f"operad-{pool.name}-{pool.workers}"
            thread = threading.Thread(target=self._serve, args=(pool,), name=name, daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the interpreter is ending; `finish_at_exit` runs what is left
                pool.is_waking = False
            else:
                self._threads.append(thread)

    # The life of a worker.

    def _serve(self, pool: Pool) -> None:
        self._thread.is_running = True
        worker = _Worker(pool)
        pool.is_waking = False
        while True:
            block = self._take(worker)
            if block is not None:
                self._run(block, worker)
                del block
                continue
            self._leave(worker)
            pool.idle.append(worker.bell)
            if self._may_take(worker) and pool.withdraw(worker.bell):
                continue  # work came between the last look and lying down
            if self._stopped:
                return
            worker.bell.acquire()
            pool.is_waking = False

    def _may_take(self, worker: _Worker) -> bool:
        pool = worker.pool
        return bool(pool.ready) and (worker.has_slot or not (pool.is_counted and self._budget.is_full))

    def _take(self, worker: _Worker) -> Block | None:
        """The next block of the worker's pool, if there is one and the budget allows it."""
        pool, budget = worker.pool, self._budget
        if not pool.ready:
            return None
        if pool.is_counted and not worker.has_slot:
            if not budget.start(worker.run_ctx):
                return None
            worker.has_slot = True
        try:
            block = pool.take()
        except IndexError:  # another worker was faster
            return None
        worker.run_ctx.ctx = block.ctx
        if pool.ready and (pool.idle or pool.workers < pool.size):
            self._wake(pool)
            if self._has_chores:
                self._do_chores()
        return block

    def _leave(self, worker: _Worker) -> None:
        """Give the budget slot back."""
        if worker.has_slot:
            self._budget.finish(worker.run_ctx)
            worker.has_slot = False
            self._budget.use(is_worth=True)

    def _run(self, block: Block, worker: _Worker) -> None:
        """Run `block`, and finish it unless it is asynchronous."""
        run_ctx, budget = worker.run_ctx, self._budget
        if run_ctx.stream is not None:
            self._run_on_stream(block, run_ctx)
            return
        budget.use(block.opr.is_parallel)
        if block.opr.is_async:
            self._start_async(block, RunContext(block.ctx, None, run_ctx.num_threads))
        else:
            self.finish(block, self._call(block, run_ctx))

    def _run_on_stream(self, block: Block, run_ctx: RunContext) -> None:
        """Run with the worker's stream current; a synchronous block is done when the stream is."""
        stream = run_ctx.stream
        with block.ctx.xp.cuda.Device(block.ctx.device_id), stream:
            if block.opr.is_async:
                self._start_async(block, RunContext(block.ctx, stream))
                return
            failure = self._call(block, run_ctx)
            try:
                stream.synchronize()
            except Exception as error:  # noqa: BLE001 - what a kernel did wrong is the operation's error
                failure = failure or self.failed(block, error)
        self.finish(block, failure)

    # Waiting and ending.

    def _help(self, is_over: Callable[[], bool]) -> None:
        pool, running = self._policy.cpu, self._budget.running
        if not pool.ready or running:
            return
        worker = self._thread.helper
        if worker is None:
            worker = self._thread.helper = _Worker(pool)
        limit = self._queue.pending  # others may go on pushing; what they push is not waited for
        while limit and pool.ready and len(running) <= worker.has_slot and not is_over():
            block = self._take(worker)
            if block is None:
                break
            self._run_here(block, worker)
            limit -= 1
        self._leave(worker)
        if pool.ready:
            self._wake(pool)
            if self._has_chores:
                self._do_chores()

    def _run_here(self, block: Block, worker: _Worker) -> None:
        self._thread.is_running = True
        try:
            self._run(block, worker)
        finally:
            self._thread.is_running = False

    def _quiesce(self) -> None:
        worker = _Worker(self._policy.cpu)
        while not self._is_quiet():
            block = self._take(worker)
            if block is None:
                self._leave(worker)
                time.sleep(_EXIT_POLL_S)
            else:
                self._run_here(block, worker)
        self._leave(worker)

    def _is_quiet(self) -> bool:
        if self._inbox or self._lock.locked():
            return False
        pools = list(self._policy.pools())
        has_ready = any(pool.ready for pool in pools)
        is_running = bool(self._budget.running) or any(pool.is_busy for pool in pools if not pool.is_counted)
        return not (has_ready or is_running or any(pool.ready for pool in pools))

    def _end_workers(self) -> None:
        for thread in self._threads:
            while thread.is_alive():
                for pool in self._policy.pools():
                    while pool.idle:
                        pool.idle.pop().release()
                thread.join(_EXIT_POLL_S)
