"""The naive engine: everything runs in the thread that pushes it.

The debugging twin of the threaded engine: the same queue, the same checks, the same failures at the same
waits, with a debugger's stack from the push into the function. A push from inside an operation runs
once the outermost operation of the thread is done. Where another thread stands in the way, the thread
that frees the last variable runs the function. So a thread waits for the queue's lock, and reads the
inbox only for what interrupted a step.

Source: NaiveEngine, src/engine/naive_engine.cc. Differs: dependencies are checked.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import final

from operad.engine.budget import ThreadBudget
from operad.engine.dispatch import Dispatcher, Runner
from operad.engine.operation import OprBlock, RunContext
from operad.engine.thread import OPERATION, OUTSIDE, local, new_event, wait_for


class _Backlog(threading.local):
    """What a thread has to run itself."""

    def __init__(self) -> None:
        self.blocks: deque[OprBlock] = deque()


@final
class NaiveRunner(Runner):
    """Runs every block in the thread that made it ready."""

    is_threaded = False

    def __init__(self, budget: ThreadBudget) -> None:
        super().__init__(budget)
        self._backlog = _Backlog()

    def attach(self, dispatcher: Dispatcher) -> None:
        """See `Runner`."""
        super().attach(dispatcher)
        dispatcher.lock.has_after = True  # for good: only a thread itself knows of its backlog

    def renew(self) -> None:
        """See `Runner`."""
        self._backlog = _Backlog()

    def offer(self, block: OprBlock) -> None:
        """See `Runner`."""
        self._backlog.blocks.append(block)

    def after(self) -> None:
        """Run the backlog, unless that is done further up this thread's stack."""
        thread, blocks = local.state, self._backlog.blocks
        if thread.inside != OUTSIDE:
            return
        while blocks:
            thread.inside = OPERATION
            try:
                self._run(blocks.popleft())
            finally:
                thread.inside = OUTSIDE

    def _run(self, block: OprBlock) -> None:
        run_ctx = RunContext(block.ctx, None, self._budget.total)
        self._budget.use(block.opr.is_parallel)
        try:
            if block.opr.is_async:
                done = new_event()
                self._dispatcher.start(block, run_ctx, done.release)
                wait_for(done)
            else:
                self._dispatcher.run(block, run_ctx)
        finally:
            self._budget.use(is_worth=True)

    def help(self, is_over: Callable[[], bool]) -> None:
        """See `Runner`."""
        self.after()

    def end(self) -> None:
        """There is nobody."""
