"""The naive engine: everything runs in the thread that pushes it.

The debugging twin of the threaded engine: the same queue, the same checks, the same failures at the same
waits, with a debugger's stack from the push into the function. A push from inside an operation runs
once the outermost operation of the thread is done. Where another thread stands in the way, the thread
that frees the last variable runs the function.

Source: NaiveEngine, src/engine/naive_engine.cc. Differs: dependencies are checked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import final

from operad.engine.operation import Block, RunContext
from operad.engine.ordered import OrderedEngine, new_bell
from operad.engine.failure import Failure


@final
class NaiveEngine(OrderedEngine):
    """Runs operations at push, in the pushing thread."""

    is_threaded = False

    def __init__(self, num_threads: int | None = None) -> None:
        super().__init__(num_threads)
        self._debug = True  # a debugging twin always knows where an operation was pushed

    def _offer(self, block: Block) -> None:
        self._thread.backlog.append(block)
        self._has_chores = True

    def _do_chores(self) -> None:
        thread = self._thread
        while thread.backlog and not thread.is_running:
            self._run(thread.backlog.popleft())

    def _run(self, block: Block) -> None:
        run_ctx = RunContext(block.ctx, None, self.num_threads)
        bell = new_bell() if block.opr.is_async else None
        failure = None
        self._thread.is_running = True
        try:
            if bell is not None:
                self._start_async(block, run_ctx, bell)
                bell.acquire()
            else:
                failure = self._call(block, run_ctx)
        finally:
            self._thread.is_running = False
        if bell is None:
            self._finish(block, failure)

    def _help(self, is_over: Callable[[], bool], bell: threading.Lock) -> None:
        self._do_chores()
        bell.acquire()

    def _quiesce(self) -> None:
        self._do_chores()

    def _end_workers(self) -> None:
        """There are none."""
