"""Grouping of consecutive pushes into one engine operation.

A group names the union of its members' variables, so it is ordered as a whole, and it runs its members
one after another. Failures stay with the members: each is skipped, spoilt or made clean by itself, so
that grouping changes the number of queue steps and nothing that a program can observe.

Source: BulkStatus, src/engine/threaded_engine.h. Differs: there a failure fails the whole group.
"""

from __future__ import annotations

from typing import final

from operad.engine.operation import GROUP, Block, FnProperty, Opr
from operad.engine.var import Var


@final
class Bulk:
    """The group that one thread is collecting.

    Args:
        size: Members after which it is full.
    """

    __slots__ = ("_writes", "parts", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.parts: list[Block] = []
        self._writes: dict[Var, bool] = {}  # whether any member mutates the variable

    @property
    def is_full(self) -> bool:
        """Whether the group must be pushed now."""
        return len(self.parts) >= self.size

    def accepts(self, block: Block) -> bool:
        """Whether `block` may join: a plain synchronous push like those before it."""
        opr = block.opr
        if opr.is_async or opr.prop is not FnProperty.NORMAL or block.profiling:
            return False
        if not self.parts:
            return True
        first = self.parts[0]
        return first.ctx is block.ctx and first.order == block.order

    def names(self, var: Var) -> bool:
        """Whether a member names `var`."""
        return var in self._writes

    def join(self, block: Block) -> None:
        """Take `block` as the last member."""
        self.parts.append(block)
        for var in block.opr.const_vars:
            self._writes.setdefault(var, False)
        for var in block.opr.mutable_vars:
            self._writes[var] = True

    def take(self) -> Block | None:
        """All members as one block, leaving the group empty; None if it is empty."""
        if not self.parts:
            return None
        parts, writes = tuple(self.parts), self._writes
        self.parts, self._writes = [], {}
        const_vars = tuple(var for var, is_written in writes.items() if not is_written)
        mutable_vars = tuple(var for var, is_written in writes.items() if is_written)
        opr = Opr(_members, const_vars, mutable_vars, name="bulk", kind=GROUP, parts=parts)
        return Block(opr, parts[0].ctx, -parts[0].order)


def _members() -> None:
    """The function of a group; engines run its members instead."""
