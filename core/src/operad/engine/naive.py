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
from operad.engine.operation import CALLED, DONE, OFFERED, TAKEN, OprBlock, RunContext
from operad.engine.thread import OPERATION, OUTSIDE, local


@final
class _Backlog:
    """Blocks that a thread has to run itself, and the one that it runs."""

    __slots__ = ("blocks", "running")

    def __init__(self) -> None:
        self.blocks: deque[OprBlock] = deque()
        self.running: OprBlock | None = None


class _Local(threading.local):
    """The calling thread's backlog.

    Args:
        known: Where that of each thread is noted, for a thread that waits for it.
    """

    def __init__(self, known: list[_Backlog]) -> None:
        self.backlog = _Backlog()
        known[:] = [backlog for backlog in known if backlog.blocks or backlog.running is not None]
        known.append(self.backlog)


@final
class NaiveRunner(Runner):
    """Runs every block in the thread that made it ready."""

    is_threaded = False

    def __init__(self, budget: ThreadBudget) -> None:
        super().__init__(budget)
        self._known: list[_Backlog] = []
        self._local = _Local(self._known)

    def in_hand(self, is_own: bool) -> list[OprBlock]:
        """See `Runner`."""
        own, found = self._local.backlog, []
        for backlog in tuple(self._known):
            block = backlog.running
            if (backlog is own) is is_own and block is not None and block.state in (TAKEN, CALLED):
                found.append(block)
        return found

    def renew(self) -> None:
        """See `Runner`."""
        own = self._local.backlog
        self._budget.renew(local.state.run_ctx)
        for backlog in self._known:
            block = backlog.running
            if backlog is not own and block is not None and block.state == TAKEN:
                # commit: begin
                block.state = OFFERED
                backlog.running = None
                own.blocks.append(block)
                # commit: end with a call

    def offer(self, block: OprBlock) -> None:
        """See `Runner`."""
        self._local.backlog.blocks.append(block)

    def after(self) -> None:
        """Run the backlog, unless that is done further up this thread's stack.

        `has_after` stays set: only a thread itself knows of its backlog.
        """
        self._run_all(self._local.backlog.blocks)

    def _run_all(self, blocks: deque[OprBlock]) -> None:
        thread, own = local.state, self._local.backlog
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
                        own.running = block
                    thread.inside = OPERATION
                    # commit: end
                except IndexError:  # another thread, which heals, has taken the last one
                    return
                if is_mine:
                    self._run(block)
            finally:
                # commit: begin
                thread.inside = OUTSIDE
                own.running = None
                if is_mine and block.state == TAKEN:
                    block.state = OFFERED
                    blocks.appendleft(block)
                # commit: end with a call
            del block  # here, lest the next commit lets go of what has a finalizer

    def _run(self, block: OprBlock) -> None:
        thread, budget = local.state, self._budget
        run_ctx = RunContext(block.ctx, None, budget)
        try:
            thread.run_ctx = run_ctx
            budget.start_beyond(run_ctx)
            run_ctx.is_worth = block.opr.is_parallel
            if block.opr.is_async:
                self._dispatcher.start(block, run_ctx, True)
                self._dispatcher.wait_until(lambda: block.state == DONE)
            else:
                self._dispatcher.run(block, run_ctx, True)
        finally:
            thread.run_ctx = None
            budget.finish(run_ctx)

    def help(self, is_over: Callable[[], bool]) -> None:
        """See `Runner`."""
        self.after()

    def heal(self) -> None:
        """Run what an exception kept another thread from running."""
        for backlog in tuple(self._known):
            self._run_all(backlog.blocks)

    def end(self) -> None:
        """There is nothing to end."""
