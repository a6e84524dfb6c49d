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
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, final

from operad.engine.failure import Failure, FailureLog, alive
from operad.engine.operation import DELETE, GROUP, RUN, WAIT, OprBlock
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
        self.queue: deque[tuple[OprBlock, bool]] | None = None
        self.failure: Failure | None = None
        self.deleted = False  # set when deletion is asked for

    def close(self) -> None:
        """The contents are gone; counting as failed keeps the variable off the fast paths."""
        self.deleted = True
        self.failure = _DELETED

    def __repr__(self) -> str:
        return f"var {self.name!r}" if self.name else f"var at {id(self):#x}"


@final
class DependencyQueue:
    """Who may run, in which order. Not thread-safe: callers hold one lock around every call.

    Attributes:
        seq: Blocks and claims added so far.
        pending: Blocks and claims that are neither finished nor skipped.
        pending_bytes: Memory that they keep in use, as far as their pushers said; a deletion's from when its
            turn has come, since until then an operation keeps it.
        running: Those of them that were handed out and have not come to rest. An asynchronous block
            comes to rest when its function has returned, though it stays pending until it is completed.
        failures: What went wrong.
    """

    __slots__ = ("failures", "pending", "pending_bytes", "running", "seq")

    def __init__(self) -> None:
        self.seq = 0
        self.failures = FailureLog()
        self.forget()

    def forget(self) -> None:
        """Count nothing as pending, as in a forked child, where it stays the parent's."""
        self.pending = 0
        self.pending_bytes = 0
        self.running = 0

    def add(self, block: OprBlock) -> bool:
        """Enter `block` into the queue of every variable it names.

        Returns:
            Whether the caller must run it now; if not, a later `finish` hands it out, or it was a
            wait whose turn has come, or it was skipped.
        """
        opr = block.opr
        for part in opr.parts:
            self.seq = part.seq = self.seq + 1
        self.seq = block.seq = self.seq + 1
        self.pending += 1
        if opr.kind != DELETE:
            self.pending_bytes += block.size_bytes
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
        if opr.kind >= WAIT or alive:
            return bool(self._advance([block]))
        self.running += 1
        return True

    def finish(self, block: OprBlock, failure: Failure | None = None) -> list[OprBlock]:
        """Give back what `block` held, after it ran or failed.

        Returns:
            Blocks to run now.
        """
        opr = block.opr
        if failure is None and alive and opr.kind != GROUP:
            settle(opr.mutable_vars, None)
        if opr.kind == DELETE:
            opr.mutable_vars[0].close()
        running = 0 if opr.is_async else 1
        return self.end_claim(opr.const_vars, opr.mutable_vars, failure, block.size_bytes, running)

    def claim(self, const_vars: Sequence[Var], mutable_vars: Sequence[Var]) -> int:
        """Hold idle variables for a function that the caller runs at once, with no block made for it.

        Returns:
            Its place in the push order, for `end_claim`; 0 if some variable is not idle, or has no value.
        """
        for var in mutable_vars:
            if var.holders or var.failure is not None:
                return 0
        for var in const_vars:
            if var.failure is not None or (var.holders and (var.holders < 0 or var.queue)):
                return 0
        for var in mutable_vars:
            var.holders = -1
            var.version += 1
        for var in const_vars:
            var.holders += 1
        self.pending += 1
        self.running += 1
        self.seq += 1
        return self.seq

    def end_claim(
        self,
        const_vars: Sequence[Var],
        mutable_vars: Sequence[Var],
        failure: Failure | None,
        size_bytes: int = 0,
        running: int = 1,
    ) -> list[OprBlock]:
        """Give back what a claim or block held that counts as `running`; the blocks to run now."""
        self.running -= running
        if failure is not None:
            self.failures.record(failure)
            settle(mutable_vars, failure)
        ready: list[OprBlock] = []
        self._release(const_vars, mutable_vars, size_bytes, ready)
        return self._advance(ready) if ready else ready

    def _advance(self, ready: list[OprBlock]) -> list[OprBlock]:
        """Of the ready blocks, those to run; the others are done with here, and what they free follows."""
        runnable = []
        for block in ready:  # grows while it is walked
            opr = block.opr
            failure = inherited(block) if alive else None
            if opr.kind == WAIT:
                (var,) = opr.const_vars or opr.mutable_vars
                opr.fn(var.failure)
            elif failure is not None:
                settle(opr.mutable_vars, failure)
            else:
                if opr.kind == DELETE:
                    self.pending_bytes += block.size_bytes
                runnable.append(block)
                continue
            self._release(opr.const_vars, opr.mutable_vars, block.size_bytes, ready)
        self.running += len(runnable)
        return runnable

    def _release(
        self,
        const_vars: Sequence[Var],
        mutable_vars: Sequence[Var],
        size_bytes: int,
        ready: list[OprBlock],
    ) -> None:
        self.pending -= 1
        self.pending_bytes -= size_bytes
        for var in const_vars:
            var.holders -= 1
            if var.queue and var.holders == 0:
                _grant(var, ready)
        for var in mutable_vars:
            var.holders = 0
            if var.queue:
                _grant(var, ready)


def inherited(block: OprBlock) -> Failure | None:
    """The failure because of which `block` must be skipped: the earliest of those it would read."""
    opr = block.opr
    if opr.kind != RUN:
        return None
    found = [var.failure for var in (*opr.const_vars, *opr.updated_vars) if var.failure is not None]
    return min(found, key=attrgetter("seq"), default=None)


def settle(mutable_vars: Sequence[Var], failure: Failure | None) -> None:
    """Mark what a block that holds its variables would have written: spoilt, or clean again."""
    for var in mutable_vars:
        var.failure = failure


def _enter(block: OprBlock, var: Var, is_write: bool) -> None:
    if var.queue is None:
        var.queue = deque()
    var.queue.append((block, is_write))


def _grant(var: Var, ready: list[OprBlock]) -> None:
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
