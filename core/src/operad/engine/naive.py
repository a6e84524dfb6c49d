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
from operad.engine.dispatch import Runner
from operad.engine.operation import DONE, OFFERED, TAKEN, OprBlock, RunContext
from operad.engine.thread import OPERATION, OUTSIDE, local


class _Backlog(threading.local):
    """What a thread has to run itself.

    Args:
        known: Where what each thread has is noted, for a thread that waits for it.
    """

    def __init__(self, known: list[deque[OprBlock]]) -> None:
        self.blocks: deque[OprBlock] = deque()
        known[:] = [blocks for blocks in known if blocks]
        known.append(self.blocks)


@final
class NaiveRunner(Runner):
    """Runs every block in the thread that made it ready."""

    is_threaded = False

    def __init__(self, budget: ThreadBudget) -> None:
        super().__init__(budget)
        self.renew()

    def renew(self) -> None:
        """See `Runner`."""
        self._known: list[deque[OprBlock]] = []
        self._backlog = _Backlog(self._known)

    def offer(self, block: OprBlock) -> None:
        """See `Runner`."""
        self._backlog.blocks.append(block)

    def after(self) -> None:
        """Run the backlog, unless that is done further up this thread's stack.

        `has_after` stays set: only a thread itself knows of its backlog.
        """
        self._run_all(self._backlog.blocks)

    def _run_all(self, blocks: deque[OprBlock]) -> None:
        thread = local.state
        if thread.inside != OUTSIDE:
            return
        while blocks:
            is_mine = False
            try:
                try:
                    # commit: begin
                    block = blocks[0]
                    is_mine = block.state == OFFERED  # else another thread runs it, or it was offered twice
                    del blocks[0]
                    if is_mine:
                        block.state = TAKEN
                    thread.inside = OPERATION
                    # commit: end
                except IndexError:  # another thread, which heals, has taken the last one
                    return
                if is_mine:
                    self._run(block)
            finally:
                # commit: begin
                thread.inside = OUTSIDE
                if is_mine and block.state == TAKEN:
                    block.state = OFFERED
                    blocks.appendleft(block)
                # commit: end with a call
            del block  # here, lest the next commit lets go of what has a finalizer

    def _run(self, block: OprBlock) -> None:
        run_ctx = RunContext(block.ctx, None, self._budget)
        self._budget.use(block.opr.is_parallel)
        try:
            if block.opr.is_async:
                self._dispatcher.start(block, run_ctx, True)
                self._dispatcher.wait_until(lambda: block.state == DONE)
            else:
                self._dispatcher.run(block, run_ctx, True)
        finally:
            self._budget.use(is_worth=True)

    def help(self, is_over: Callable[[], bool]) -> None:
        """See `Runner`."""
        self.after()

    def heal(self) -> None:
        """Run what an exception kept another thread from running."""
        for blocks in tuple(self._known):
            self._run_all(blocks)

    def end(self) -> None:
        """There is nothing to end."""
