"""Variables and the dependency queue: the ordering rule, with no thread in it.

*Two functions, one of which mutates a variable that the other names, run in push order; everything
else may run in parallel.*

Every variable keeps a first-in first-out queue of blocks that asked for it and who holds it now: any
number of readers, or one writer. Every block counts the variables it still waits for and is ready at
zero. A variable is granted at once while its queue is empty and the holders allow it, so the usual
push touches two integers and allocates nothing; the `deque` appears when something really waits.
Because a block enters all its queues in one step (the engine's push lock), the push order is the
same in every queue and no cycle of waits can form.

What the queue itself touches is not safe for two threads at once; see `dispatch` for who calls it.
`DependencyQueue` decides what may run and what must be skipped because of a failure; the caller
decides who runs it. It calls nobody and blocks nowhere, and so is tested alone.

Source: ThreadedVar and OprBlock, src/engine/threaded_engine.h; "Dependency engine" in MXNet's
architecture notes. Differs: a deque and a holder count for the linked list of version blocks;
skipping is decided here, when a block becomes ready, not by the worker.
"""

from __future__ import annotations

from collections import deque
from typing import Final, final

from operad.context import Context
from operad.engine.failure import Failure, alive, earliest
from operad.engine.operation import DELETE, GROUP, RUN, WAIT, Block, Opr
from operad.errors import EngineError

_DELETED: Final = Failure(EngineError("the variable was deleted"), 0, "deleted variable")


@final
class Var:
    """A thing that operations order themselves by, usually the contents of one array.

    Attributes:
        name: What messages call it, if anything.
        failure: Why the last write did not succeed; the contents have no value then.
        version: How many writes were *pushed* so far, whether or not they ran: a function of the
            program alone, never of timing. (Writes that two threads push at the same instant may
            count as one.)

    The other slots belong to the engine.
    """

    # invariant: `queue` is empty when nobody holds the variable.
    __slots__ = ("__weakref__", "deleted", "failure", "holders", "name", "queue", "version")

    def __init__(self, name: str | None = None) -> None:
        self.name = name
        self.version = 0
        self.holders = 0  # readers, or -1 for one writer
        self.queue: deque[tuple[Block, bool]] | None = None
        self.failure: Failure | None = None
        self.deleted = False  # set when deletion is asked for

    def close(self) -> None:
        """The contents are gone; counting as failed keeps the variable off the fast paths."""
        self.deleted = True
        self.failure = _DELETED

    def __repr__(self) -> str:
        return f"var {self.name!r}" if self.name else f"var at {id(self):#x}"


class Waiter(Block):
    """A block that runs nothing: it is granted `var` in its turn, and learns of a failure.

    Attributes:
        failure: What the variable carried at this point of the push order.
        done: Whether the turn has come.
    """

    __slots__ = ("done", "failure", "var")

    def __init__(self, var: Var, ctx: Context, write: bool) -> None:
        super().__init__(Opr(_nothing, () if write else (var,), (var,) if write else (), kind=WAIT), ctx)
        self.var = var
        self.done = False
        self.failure: Failure | None = None

    def arrive(self) -> None:
        """The turn has come. Called by the queue, under its caller's lock; engines add a wake-up."""
        self.failure = self.var.failure
        self.done = True


def _nothing() -> None:
    """The function of a block that only waits; never called."""


@final
class DependencyQueue:
    """Who may run, in which order. Not thread-safe: callers hold one lock around every call.

    Attributes:
        seq: Blocks added so far.
        pending: Blocks that are neither finished nor skipped.
        unread: Failures that no wait has raised yet (a set that keeps their order).
    """

    __slots__ = ("pending", "seq", "unread")

    def __init__(self) -> None:
        self.seq = 0
        self.pending = 0
        self.unread: dict[Failure, bool] = {}

    def add(self, block: Block) -> bool:
        """Enter `block` into the queue of every variable it names.

        Returns:
            Whether the caller must run it now; if not, a later `finish` hands it out, or it was a
            waiter whose turn has come, or it was skipped.
        """
        opr = block.opr
        for part in opr.parts:
            self.seq = part.seq = self.seq + 1
        self.seq = block.seq = self.seq + 1
        self.pending += 1
        waiting = 0
        for var in opr.const_vars:
            if var.holders >= 0 and not var.queue:
                var.holders += 1
            else:
                _enter(block, var, False)
                waiting += 1
        for var in opr.mutable_vars:
            if var.holders == 0:
                var.holders = -1
            else:
                _enter(block, var, True)
                waiting += 1
        if waiting:
            block.waiting = waiting
            return False
        if opr.kind == WAIT or alive:
            return bool(self._advance([block]))
        return True

    def finish(self, block: Block, failure: Failure | None = None) -> list[Block]:
        """Give back what `block` held, after it ran or failed.

        Returns:
            Blocks to run now.
        """
        if failure is not None:
            self.record(failure)
            self.settle(block, failure)
        elif alive and block.opr.kind != GROUP:
            self.settle(block, None)
        ready: list[Block] = []
        self._release(block, ready)
        return self._advance(ready) if ready else ready

    def inherited(self, block: Block) -> Failure | None:
        """The failure because of which `block` must be skipped: the earliest of those it would read."""
        opr = block.opr
        found = None
        if opr.kind == RUN:
            for var in opr.const_vars:
                if var.failure is not None:
                    found = earliest(found, var.failure)
            for var in opr.updated_vars:
                if var.failure is not None:
                    found = earliest(found, var.failure)
        return found

    def settle(self, block: Block, failure: Failure | None) -> None:
        """Mark what `block`, which holds its variables, would have written: spoilt, or clean again."""
        for var in block.opr.mutable_vars:
            var.failure = failure

    def record(self, failure: Failure) -> None:
        """Keep a new failure until a wait raises it."""
        failure.enlist()
        self.unread[failure] = True

    def unread_in_order(self) -> list[Failure]:
        """The unread failures, in push order."""
        return sorted(self.unread, key=lambda failure: failure.seq)

    def take_unread(self) -> list[Failure]:
        """The unread failures, in push order, which the caller raises."""
        return [failure for failure in self.unread_in_order() if self.mark_raised(failure)]

    def mark_raised(self, failure: Failure) -> bool:
        """Take `failure` off the unread ones; whether it was among them. One atomic step."""
        return self.unread.pop(failure, False)

    def surface(self, failure: Failure) -> BaseException:
        """The error that a wait for a variable which carries `failure` raises."""
        return failure.first_raise() if self.mark_raised(failure) else failure.next_raise()

    def _advance(self, ready: list[Block]) -> list[Block]:
        """Of the ready blocks, those to run; the others are done with here, and what they free follows."""
        runnable = []
        for block in ready:  # grows while it is walked
            if block.opr.kind == WAIT:
                assert isinstance(block, Waiter)
                block.arrive()
                self._release(block, ready)
                continue
            failure = self.inherited(block)
            if failure is not None:
                self.settle(block, failure)
                self._release(block, ready)
            else:
                runnable.append(block)
        return runnable

    def _release(self, block: Block, ready: list[Block]) -> None:
        opr = block.opr
        self.pending -= 1
        if opr.kind == DELETE:
            opr.mutable_vars[0].close()
        for var in opr.const_vars:
            var.holders -= 1
            if var.queue and var.holders == 0:
                _grant(var, ready)
        for var in opr.mutable_vars:
            var.holders = 0
            if var.queue:
                _grant(var, ready)


def _enter(block: Block, var: Var, is_write: bool) -> None:
    if var.queue is None:
        var.queue = deque()
    var.queue.append((block, is_write))


def _grant(var: Var, ready: list[Block]) -> None:
    """Hand a free variable to the head of its queue: one writer, or all readers before the next one."""
    queue = var.queue
    assert queue is not None
    block, is_write = queue.popleft()
    if is_write:
        var.holders = -1
        block.waiting -= 1
        if not block.waiting:
            ready.append(block)
        return
    while True:
        var.holders += 1
        block.waiting -= 1
        if not block.waiting:
            ready.append(block)
        if not queue or queue[0][1]:
            return
        block, is_write = queue.popleft()
