"""Worker threads per device, under one thread budget.

A push wakes at most one idle worker, and none while one is on its way; the worker that takes a block while
more are ready wakes the next. A worker goes on at once with the block that its last one made ready, unless
another one comes first, so a chain of dependent operations runs as one group: no hand-over, no wake-up.
Who is woken or hired is decided under the queue's lock. Ready queues and lists of idle workers are changed by
single atomic steps (`heappop`, `append`, `pop`) and looked at again after every step that could have missed
another thread's, so taking work needs no lock.

A block is never in no thread's hands: who takes it notes it as `Worker.block` in one step, and what an
exception leaves there is offered again, by that thread or by one that waits (`heal`).

A thread that waits runs ready blocks itself while nothing else runs: a push and its wait take 7 to 14 us
that way, and 37 to 126 us where a worker has to be woken (4 shared cores, an empty function).
It does not join in while workers run, lest a long block keep it after what it waits for is done.

Source: ThreadedEnginePerDevice, src/engine/threaded_engine_perdevice.cc.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from heapq import heappop, heappush
from typing import Final, final

from operad.device import Context, cpu
from operad.engine.budget import ThreadBudget, blas_limits
from operad.engine.dispatch import Runner
from operad.engine.lock import Request
from operad.engine.operation import CALLED, DELETE, OFFERED, TAKEN, FnProperty, OprBlock, RunContext
from operad.engine.pools import Wake, Worker, WorkerPool
from operad.engine.thread import OPERATION, OUTSIDE, local
from operad.interrupts import is_from_outside, start_thread

_CPU: Final = cpu()
_JOIN_S: Final = 0.001


@final
class ThreadedRunner(Runner):
    """Runs blocks in worker threads; the CPU's pool has as many workers as the budget has threads."""

    is_threaded = True

    def __init__(self, budget: ThreadBudget) -> None:
        super().__init__(budget)
        self._cpu = WorkerPool("cpu", self._budget.total)
        self._gpus: dict[tuple[Context, FnProperty], WorkerPool] = {}
        self._hires: deque[WorkerPool] = deque()
        self._hired: list[Worker] = []
        self._helpers: list[Worker] = []
        self._is_ending = False

    def in_hand(self, is_own: bool) -> list[OprBlock]:
        """See `Runner`."""
        own, found = local.state.worker, []
        for worker in (*self._hired, *self._helpers):
            block = worker.block
            if (worker is own) is is_own:
                if block is not None and block.state in (TAKEN, CALLED):
                    found.append(block)
                if worker.stream is not None:
                    found += worker.stream.launched
        return found

    def renew(self) -> None:
        """See `Runner`."""
        own, pools = local.state.worker, (self._cpu, *self._gpus.values())
        if own is not None and own.block is not None and own.block.state == CALLED:
            own.has_slot = False  # the child may wait inside this operation, so others need its place
        counted = own if own is not None and own.has_slot else None
        self._budget.renew(counted and counted.run_ctx)
        for pool in pools:
            pool.idle.clear()
            pool.workers = 0
            pool.is_waking = False
        for worker in (*self._hired, *self._helpers):
            if worker is not own:
                self._offer_again(worker)
        self._hires.clear()
        if own in self._hired:
            own.is_serving = False  # `end` does not wait for the thread that forked
        self._hired = [worker for worker in self._hired if worker is own]
        self._helpers = [worker for worker in self._helpers if worker is own]
        if counted in self._hired:
            counted.pool.workers = 1
        for pool in pools:
            if pool.ready:
                lock, wake = self._dispatcher.lock, Wake(lambda wake: self._wake(wake.pool), pool)
                lock.tail.next = lock.tail = wake  # commit

    # Waking and hiring.

    def offer(self, block: OprBlock) -> None:
        """See `Runner`."""
        pool = self._gpu_pool(block) if block.is_gpu else self._cpu
        heappush(pool.ready, (block.order, block.seq, block))
        if not pool.is_waking and (pool.idle or pool.workers < pool.size):
            self._wake(pool)

    def go_on_with(self, block: OprBlock) -> None:
        """See `Runner`."""
        owner = self._dispatcher.lock.owner  # the calling thread
        worker: Worker | None = owner and owner.worker
        last = None if worker is None else worker.block
        if worker is None or last is None or last.state < TAKEN or last.state == CALLED or block.is_gpu:
            self.offer(block)
            return
        ready, is_later = worker.pool.ready, last.state == TAKEN or block.opr.kind == DELETE
        if is_later or ready:
            item = (block.order, block.seq, block)
            if is_later or (ready and ready[0] < item):
                heappush(ready, item)  # the worker looks here before it rests
                if last.state == TAKEN and block.opr.kind != DELETE:  # it has its next one
                    self._wake(worker.pool)
                return
        # commit: begin
        worker.block = block
        block.state = TAKEN
        # commit: end

    def _gpu_pool(self, block: OprBlock) -> WorkerPool:
        kind = block.opr.prop
        if kind not in {FnProperty.COPY_FROM_DEVICE, FnProperty.COPY_TO_DEVICE}:
            kind = FnProperty.NORMAL
        pool = self._gpus.get((block.ctx, kind))
        if pool is None:
            pool = self._gpus[block.ctx, kind] = WorkerPool(f"{block.ctx}-{kind.value}", 1, block.ctx)
        return pool

    def _wake(self, pool: WorkerPool) -> None:
        """See to it that a worker looks at `pool`, if one may run. Under the lock."""
        if pool.is_waking or (pool.is_counted and self._budget.is_full):
            return  # who is on the way wakes the next one; who runs looks when it is done
        try:
            pool.wake()
        except IndexError:  # no worker is idle, or the last one has just found work by itself
            workers = pool.workers + 1
            if pool.workers < pool.size:
                # commit: begin
                pool.workers = workers
                pool.is_waking = self._dispatcher.lock.has_after = True
                self._hires.append(pool)
                # commit: end with a call

    def _wake_next(self, pool: WorkerPool) -> None:
        if pool.ready and not pool.is_waking and (pool.idle or pool.workers < pool.size):
            self._dispatcher.lock.do(Wake(lambda wake: self._wake(wake.pool), pool))

    def after(self) -> None:
        """Start a thread for each hire, and go on with what an exception kept a waiting thread from."""
        self._dispatcher.lock.has_after = False
        try:
            self._put_helpers_down()
            for pool in tuple(self._hires):  # until a thread has begun and taken its hire
                start_thread(f"operad-{pool.name}-{pool.workers}", self._serve)
        except BaseException as error:
            self._dispatcher.lock.has_after = True  # who calls the engine next does the rest
            # Else the interpreter is ending, or can start no thread; who waits runs what is left.
            if is_from_outside(error) or not isinstance(error, RuntimeError):
                raise

    # The life of a worker.

    def _serve(self) -> None:
        try:
            # commit: begin
            pool = self._hires[0]
            del self._hires[0]
            # commit: end
        except IndexError:  # a thread too many: one was started whose start seemed to fail
            return
        worker = None
        try:
            while worker is None or not self._is_ending or pool.ready:
                try:
                    if worker is None:
                        local.state.inside = OPERATION
                        worker = Worker(pool, self._dispatcher, self._budget)
                        self._hired.append(worker)
                        pool.is_waking = False
                        if not pool.device:
                            local.state.worker = worker
                    self._work(worker)
                except BaseException:  # noqa: BLE001 - of no operation: no memory, or what was sent to it
                    if worker is not None:
                        worker.was_broken_off = True
        finally:
            if worker is not None:
                worker.is_serving = False

    def _work(self, worker: Worker) -> None:
        """Run what there is, and then wait to be woken."""
        pool = worker.pool
        if worker.was_broken_off:
            self._put_down(worker)
            pool.withdraw(worker.event)
            worker.event.acquire(False)
            worker.was_broken_off = pool.is_waking = False
        while (block := self._take(worker)) is not None:
            self._run(block, worker, False)
            del block
        self._put_down(worker)
        blas_limits.restore()
        pool.idle.append(worker.event)
        if self._may_take(worker) and pool.withdraw(worker.event):
            return  # work came between the last look and lying down
        if not self._is_ending:
            worker.event.acquire()
            pool.is_waking = False

    def _may_take(self, worker: Worker) -> bool:
        pool = worker.pool
        return bool(pool.ready) and (worker.has_slot or not (pool.is_counted and self._budget.is_full))

    def _take(self, worker: Worker) -> OprBlock | None:
        """The next block of the worker's pool, if there is one and the budget allows it."""
        pool, budget, block = worker.pool, self._budget, worker.block
        if block is not None and block.state == TAKEN:
            worker.run_ctx.ctx = block.ctx
            return block
        block = worker.block = None  # here, lest the commit below lets go of what has a finalizer
        ready = pool.ready
        if not ready:
            return None
        if pool.is_counted and not worker.has_slot:
            if not budget.start(worker.run_ctx):
                return None
            worker.has_slot = True
        while True:
            try:
                # commit: begin
                block = ready[0][2]
                is_mine = block.state == OFFERED  # else it was offered twice
                if is_mine:
                    worker.block = block
                    block.state = TAKEN
                heappop(ready)
                # commit: end with a call
            except IndexError:  # another worker was faster
                return None
            if is_mine:
                break
        worker.run_ctx.ctx = block.ctx
        if ready and pool.size > 1:
            self._wake_next(pool)
        return block

    def _put_down(self, worker: Worker) -> None:
        """Give the budget slot back, and offer again what an exception left with `worker`."""
        self._offer_again(worker)
        if worker.has_slot or worker.run_ctx in self._budget.running:
            worker.has_slot = False
            self._budget.finish(worker.run_ctx)

    def _offer_again(self, worker: Worker) -> None:
        """Offer what `worker` has taken and not called."""
        block = worker.block
        if block is not None and block.state == TAKEN:
            ready, item = worker.pool.ready, (block.order, block.seq, block)
            try:
                # commit: begin
                block.state = OFFERED
                worker.block = None
                heappush(ready, item)
                # commit: end with a call
            except (MemoryError, RecursionError):
                # commit: begin
                if block.state == OFFERED:
                    block.state = TAKEN
                    worker.block = block
                # commit: end
                raise
        worker.block = None

    def _run(self, block: OprBlock, worker: Worker, has_caller: bool) -> None:
        """Run `block`, and finish it unless it is asynchronous or on a stream."""
        run_ctx, dispatcher = worker.run_ctx, self._dispatcher
        if worker.stream is not None:
            worker.stream.launch(block)
            return
        local.state.run_ctx = run_ctx
        run_ctx.is_worth = block.opr.is_parallel
        if block.opr.is_async:
            dispatcher.start(block, RunContext(block.ctx, None, self._budget), has_caller)
        else:
            dispatcher.run(block, run_ctx, has_caller)

    # Waiting and ending.

    def help(self, is_over: Callable[[], bool]) -> None:
        """See `Runner`."""
        pool, running, thread = self._cpu, self._budget.running, local.state
        if not pool.ready or running or thread.inside != OUTSIDE:
            return
        worker = self._helper()
        limit = self._dispatcher.queue.pending  # what others push meanwhile is not waited for
        try:
            # A finalizer that interrupts this must not wait for a block that this thread has taken.
            thread.inside = OPERATION
            thread.worker = worker
            for _ in range(limit):
                if len(running) > worker.has_slot or is_over() or (block := self._take(worker)) is None:
                    break
                self._run(block, worker, True)
        finally:
            # commit: begin
            thread.inside = OUTSIDE
            thread.worker = thread.run_ctx = None
            # commit: end
            try:
                self._put_down(worker)
            except BaseException:
                self._dispatcher.lock.has_after = True  # who calls the engine next does it
                raise
            finally:
                worker.is_serving = False  # commit
        self._wake_next(pool)

    def step_aside(self) -> bool:
        """See `Runner`. Another worker may be hired, which stays."""
        worker, pool, waiting = local.state.worker, self._cpu, self._dispatcher.waiting_inside

        def widen(_: Request) -> None:
            pool.size = max(pool.size, self._budget.total + len(waiting))
            self._wake(pool)

        if worker is None or not worker.has_slot:
            return False
        self._budget.finish(worker.run_ctx)
        worker.has_slot = False
        self._dispatcher.lock.do(Request(widen))
        return True

    def step_back(self) -> None:
        """See `Runner`."""
        worker = local.state.worker
        if worker is not None:
            worker.has_slot = True  # first, or what an exception leaves counted would be counted again
            self._budget.start_beyond(worker.run_ctx)

    def _helper(self) -> Worker:
        """A place for a thread that waits."""
        for worker in self._helpers:
            # commit: begin
            if not worker.is_serving:
                worker.is_serving = True
                return worker
            # commit: end
        worker = Worker(self._cpu, self._dispatcher, self._budget)
        self._helpers.append(worker)
        return worker

    def heal(self) -> None:
        """See `Runner`."""
        self.after()
        for pool in (self._cpu, *self._gpus.values()):
            if pool.ready:
                pool.is_waking = False  # who was on the way may have been lost
                self._wake_next(pool)

    def _put_helpers_down(self) -> None:
        for helper in tuple(self._helpers):
            # commit: begin
            if helper.is_serving:
                continue
            helper.is_serving = True  # or two threads would put down one block twice
            # commit: end
            try:
                self._put_down(helper)
            finally:
                helper.is_serving = False  # commit
        self._wake_next(self._cpu)

    def end(self) -> None:
        """Let the workers go; one that is hired later leaves when it has nothing to do."""
        self._is_ending = True
        while any(worker.is_serving for worker in self._hired):
            for pool in (self._cpu, *self._gpus.values()):
                while pool.idle:
                    with suppress(IndexError):  # the last one has just found work by itself
                        pool.wake()
            time.sleep(_JOIN_S)
