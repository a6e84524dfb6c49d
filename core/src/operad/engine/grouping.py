"""Grouping of consecutive pushes into one engine operation.

A group names the union of its members' variables, so it is ordered as a whole, and it runs its members
one after another. Failures stay with the members: each is skipped, spoilt or made clean by itself, so
that grouping changes the number of queue steps and nothing that a program can observe.

Source: BulkStatus, src/engine/threaded_engine.h. Differs: there a failure fails the whole group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, final

from operad.engine.lock import BULK
from operad.engine.operation import GROUP, FnProperty, Opr, OprBlock
from operad.engine.thread import local
from operad.engine.var import Var
from operad.errors import EngineError

if TYPE_CHECKING:
    from operad.engine.engine import Engine

open_groups: Final[list[Bulk]] = []
"""The groups that any thread is collecting; changed by single atomic steps."""


@final
class Bulk:
    """The group that one thread is collecting; see `Engine.bulk`.

    Args:
        size: Members after which it is full.
        owner: The engine whose pushes are grouped.

    Attributes:
        is_lasting: Whether the thread collects until `set_bulk_size` ends it, and not to the end of a `with`.
        outer: The group that the thread goes on with afterwards.
    """

    __slots__ = ("_later", "_leaving", "_writes", "is_lasting", "outer", "owner", "parts", "size")

    def __init__(self, size: int, owner: Engine) -> None:
        if size < 1:
            raise EngineError(f"bulk({size}): a group has at least 1 member")
        self.owner = owner
        self.is_lasting = False
        self.outer: Bulk | None = None
        self.size = size
        self.parts: list[OprBlock] = []
        self._writes: dict[Var, bool] = {}  # whether any member mutates the variable
        self._leaving: list[dict[Var, bool]] = []  # names of members that are just being pushed
        self._later: deque[Callable[[], object]] = deque()

    def __enter__(self) -> None:
        thread = local.state
        thread.flush()
        self.outer = thread.bulk
        self.owner.lock.blockers.append(BULK)
        open_groups.append(self)
        thread.bulk = self

    def __exit__(self, *_: object) -> None:
        self.flush()
        local.state.bulk = self.outer
        open_groups.remove(self)
        self.owner.in_force().lock.blockers.remove(BULK)

    def names(self, var: Var) -> bool:
        """Whether a member names `var`; any thread may ask.

        invariant: a member's names are seen here or in the queue, at every moment since its push. So
        whoever asks about both asks here first.
        """
        return var in self._writes or any(var in writes for writes in self._leaving)

    def once_pushed(self, var: Var, act: Callable[[], object]) -> None:
        """Call `act` when the members that name `var` are pushed: here, or in the group's thread."""
        self._later.append(act)
        # invariant: the group's thread clears the names first and looks for calls after. So either it
        # finds this one, or this thread finds the name gone.
        if not self.names(var):
            self._call_later()

    def _call_later(self) -> None:
        while True:
            try:
                act = self._later.popleft()
            except IndexError:  # perhaps another thread took the last one
                return
            act()

    def _accepts(self, block: OprBlock) -> bool:
        """Whether `block` may join: a plain synchronous push like those before it."""
        opr = block.opr
        if opr.is_async or opr.prop is not FnProperty.NORMAL or block.profiling:
            return False
        if not self.parts:
            return True
        first = self.parts[0]
        return first.ctx is block.ctx and first.order == block.order

    def join(self, block: OprBlock) -> bool:
        """Take `block` as the last member, or push the group before it; whether `block` was taken."""
        if not self._accepts(block):
            self.flush()
            if not self._accepts(block):
                return False
        self.parts.append(block)
        for var in block.opr.const_vars:
            self._writes.setdefault(var, False)
        for var in block.opr.mutable_vars:
            self._writes[var] = True
        if len(self.parts) >= self.size:
            self.flush()
        return True

    def flush(self) -> None:
        """Push the members, if there are any, as one block."""
        if self.parts:
            parts, writes = self.parts, self._writes
            self._leaving.append(writes)
            self.parts, self._writes = [], {}
            self.owner.in_force().submit(_group(tuple(parts), writes))
            self._leaving.pop()
        if self._later:
            self._call_later()


def _group(parts: tuple[OprBlock, ...], writes: dict[Var, bool]) -> OprBlock:
    const_vars = tuple(var for var, is_written in writes.items() if not is_written)
    mutable_vars = tuple(var for var, is_written in writes.items() if is_written)
    opr = Opr(_members, const_vars, mutable_vars, name="bulk", kind=GROUP, parts=parts)
    size_bytes = sum(part.size_bytes for part in parts)
    return OprBlock(opr, parts[0].ctx, -parts[0].order, size_bytes=size_bytes)


def _members() -> None:
    """The function of a group; engines run its members instead."""
