"""Variables and the dependency queue: the ordering rule, with no thread in it.

*Two functions, one of which mutates a variable that the other names, run in push order; everything
else may run in parallel.*

Every variable keeps a first-in first-out queue of blocks that asked for it and who holds it now: any
number of readers, or one writer. Every block counts the variables it still waits for and is ready at
zero. A variable is granted at once while its queue is empty and the holders allow it, so the usual
push touches two integers and allocates nothing; the `deque` appears when something really waits.
Because a block enters all its queues in one step (the engine's push lock), the push order is the
same in every queue and no cycle of waits can form.

What the queue itself touches is not safe for two threads at once; see `dispatch` for who calls it. Its
methods may be ended by an exception and started over, as `lock` says: a block's `position`, `waiting` and
`given` say how far it has come, and counts are the last thing to change where they could not be told from it.
`DependencyQueue` decides what may run and what must be skipped because of a failure; the caller
decides who runs it. It calls no other part and blocks nowhere, and so is tested alone.

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
from operad.engine.operation import DELETE, DONE, LEAVING, NEW, OFFERED, RUN, TAKEN, WAIT, OprBlock
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
            count as one, and more than once if another thread asks for that; see `recount_writes`.)

    The other slots belong to the engine.
    """

    # invariant: `queue` is empty when no block holds the variable.
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
    """Order of blocks by the variables they name. Not thread-safe: callers hold one lock around every call.

    Attributes:
        seq: Blocks and claims added so far.
        pending: Blocks and claims that are neither finished nor skipped.
        below: The operations of the calling thread inside which this process was forked, each with its `seq`:
            they end when the child returns from them, and are not waited for.
        pending_bytes: Memory that they keep in use, as far as their pushers said; a deletion's from when its
            turn has come, since until then an operation keeps it.
        running: Those of them that were handed out and have not come to rest. An asynchronous block
            comes to rest when its function has returned, though it stays pending until it is completed.
        ready: Blocks that were granted all their variables, and were not handed out; a block that still
            waits is none of them.
        failures: What went wrong.
        revision: Another object whenever a push that has begun is to look at its variables again: one was
            deleted, or writes are counted again. Any thread may ask.
    """

    __slots__ = ("below", "failures", "pending", "pending_bytes", "ready", "revision", "running", "seq")

    def __init__(self) -> None:
        self.seq = 0
        self.failures = FailureLog()
        self.revision = object()
        self.ready: deque[OprBlock] = deque()
        self.pending = 0
        self.pending_bytes = 0
        self.running = 0
        self.below: list[tuple[OprBlock, int]] = []

    @property
    def is_done(self) -> bool:
        """Return whether nothing is pending that may be waited for."""
        return self.pending <= len(self.below) and self.pending == self._num_below()

    @property
    def is_at_rest(self) -> bool:
        """Return whether nothing runs that may be waited for."""
        return self.running <= len(self.below) and self.running == self._num_below()

    def _num_below(self) -> int:
        """Number of those `below` that have not ended; a claim is used again, with another `seq`."""
        return sum(block.seq == seq and block.state != DONE for block, seq in self.below)

    def add(self, block: OprBlock) -> bool:  # noqa: PLR0915 - a function more is a call more
        """Enter `block` into the queue of every variable it names; whether it is to be run at once."""
        opr = block.opr
        consts, mutables, position, waiting = opr.const_vars, opr.mutable_vars, 0, 0
        if block.seq:  # started over
            position, waiting = block.position, block.waiting
            consts, mutables = consts[position:], mutables[max(0, position - len(consts)) :]
        else:
            seq, pending, size_bytes = self.seq + 1, self.pending + 1, self.pending_bytes
            if opr.kind != DELETE:
                size_bytes += block.size_bytes
            # commit: begin
            self.seq = block.seq = seq
            self.pending = pending
            self.pending_bytes = size_bytes
            # commit: end
        try:
            for var in consts:
                count = position + 1
                if var.holders >= 0 and not var.queue:
                    holders = var.holders + 1
                    # commit: begin
                    var.holders = holders
                    position = count
                    # commit: end
                else:
                    missing = waiting + 1
                    _enter(block, var, False)
                    # commit: begin
                    waiting = missing
                    position = count
                    # commit: end
            for var in mutables:
                count = position + 1
                if var.holders == 0:
                    # commit: begin
                    var.holders = -1
                    position = count
                    # commit: end
                else:
                    missing = waiting + 1
                    _enter(block, var, True)
                    # commit: begin
                    waiting = missing
                    position = count
                    # commit: end
        finally:
            # commit: begin
            block.position = position
            block.waiting = waiting
            # commit: end
        if waiting:
            return False
        if block.state or alive or opr.kind >= WAIT:
            return self.hand_out(block)
        running = self.running + 1
        # commit: begin
        self.running = running
        block.state = OFFERED
        # commit: end
        return True

    def hand_out(self, block: OprBlock) -> bool:
        """Count a ready block as running; False if it is done with here, as waits and skipped blocks are."""
        state, opr = block.state, block.opr
        if state:  # started over
            if state == LEAVING:
                self.release(block, 0)
            return state == OFFERED
        if opr.kind == WAIT:
            (var,) = opr.const_vars or opr.mutable_vars
            opr.fn(var.failure)
            self.release(block, 0)
            return False
        if alive and (failure := inherited(block)) is not None:
            set_failure(opr.mutable_vars, failure)
            self.release(block, 0)
            return False
        running, size_bytes = self.running + 1, self.pending_bytes
        if opr.kind == DELETE:
            size_bytes += block.size_bytes
        # commit: begin
        self.running = running
        self.pending_bytes = size_bytes
        block.state = OFFERED
        # commit: end
        return True

    def conclude(self, block: OprBlock) -> None:
        """Note how a block ended that RAN, in what it would have written."""
        opr, failure = block.opr, block.error
        if failure is not None:
            assert isinstance(failure, Failure)
            self.failures.record(failure)
            set_failure(opr.mutable_vars, failure)
        elif alive:
            set_failure(opr.mutable_vars, None)
        if opr.kind == DELETE:
            opr.mutable_vars[0].close()

    def claim(self, claim: OprBlock) -> None:
        """Hold idle variables for a function that the caller runs at once: `claim` is TAKEN then.

        It stays DONE if some variable is not idle, or has no value. However this ends, `release` gives back
        what it holds unless it is DONE.
        """
        consts, mutables, position = claim.opr.const_vars, claim.opr.mutable_vars, 0
        for var in mutables:
            if var.holders or var.failure is not None:
                return
        for var in consts:
            if var.failure is not None or (var.holders and (var.holders < 0 or var.queue)):
                return
        seq, pending, running = self.seq + 1, self.pending + 1, self.running + 1
        try:
            # commit: begin
            self.seq = claim.seq = seq
            self.pending = pending
            self.running = running
            claim.given = 0
            claim.state = LEAVING
            # commit: end
            for var in consts:
                count, holders = position + 1, var.holders + 1
                # commit: begin
                var.holders = holders
                position = count
                # commit: end
            for var in mutables:
                count, version = position + 1, var.version + 1
                # commit: begin
                var.holders = -1
                var.version = version
                position = count
                # commit: end
            claim.state = TAKEN
        finally:
            claim.position = position

    def release(self, block: OprBlock, running: int) -> None:
        """Give the variables back, and grant them to who waits for them.

        Args:
            block: Holds them: it RAN, was skipped, or is LEAVING; also a claim that was not completed.
            running: 1 if it counts as running, else 0.
        """
        opr, given, is_wanted = block.opr, 0, False
        consts, mutables = opr.const_vars, opr.mutable_vars
        if block.state == LEAVING:  # started over, or a claim that was not completed
            given, is_wanted = block.given, True
            split = len(consts)
            consts, mutables = (
                consts[given : block.position],
                mutables[max(0, given - split) : block.position - split],
            )
            if block.position <= split:
                mutables = ()
        pending, size_bytes = self.pending - 1, self.pending_bytes - block.size_bytes
        running = self.running - running
        try:
            block.state = LEAVING
            for var in consts:
                count, holders = given + 1, var.holders - 1
                if var.queue:
                    is_wanted = True
                # commit: begin
                var.holders = holders
                given = count
                # commit: end
            for var in mutables:
                count = given + 1
                if var.queue:
                    is_wanted = True
                # commit: begin
                var.holders = 0
                given = count
                # commit: end
        finally:
            block.given = given
        if is_wanted:
            for var in (*opr.const_vars, *opr.mutable_vars):
                if var.queue:
                    _grant(var, self.ready)
        # commit: begin
        self.pending = pending
        self.pending_bytes = size_bytes
        self.running = running
        block.state = DONE
        # commit: end

    def give_up(self, block: OprBlock, failure: Failure) -> None:
        """Be done with a block of which a step always raises: what it would have written has failed."""
        opr = block.opr
        self.failures.record(failure)
        set_failure(opr.mutable_vars, failure)
        named = [(var, False) for var in opr.const_vars] + [(var, True) for var in opr.mutable_vars]
        given = block.given if block.state == LEAVING else 0
        for var, is_write in named[given : block.position]:
            queued = [entry for entry in var.queue or () if entry[0] is block]
            if queued and var.queue is not None:
                var.queue.remove(queued[0])
            else:
                var.holders = 0 if is_write else var.holders - 1
            _grant(var, self.ready)
        self.pending -= 1
        self.running -= block.state not in (NEW, DONE) and not opr.is_async
        block.state = DONE


def inherited(block: OprBlock) -> Failure | None:
    """The failure because of which `block` must be skipped: the earliest of those it would read."""
    opr = block.opr
    if opr.kind != RUN:
        return None
    found = [var.failure for var in (*opr.const_vars, *opr.updated_vars) if var.failure is not None]
    return min(found, key=attrgetter("seq"), default=None)


def set_failure(mutable_vars: Sequence[Var], failure: Failure | None) -> None:
    """Mark what a block that holds its variables would have written: failed, or cleared."""
    for var in mutable_vars:
        var.failure = failure


def _enter(block: OprBlock, var: Var, is_write: bool) -> None:
    """Put `block` at the end of the variable's queue, unless a step that was ended has done so."""
    queue = var.queue
    if queue is None:
        queue = var.queue = deque()
    if not queue or queue[-1][0] is not block:
        queue.append((block, is_write))


def _grant(var: Var, ready: deque[OprBlock]) -> None:
    """Hand a variable to the head of its queue while that may be: one writer, or all readers before one."""
    queue = var.queue
    while queue:
        block, is_write = queue[0]
        if var.holders if is_write else var.holders < 0:
            return
        waiting, holders = block.waiting - 1, -1 if is_write else var.holders + 1
        if not waiting and not (ready and ready[-1] is block):
            ready.append(block)
        # commit: begin
        del queue[0]
        var.holders = holders
        block.waiting = waiting
        # commit: end
