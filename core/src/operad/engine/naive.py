"""The naive engine: everything runs in the thread that pushes it.

The debugging twin of the threaded engine: the same queue, the same checks, the same failures at the same
waits, with a debugger's stack from the push into the function. A push from inside an operation runs
once the outermost operation of the thread is done. Where another thread stands in the way, the thread
that frees the last variable runs the function.

Source: NaiveEngine, src/engine/naive_engine.cc. Differs: dependencies are checked.
"""

from __future__ import annotations

from _thread import get_ident
from collections import deque
from collections.abc import Callable, Sequence
from typing import final

from operad.context import Context
from operad.engine.operation import Block, Opr, RunContext
from operad.engine.ordered import OrderedEngine
from operad.engine.thread import Thread, new_bell
from operad.engine.var import Var


class _Thread(Thread):
    """Adds what a thread has to run itself.

    Attributes:
        backlog: Blocks that may run.
        has_loop: Whether the thread is working through them.
    """

    has_loop: bool = False

    def __init__(self) -> None:
        self.backlog: deque[Block] = deque()


@final
class NaiveEngine(OrderedEngine):
    """Runs operations at push, in the pushing thread."""

    is_threaded = False

    def __init__(self, num_threads: int | None = None) -> None:
        super().__init__(num_threads)
        self._keeps_sites = True  # a debugging twin always knows where an operation was pushed

    def _renew(self) -> None:
        super()._renew()
        self._thread: _Thread = _Thread()
        self._take_lock = self._wait_for_lock
        self._holder = 0

    def _wait_for_lock(self, _: bool) -> bool:
        """Take the lock, if need be after another thread, so that this thread runs what it pushes.

        Returns:
            False inside the very step that holds it.
        """
        if not self._lock.acquire(False):
            if self._holder == get_ident():
                return False
            self._lock.acquire()
        self._holder = get_ident()
        return True

    def run_inline(
        self,
        fn: Callable[..., object],
        args: tuple[object, ...],
        ctx: Context,
        const_vars: Sequence[Var],
        mutable_vars: Sequence[Var],
        name: str | None,
    ) -> bool:
        """See `Engine.run_inline`. Every push of this engine runs in place; so is this one."""
        if self._thread.is_running or self._detours:
            return False
        if any(var.holders or var.failure is not None for var in (*const_vars, *mutable_vars)):
            return False
        title = name or getattr(fn, "__qualname__", None)
        self._push(Block(Opr(lambda _: fn(*args), const_vars, mutable_vars, name=title), ctx))
        return True

    def _offer(self, block: Block) -> None:
        self._thread.backlog.append(block)
        self._has_chores = True

    def _do_chores(self) -> None:
        thread = self._thread
        if thread.has_loop:
            return  # further up this thread's stack, which takes what was just offered
        thread.has_loop = True
        try:
            while thread.backlog:
                self._run(thread.backlog.popleft())
        finally:
            thread.has_loop = False

    def _run(self, block: Block) -> None:
        run_ctx = RunContext(block.ctx, None, self.num_threads)
        bell = new_bell() if block.opr.is_async else None
        failure = None
        self._thread.is_running = True
        if not block.opr.is_parallel:
            self._budget.use(is_worth=False)
        try:
            if bell is not None:
                self._start_async(block, run_ctx, bell)
                bell.acquire()
            else:
                failure = self._call(block, run_ctx)
        finally:
            self._thread.is_running = False
            if not self._budget.is_worth:
                self._budget.use(is_worth=True)
        if bell is None:
            self.finish(block, failure)

    def _help(self, is_over: Callable[[], bool]) -> None:
        self._do_chores()

    def _quiesce(self) -> None:
        self._do_chores()

    def _end_workers(self) -> None:
        """There are none."""
