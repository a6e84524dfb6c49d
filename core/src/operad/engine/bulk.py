"""Grouping of consecutive pushes into one engine operation.

A group names the union of its members' variables, so it is ordered as a whole, and it runs its members
one after another. Failures stay with the members: each is skipped, spoilt or made clean by itself, so
that grouping changes the number of queue steps and nothing that a program can observe.

Source: BulkStatus, src/engine/threaded_engine.h. Differs: there a failure fails the whole group.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import final

from operad.engine.operation import GROUP, FnProperty, Opr, OprBlock
from operad.engine.var import Var


@final
class Bulk:
    """The group that one thread is collecting.

    Args:
        size: Members after which it is full.
        owner: The engine whose pushes are grouped.
        push: Takes the group when it is to be pushed.
        outer: The group that the thread goes on with afterwards.
    """

    __slots__ = ("_push", "_writes", "outer", "owner", "parts", "size")

    def __init__(
        self, size: int, owner: object, push: Callable[[OprBlock], None], outer: Bulk | None = None
    ) -> None:
        self.owner = owner
        self.outer = outer
        self.size = size
        self._push = push
        self.parts: list[OprBlock] = []
        self._writes: dict[Var, bool] = {}  # whether any member mutates the variable

    def _accepts(self, block: OprBlock) -> bool:
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
            self._push(self._take())

    def _take(self) -> OprBlock:
        parts, writes = tuple(self.parts), self._writes
        self.parts, self._writes = [], {}
        const_vars = tuple(var for var, is_written in writes.items() if not is_written)
        mutable_vars = tuple(var for var, is_written in writes.items() if is_written)
        opr = Opr(_members, const_vars, mutable_vars, name="bulk", kind=GROUP, parts=parts)
        size_bytes = sum(part.size_bytes for part in parts)
        return OprBlock(opr, parts[0].ctx, -parts[0].order, size_bytes=size_bytes)


def _members() -> None:
    """The function of a group; engines run its members instead."""
