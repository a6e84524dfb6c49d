"""Where every entry of a bound program lies: the caller's arrays, and views into planned blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

from operad.engine import Var
from operad.executor.program import Program
from operad.graph import Entry
from operad.imperative import Chunk, new_chunk
from operad.ndarray import NDArray, empty


@final
class Turn:
    """Whose values lie in memory that several executors share.

    Attributes:
        holder: The ticket of the executor that ran last.
    """

    __slots__ = ("holder",)

    def __init__(self) -> None:
        self.holder: object = None


class Pool(NamedTuple):
    """Blocks that another executor may use, and the turn that all their users share."""

    chunks: Sequence[Chunk]
    turn: Turn


@final
class Layout:
    """The memory of one executor.

    Attributes:
        bound: Entries that whole arrays hold: variables, gradients, outputs.
        chunks: The planned blocks, by block id.
    """

    def __init__(self, program: Program, bound: Mapping[Entry, NDArray], pool: Pool | None) -> None:
        self._program = program
        self.bound = dict(bound)
        for entry in program.outputs:
            if entry not in self.bound:
                ctx = program.contexts[entry.node]
                self.bound[entry] = empty(program.shapes[entry], ctx, program.types[entry])
        self.chunks = self._blocks(() if pool is None else pool.chunks)
        self._turn = Turn() if pool is None else pool.turn
        self._ticket = object()

    @property
    def pool(self) -> Pool:
        """The blocks, for another executor to share."""
        return Pool(list(self.chunks.values()), self._turn)

    def take_turn(self) -> None:
        """Note that this executor's values are now in the shared memory."""
        if self.chunks:
            self._turn.holder = self._ticket

    @property
    def has_turn(self) -> bool:
        """Whether this executor's values are still there."""
        return not self.chunks or self._turn.holder is self._ticket

    def _blocks(self, pool: Sequence[Chunk]) -> dict[int, Chunk]:
        """A chunk for every block, from `pool` where one is large enough: the closest fit."""
        free = sorted(pool, key=_capacity)
        chunks = {}
        for block in sorted(self._program.plan.blocks, key=lambda block: -block.size_bytes):
            fits = [c for c in free if c.ctx is block.ctx and _capacity(c) >= block.size_bytes]
            if fits:
                free.remove(fits[0])
            chunks[block.id] = fits[0] if fits else new_chunk(block.ctx, block.size_bytes)
        return chunks

    def array(self, entry: Entry) -> Any:
        """The plain array of an entry."""
        if entry in self.bound:
            return self.bound[entry]._data
        place = self._program.plan.placement[entry]
        handle = self.chunks[place.block].handle
        assert handle is not None
        shape, dtype = self._program.shapes[entry], self._program.types[entry]
        return (
            handle.buffer[place.offset_bytes : place.offset_bytes + place.size_bytes]
            .view(dtype)
            .reshape(shape)
        )

    def is_part(self, entry: Entry) -> bool:
        """Whether an entry lies in a part of an array of the caller's."""
        return entry in self.bound and self.bound[entry]._is_part

    def var(self, entry: Entry) -> Var:
        """The engine variable of the memory an entry lies in."""
        if entry in self.bound:
            return self.bound[entry]._chunk.var
        return self.chunks[self._program.plan.placement[entry].block].var


def _capacity(chunk: Chunk) -> int:
    return 0 if chunk.handle is None else chunk.handle.capacity_bytes
