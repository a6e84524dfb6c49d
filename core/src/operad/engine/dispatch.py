"""How threads share one dependency queue without waiting for each other.

The queue is guarded by one lock, and no push or finish blocks on it. Under the interpreter's own
lock, blocking on a contended lock in a hot path makes two threads hand over to each other at every
step; a first
version that did so ran at half the speed with one worker and a quarter with four. Instead, who
finds the lock taken leaves a note in the inbox, and whoever holds it reads the inbox before and after
letting go (flat combining). Appending to a deque is atomic, so notes keep each thread's order.

The same rule settles re-entrance: a finalizer or signal handler that interrupts the holder in its own
thread, or an inline function that pushes, finds the lock taken, leaves its note, and returns.

Refused: a lock per variable (a push then takes several, in a global order), and re-entrant
locking (an interrupted step would be seen half done).
"""

from __future__ import annotations

import reprlib
import threading
import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import final

from operad.config import settings
from operad.engine import lifetime
from operad.engine.base import Engine
from operad.engine.budget import ThreadBudget
from operad.engine.failure import Failure, alive, note_on
from operad.engine.operation import GROUP, Block, RunContext
from operad.engine.thread import Thread
from operad.engine.var import DependencyQueue
from operad.errors import EngineError


@final
class Completion:
    """The `on_complete` of one run of an asynchronous operation.

    Args:
        engine: Runs the operation.
        block: The run.
        bell: Rung when it is done.
    """

    __slots__ = ("_bell", "_block", "_engine", "_gate")

    def __init__(self, engine: Dispatcher, block: Block, bell: threading.Lock | None) -> None:
        self._engine = engine
        self._block = block
        self._bell = bell
        self._gate = threading.Lock()  # taken by the first who completes, and never released

    def __call__(self, error: BaseException | None = None) -> None:
        """The operation is done, or failed with `error`; what is no exception is an EngineError too.

        Raises:
            EngineError: It was done already.
        """
        if not self.close(error):
            title = self._block.opr.title
            raise EngineError(f"{title}: on_complete was called twice; call it once for each run")

    def close(self, error: object) -> bool:
        """Finish the operation unless it is finished; whether this call did."""
        if not self._gate.acquire(False):
            return False
        engine, block = self._engine, self._block
        failure = None
        try:
            if error is not None and not isinstance(error, BaseException):
                error = EngineError(
                    f"{block.opr.title}: on_complete was given {reprlib.repr(error)}, "
                    "expected an exception or None"
                )
            failure = None if error is None else engine.failed(block, error)
        finally:  # whatever was given: what waits for this operation would wait for ever
            engine.finish(block, failure)
            if self._bell is not None:
                self._bell.release()
        return True

    def __del__(self) -> None:
        if not self._gate.locked():
            title = self._block.opr.title
            self.close(EngineError(f"{title}: on_complete was dropped without being called; call it once"))


class Dispatcher(Engine):
    """The part of an engine that runs blocks in the order of one dependency queue.

    Args:
        num_threads: Size of the thread budget; default: the setting.
    """

    is_threaded: bool

    def __init__(self, num_threads: int | None = None) -> None:
        options = settings()
        self.num_threads = num_threads or options.num_threads
        self._keeps_sites = options.debug
        self._queue = DependencyQueue()
        self._budget = ThreadBudget(self.num_threads)
        self._budget.apply_if_restricted()
        self._stopped = False
        self._renew()
        lifetime.watch(self)

    def _renew(self) -> None:
        """Make all that threads share anew; a forked child, which has one thread only, does it again."""
        self._lock = threading.Lock()
        self._take_lock: Callable[[bool], bool] = self._lock.acquire
        self._inbox: deque[Block | tuple[Block, Failure | None] | threading.Lock] = deque()
        self._drained: list[threading.Lock] = []
        self._thread = Thread()
        self._has_chores = False

    @abstractmethod
    def hold_for_fork(self) -> None:
        """See `lifetime.Mortal`."""

    @abstractmethod
    def release_after_fork(self) -> None:
        """See `lifetime.Mortal`."""

    @abstractmethod
    def renew_after_fork(self) -> None:
        """See `lifetime.Mortal`."""

    @abstractmethod
    def finish_at_exit(self) -> list[Failure]:
        """See `lifetime.Mortal`."""

    # What subclasses decide. `_offer` is called under the lock, the others without it.

    @abstractmethod
    def _offer(self, block: Block) -> None:
        """`block` may run from now on."""

    @abstractmethod
    def _do_chores(self) -> None:
        """Do what `_offer` left for after the lock is released; it sets `_has_chores`."""

    @abstractmethod
    def _help(self, is_over: Callable[[], bool]) -> None:
        """The calling thread is about to wait: it may run blocks instead, until `is_over()`."""

    @abstractmethod
    def _quiesce(self) -> None:
        """Return once no block runs or may run; asynchronous ones may still be pending."""

    @abstractmethod
    def _end_workers(self) -> None:
        """Let the workers go; nothing is pending."""

    # The queue.

    def _submit(self, block: Block) -> None:
        """Enter `block` into the queue, and see to it that it is run."""
        if self._take_lock(False):
            try:
                if self._inbox:
                    self._read_inbox()
                if self._queue.add(block):
                    self._offer(block)
            finally:
                self._lock.release()
        else:
            self._inbox.append(block)
        if self._inbox or self._has_chores:
            self._catch_up()

    def finish(self, block: Block, failure: Failure | None) -> None:
        """`block` is done, or failed; called in any thread."""
        if self._take_lock(False):
            try:
                if self._inbox:
                    self._read_inbox()
                self._retire(block, failure)
            finally:
                self._lock.release()
        else:
            self._inbox.append((block, failure))
        if self._inbox or self._has_chores:
            self._catch_up()

    def _catch_up(self) -> None:
        """Read the inbox, unless somebody does already and will see what is in it; then do chores."""
        while self._inbox and self._take_lock(False):
            try:
                self._read_inbox()
            finally:
                self._lock.release()
        if self._has_chores:
            self._do_chores()

    def _read_inbox(self) -> None:
        """Do what others noted. Under the lock."""
        inbox = self._inbox
        while inbox:
            note = inbox.popleft()
            if isinstance(note, Block):
                if self._queue.add(note):
                    self._offer(note)
            elif isinstance(note, tuple):
                self._retire(*note)
            elif self._queue.pending:
                self._drained.append(note)
            else:
                note.release()

    def _retire(self, block: Block, failure: Failure | None) -> None:
        """Finish `block` and offer what it was in the way of. Under the lock."""
        for ready in self._queue.finish(block, failure):
            self._offer(ready)
        if self._drained and not self._queue.pending:
            drained, self._drained = self._drained, []
            for bell in drained:
                bell.release()

    # Running blocks.

    def _call(self, block: Block, run_ctx: RunContext) -> Failure | None:
        """Run a synchronous block's function, or all members of a group; the failure if it raised."""
        opr = block.opr
        if opr.kind == GROUP:
            self._call_members(opr.parts, run_ctx)
            return None
        try:
            if block.profiling and self.profile_hook is not None:
                start_s = time.perf_counter()
                opr.fn(run_ctx)
                self.profile_hook(opr.title, block.ctx, start_s, time.perf_counter())
            else:
                opr.fn(run_ctx)
        except BaseException as error:  # noqa: BLE001 - every error belongs to the operation; waits raise it
            return self.failed(block, error)
        return None

    def _call_members(self, parts: tuple[Block, ...], run_ctx: RunContext) -> None:
        queue = self._queue
        for part in parts:
            # The group holds the variables, so nobody else changes what they carry.
            failure = queue.inherited(part) if alive else None
            if failure is None:
                failure = self._call(part, run_ctx)
                if failure is not None:
                    queue.record(failure)
            if alive:
                queue.settle(part, failure)

    def _start_async(self, block: Block, run_ctx: RunContext, bell: threading.Lock | None = None) -> None:
        """Call an asynchronous block's function, which finishes the block by itself and rings `bell`."""
        completion = Completion(self, block, bell)
        try:
            block.opr.fn(run_ctx, completion)
        except BaseException as error:  # noqa: BLE001 - as in `_call`
            if not completion.close(error):
                self._record_apart(block, error)

    def failed(self, block: Block, error: BaseException) -> Failure:
        """The failure of `block` by `error`."""
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            error.__traceback__ = error.__traceback__.tb_next  # the engine's own frame holds the block
        return Failure(error, block.seq, note_on(block.opr.title, block.site, self.is_threaded))

    def _record_apart(self, block: Block, error: BaseException) -> None:
        """Keep an error that spoils no variable, such as one raised after completion."""
        with self._lock:
            self._queue.seq = block.seq = self._queue.seq + 1
            self._queue.record(self.failed(block, error))
        self._catch_up()
