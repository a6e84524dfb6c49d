"""Lifetimes of values that need memory, and the inputs that outputs may overwrite.

A *buffer* is memory for one value, or for several that follow one another in place. This module
finds the buffers of a schedule; `memory` gives them places. Entries and nodes are numbers.

In-place: an output takes over the buffer of an input if the operator declares the pair, the two are
equally large, nothing else reads the input at that time or later, and every argument through which
the node reads that input is declared, so that `mul(x, x)` does not overwrite one operand while it
still needs the other.

A gradient that is added to a sum always takes over the sum's memory: no other node reads the sum. Where
the last of them is bound to an array of the caller's, so is every sum before it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, final

from operad.device import Context
from operad.errors import GraphError, ShapeError
from operad.graph.infer import ShapeTable, TypeTable
from operad.graph.ir import OpNode, Variable
from operad.graph.schedule import Schedule
from operad.graph.signature import Memo
from operad.op import BackwardEntry, OpReq

_NONE: Final[Mapping[int, int]] = {}


@final
class Buffer:
    """Memory for values that take it over from one another in place.

    Attributes:
        entries: The values, in the order they occupy it.
        size_bytes: What each of them needs.
        ctx: The device of the memory.
        touchers: Numbers of the nodes that write or read it, rising; one may stand twice.
    """

    __slots__ = ("ctx", "entries", "size_bytes", "touchers")

    def __init__(self, entry: int, size_bytes: int, ctx: Context, touchers: list[int]) -> None:
        self.entries = [entry]
        self.size_bytes = size_bytes
        self.ctx = ctx
        self.touchers = touchers


@final
class Liveness:
    """The buffers and requests of a schedule.

    Args:
        bound: The request for each entry that the caller bound to an array of its own.

    Attributes:
        buffers: All buffers, in the order they are first written.
        requests: The request of every entry; None for variables.
        bound: For each entry that lies in an array of the caller's, the entry that is bound to it.
        inplace: The input that each in-place output overwrites.
        lifetimes: First and last node of the life of every entry that has memory of the plan's.
    """

    def __init__(
        self,
        schedule: Schedule,
        shapes: ShapeTable,
        types: TypeTable,
        bound: Mapping[int, OpReq],
    ) -> None:
        self._schedule = schedule
        self._shapes = shapes.values
        self._types = types.values
        graph = self._graph = schedule.graph
        self._readers = self._find_readers()
        self._buffer_of: dict[int, Buffer] = {}
        self._pairs: Memo[list[tuple[int, int]]] = graph.memo.setdefault("pairs", Memo())
        self.buffers: list[Buffer] = []
        self.bound = {entry: entry for entry, request in bound.items() if request is not OpReq.NULL}
        self.inplace: dict[int, int] = {}
        self.lifetimes: dict[int, tuple[int, int]] = {}
        self._sums = self._find_sums()
        self._bind_sums()
        self.requests = self._find_requests(bound)
        for node_id, node in enumerate(graph.nodes):
            if isinstance(node, OpNode):
                self._visit(node_id, node)

    def _find_readers(self) -> list[list[int]]:
        """The nodes that read each entry, rising; one may stand twice."""
        readers: list[list[int]] = [[] for _ in self._shapes]
        for node_id, node in enumerate(self._graph.nodes):
            for entry in node.of_read(self._graph.input_ids[node_id]):
                readers[entry].append(node_id)
        return readers

    def _find_sums(self) -> dict[int, dict[int, int]]:
        """For each node that adds to sums, the outputs that it adds and the sum of each."""
        graph, first = self._graph, self._graph.first_entries
        return {
            node_id: {
                first[node_id] + index: entry
                for index, entry in zip(node.adds_to, node.of_sums(graph.input_ids[node_id]), strict=True)
            }
            for node_id, node in enumerate(graph.nodes)
            if isinstance(node, OpNode) and node.adds_to
        }

    def _bind_sums(self) -> None:
        """Let the sums that a bound gradient is added to lie in its array."""
        for sums in reversed(self._sums.values()):
            for target, source in sums.items():
                if len(self._readers[source]) > 1 or source in self.bound:
                    raise GraphError(
                        f"{self._graph.entries[source].name!r} is a sum that a gradient is added to in "
                        "place, and is read elsewhere too; add to a copy of it"
                    )
                if target in self.bound:
                    self.bound[source] = self.bound[target]

    def _find_requests(self, given: Mapping[int, OpReq]) -> list[OpReq | None]:
        found: list[OpReq | None] = [OpReq.WRITE if readers else OpReq.NULL for readers in self._readers]
        for entry, home in self.bound.items():
            if given[home] is OpReq.ADD and home == entry and self._readers[entry]:
                raise GraphError(
                    f"{self._graph.entries[entry].name!r} is to be added to an array, and is itself read by "
                    "other nodes; bind a copy of it"
                )
            found[entry] = given[home]
        for sums in self._sums.values():
            for entry in sums:
                found[entry] = OpReq.ADD
        for node, first in zip(self._graph.nodes, self._graph.first_entries, strict=False):
            if isinstance(node, Variable):
                found[first] = None
        return found

    def _visit(self, node_id: int, node: OpNode) -> None:
        first, requests = self._graph.first_entries[node_id], self.requests
        taken = self._pair_in_place(node_id, node)
        for entry in range(first, first + node.num_outputs):
            if requests[entry] is not OpReq.NULL and entry not in self.bound:
                self._allot(node_id, entry, taken.get(entry))

    def _allot(self, node_id: int, entry: int, overwritten: int | None) -> None:
        touchers = [node_id, *self._readers[entry]]
        self.lifetimes[entry] = (node_id, touchers[-1])
        if overwritten is not None:
            buffer = self._buffer_of[overwritten]
            buffer.entries.append(entry)
            buffer.touchers += touchers
            self.inplace[entry] = overwritten
            if self.requests[entry] is OpReq.WRITE:
                self.requests[entry] = OpReq.INPLACE
        else:
            ctx = self._schedule.contexts[node_id]
            buffer = Buffer(entry, self.size_bytes(entry), ctx, touchers)
            self.buffers.append(buffer)
        self._buffer_of[entry] = buffer

    def size_bytes(self, entry: int) -> int:
        """Memory that a value needs."""
        shape, dtype = self._shapes[entry], self._types[entry]
        if shape is None or None in shape or dtype is None:
            raise ShapeError(
                f"cannot plan memory: {self._graph.entries[entry].name!r} has shape {shape} and type "
                f"{dtype}; give the shapes of more arguments"
            )
        return math.prod(shape) * dtype.itemsize  # type: ignore[arg-type]  # all known

    def _pair_in_place(self, node_id: int, node: OpNode) -> Mapping[int, int]:
        """Output to the input it overwrites."""
        # invariant: a sum is read by no node but the one that adds to it, and made on the same context
        sums = self._sums.get(node_id, _NONE)
        pairs = self._pairs.get(node.signature, inplace_pairs, node)
        if not pairs:
            return sums
        taken = dict(sums)
        first, inputs = self._graph.first_entries[node_id], self._graph.input_ids[node_id]
        for position, index in pairs:
            source, target = inputs[position], first + index
            if self.requests[target] is not OpReq.WRITE or target in taken or target in self.bound:
                continue
            if (
                self._can_overwrite(node_id, source, target)
                and source not in taken.values()
                and all((at, index) in pairs for at, entry in enumerate(inputs) if entry == source)
            ):
                taken[target] = source
        return taken

    def _can_overwrite(self, node_id: int, source: int, target: int) -> bool:
        buffer, readers = self._buffer_of.get(source), self._readers[source]
        # A reader behind this node has not ended when it begins.
        if buffer is None or readers[-1] > node_id or buffer.entries[-1] != source:
            return False
        if buffer.ctx is not self._schedule.contexts[node_id] or self._types[source] != self._types[target]:
            return False
        if buffer.size_bytes != self.size_bytes(target):
            return False
        # Each node that touched the buffer before `source` did precedes its producer.
        touchers = [self.lifetimes[source][0], *readers]
        return self._schedule.all_precede([toucher for toucher in touchers if toucher != node_id], node_id)


def inplace_pairs(node: OpNode) -> list[tuple[int, int]]:
    """The pairs (index of an input, index of an output) that the node's operator lets share memory.

    The operator is asked with roles, not entries, since one entry may play several of them.
    """
    ins, outs = _roles("in_data", node.num_args), _roles("out_data", node.num_outputs)
    found = node.op.forward_inplace_option(ins, outs)
    return [(ins.index(read), outs.index(write)) for read, write in found]


def _roles(kind: str, count: int) -> list[BackwardEntry]:
    return [BackwardEntry(kind, index) for index in range(count)]
