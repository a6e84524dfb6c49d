"""The threaded engine: workers per device, under one thread budget.

A push takes the lock once, finds out whether the block may run, and wakes at most one sleeping worker. A
worker gives back what its block held and takes the next one under the same hold of the lock, so a
chain of dependent operations runs through one worker without a wake-up; who takes a block while more
are ready wakes one more worker.

A thread that waits runs ready blocks itself as long as nothing else runs: see `_help`.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Final, final

from operad.context import cpu
from operad.engine.failure import Failure
from operad.engine.operation import Block, RunContext
from operad.engine.ordered import OrderedEngine, new_bell
from operad.engine.policy import Policy, Pool

_CPU: Final = cpu()


@final
class _Worker:
    """One thread's place in a pool: its bell, its run context, and whether it holds a budget slot."""

    __slots__ = ("bell", "has_slot", "pool", "run_ctx")

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.bell = new_bell()
        self.run_ctx = RunContext(pool.device or _CPU, pool.new_stream())
        self.has_slot = False


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
        self._threads: list[threading.Thread] = []
        self._hires: deque[Pool] = deque()
        self._quiet_bell: threading.Lock | None = None
        self._attended: Pool | None = None  # the pool whose worker is about to take a block

    def _offer(self, block: Block) -> None:
        pool = self._policy.pool_of(block)
        pool.offer(block)
        if pool is not self._attended:
            self._wake(pool)

    def _wake(self, pool: Pool) -> None:
        """See to it that a worker looks at `pool` if one may run. Under the lock."""
        if pool.is_counted and self._budget.is_full:
            return  # whoever runs now looks when it is done
        if pool.idle:
            pool.idle.pop().release()
        elif pool.workers < pool.size:
            pool.workers += 1
            self._hires.append(pool)
            self._has_chores = True

    def _do_chores(self) -> None:
        while self._hires:
            pool = self._hires.popleft()
            number = len(self._threads)
            thread = threading.Thread(
                target=self._serve, args=(pool,), name=f"operad-{pool.name}-{number}", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # the interpreter is ending; `finish_at_exit` runs what is left
                pool.workers -= 1
                continue
            self._threads.append(thread)
        self._has_chores = False

    def _serve(self, pool: Pool) -> None:
        """The life of one worker."""
        self._thread.is_running = True
        worker = _Worker(pool)
        budget = self._budget
        done, failure = None, None
        while True:
            block = self._next(worker, done, failure)
            if budget.applied != budget.share:
                budget.apply()
            if block is None:
                with self._lock:
                    if self._stopped:
                        return
                worker.bell.acquire()
                done = None
            else:
                done, failure = self._run(block, worker.run_ctx)
            del block

    def _next(self, worker: _Worker, done: Block | None, failure: Failure | None) -> Block | None:
        """Finish `done` and take the next block; None puts the worker among the idle ones."""
        pool = worker.pool
        with self._lock:
            self._busy = True
            try:
                self._attended = pool
                if done is not None:
                    self._retire(done, failure)
                self._attended = None
                block = self._take(worker)
                if block is None:
                    pool.idle.append(worker.bell)
                    self._ring_if_quiet()
                if self._aside:
                    self._carry_out_aside()
            finally:
                self._busy = False
        if self._has_chores:
            self._do_chores()
        return block

    def _take(self, worker: _Worker) -> Block | None:
        """The next block of the worker's pool, if the budget allows one; counts the worker in or out."""
        pool, budget = worker.pool, self._budget
        if pool.ready and (worker.has_slot or not pool.is_counted or not budget.is_full):
            block = pool.take()
            worker.run_ctx.ctx = block.ctx
            if pool.is_counted and not worker.has_slot:
                budget.start(worker.run_ctx)
                worker.has_slot = True
            if pool.ready:
                self._wake(pool)
            return block
        if worker.has_slot:
            budget.finish(worker.run_ctx)
            worker.has_slot = False
        return None

    def _run(self, block: Block, run_ctx: RunContext) -> tuple[Block | None, Failure | None]:
        """Run `block`; what `_next` is to finish: the block and its failure, or nothing if it goes on."""
        if run_ctx.stream is not None:
            return self._run_on_stream(block, run_ctx)
        if not block.opr.is_async:
            return block, self._call(block, run_ctx)
        self._start_async(block, RunContext(block.ctx, None, run_ctx.num_threads))
        return None, None

    def _run_on_stream(self, block: Block, run_ctx: RunContext) -> tuple[Block | None, Failure | None]:
        """Run with the pool's stream current; a synchronous block is done when the stream is."""
        stream = run_ctx.stream
        with block.ctx.xp.cuda.Device(block.ctx.device_id), stream:
            if block.opr.is_async:
                self._start_async(block, RunContext(block.ctx, stream))
                return None, None
            failure = self._call(block, run_ctx)
            try:
                stream.synchronize()
            except Exception as error:  # noqa: BLE001 - what a kernel did wrong is the operation's error
                failure = failure or self._failed(block, error)
            return block, failure

    def _help(self, is_over: Callable[[], bool], bell: threading.Lock) -> None:
        worker = _Worker(self._policy.cpu)
        thread, budget = self._thread, self._budget
        done, failure = None, None
        while True:
            block = self._next_of_helper(worker, done, failure, is_over)
            if budget.applied not in (0, budget.share):
                budget.apply()
            if block is None:
                break
            thread.is_running = True
            try:
                done, failure = self._run(block, worker.run_ctx)
            finally:
                thread.is_running = False
        bell.acquire()

    def _next_of_helper(
        self, worker: _Worker, done: Block | None, failure: Failure | None, is_over: Callable[[], bool]
    ) -> Block | None:
        """As `_next`, for a thread that waits: a block only while nothing else runs and it still waits."""
        pool, budget = worker.pool, self._budget
        with self._lock:
            self._busy = True
            try:
                self._attended = pool
                if done is not None:
                    self._retire(done, failure)
                self._attended = None
                if worker.has_slot:
                    budget.finish(worker.run_ctx)
                    worker.has_slot = False
                block = None if budget.running or is_over() else self._take(worker)
                if block is None:
                    self._ring_if_quiet()
                    if pool.ready:
                        self._wake(pool)
                if self._aside:
                    self._carry_out_aside()
            finally:
                self._busy = False
        if self._has_chores:
            self._do_chores()
        return block

    def _quiesce(self) -> None:
        bell = new_bell()
        with self._lock:
            self._quiet_bell = bell
        self._help(self._is_quiet, bell)

    def _ring_if_quiet(self) -> None:
        if self._quiet_bell is not None and self._is_quiet():
            self._quiet_bell.release()
            self._quiet_bell = None

    def _is_quiet(self) -> bool:
        if self._budget.running:
            return False
        pools = self._policy.pools()
        return all(not pool.ready and (pool.is_counted or len(pool.idle) == pool.workers) for pool in pools)

    def _end_workers(self) -> None:
        with self._lock:
            for pool in self._policy.pools():
                while pool.idle:
                    pool.idle.pop().release()
        for thread in self._threads:
            thread.join()
