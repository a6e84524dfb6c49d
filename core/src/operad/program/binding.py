"""Positions of all entries of a program: the caller's arrays, and views into planned blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, final

from operad import engine
from operad.engine import Var
from operad.graph import Block, OpNode
from operad.imperative import Array, Chunk, new_chunk
from operad.op import Operator
from operad.program.program import Program


@final
class Owner:
    """Owner of the values that lie in memory which several bindings share.

    Attributes:
        binding: The one that ran last.
    """

    __slots__ = ("binding",)

    def __init__(self) -> None:
        self.binding: object = None


class Pool(NamedTuple):
    """Blocks that another binding may use, and who wrote them last."""

    chunks: Sequence[Chunk]
    owner: Owner


@final
class Binding:
    """A program with its memory and operators.

    Attributes:
        program: What is bound.
        operators: By number, the operator of each node that applies one.
        state_vars: By number, the engine variable of what a stateful operator keeps. Forward writes it and
            backward reads it, also where the two have no array in common.
        chunks: The planned blocks, by block id.
    """

    def __init__(
        self,
        program: Program,
        arrays: Mapping[int, Array],
        operators: Mapping[int, Operator],
        pool: Pool | None = None,
        state_vars: Mapping[int, Var] | None = None,
    ) -> None:
        """Lay a program out.

        Args:
            arrays: An array for every entry that the plan says is bound, and for the variables.
            operators: By number, for all nodes that will run and those they are the gradients of.
            pool: Blocks to use where one is large enough.
            state_vars: Those of operators that have run elsewhere; None: all operators are new.
        """
        self.program = program
        self.operators = operators
        self.state_vars = _new_state_vars(program, operators) if state_vars is None else state_vars
        self._arrays = dict(arrays)
        for entry, home in program.aliased_entries:
            if home in arrays:
                self._arrays[entry] = arrays[home]
        self._views: dict[int, Any] = {}
        self.chunks = self._blocks(() if pool is None else pool.chunks)
        self._owner = Owner() if pool is None else pool.owner

    @property
    def pool(self) -> Pool:
        """The blocks, for another binding to share."""
        return Pool(list(self.chunks.values()), self._owner)

    def take_ownership(self) -> None:
        """Note that this binding's values are now in the shared memory."""
        self._owner.binding = self

    @property
    def is_owner(self) -> bool:
        """Return whether this binding's values are still there."""
        return not self.chunks or self._owner.binding is self

    def _blocks(self, pool: Sequence[Chunk]) -> dict[int, Chunk]:
        """A chunk for every block, from `pool` where one is large enough: the closest fit."""
        free = sorted(pool, key=_capacity)
        chunks = {}
        for block in sorted(self.program.plan.blocks, key=lambda block: -block.size_bytes):
            fits = [chunk for chunk in free if _fits(chunk, block)]
            if fits:
                free.remove(fits[0])
            chunks[block.id] = fits[0] if fits else new_chunk(block.ctx, block.size_bytes)
        return chunks

    def array_of(self, entry: int) -> Array | None:
        """The array that the caller bound the entry to, if any."""
        return self._arrays.get(entry)

    def data_of(self, entries: Iterable[int]) -> list[Any]:
        """The plain arrays of entries."""
        arrays, views = self._arrays, self._views
        return [
            arrays[e]._data if e in arrays else views[e] if e in views else self._view(e) for e in entries
        ]

    def _view(self, entry: int) -> Any:
        placement, spec = self.program.plan.placements[entry], self.program.spec(entry)
        assert placement is not None
        lease = self.chunks[placement.block].lease
        assert lease is not None
        part = lease.handle.buffer[placement.offset_bytes : placement.offset_bytes + placement.size_bytes]
        view = self._views[entry] = part.view(spec.dtype).reshape(spec.shape)
        return view

    def is_part(self, entry: int) -> bool:
        """Return whether an entry lies in a part of an array of the caller's."""
        bound = self._arrays.get(entry)
        return bound is not None and bound._is_part

    def var(self, entry: int) -> Var:
        """The engine variable of the memory an entry lies in."""
        return self.chunk(entry).var

    def vars_of(self, entries: Iterable[int]) -> list[Var]:
        """The engine variables of entries."""
        arrays = self._arrays
        return [arrays[e]._chunk.var if e in arrays else self.var(e) for e in entries]

    def chunk(self, entry: int) -> Chunk:
        """The chunk that an entry lies in."""
        bound = self._arrays.get(entry)
        if bound is not None:
            return bound._chunk
        placement = self.program.plan.placements[entry]
        assert placement is not None
        return self.chunks[placement.block]


def _new_state_vars(program: Program, node_ids: Iterable[int]) -> dict[int, Var]:
    nodes = program.numbered.nodes
    return {
        node_id: engine.get().new_variable()
        for node_id in node_ids
        if isinstance(node := nodes[node_id], OpNode) and node.op.is_stateful
    }


def _fits(chunk: Chunk, block: Block) -> bool:
    handle = chunk.lease and chunk.lease.handle
    return handle is not None and handle.ctx is block.ctx and handle.capacity_bytes >= block.size_bytes


def _capacity(chunk: Chunk) -> int:
    return 0 if chunk.lease is None else chunk.lease.handle.capacity_bytes
