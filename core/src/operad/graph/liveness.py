"""Which values need memory, from when to when, and which may overwrite an input.

A *buffer* is memory for one value, or for several that follow one another in place. This module
finds the buffers of a schedule; `memory` gives them places. Entries and steps are numbers.

In-place: an output takes over the buffer of an input if the operator declares the pair, the two are
equally large, nothing else reads the input at that time or later, and every argument through which
the node reads that input is declared, so that `mul(x, x)` does not overwrite one operand while it
still needs the other.

A gradient that is added to a sum always takes over the sum's memory: nobody else reads the sum. Where
the last of them is bound to an array of the caller's, so is every sum before it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import final

from operad.device import Context
from operad.errors import GraphError, ShapeError
from operad.graph.infer import ShapeTable, TypeTable
from operad.graph.ir import Node, OpNode
from operad.graph.schedule import Schedule
from operad.graph.signature import Answers
from operad.op import BackwardEntry, OpReq


@final
class Buffer:
    """Memory for values that take it over from one another in place.

    Attributes:
        entries: The values, in the order they occupy it.
        size_bytes: What each of them needs.
        ctx: The device of the memory.
        touchers: Steps of the nodes that write or read it, rising; a step may stand twice.
        is_pinned: Whether the last value lives to the end.
    """

    __slots__ = ("ctx", "entries", "is_pinned", "size_bytes", "touchers")

    def __init__(
        self, entry: int, size_bytes: int, ctx: Context, touchers: list[int], is_pinned: bool
    ) -> None:
        self.entries = [entry]
        self.size_bytes = size_bytes
        self.ctx = ctx
        self.touchers = touchers
        self.is_pinned = is_pinned


@final
class Liveness:
    """The buffers and requests of a schedule.

    Args:
        pinned: Entries that live to the end.
        bound: The request for each entry that the caller bound to an array of its own.

    Attributes:
        buffers: All buffers, in the order they are first written.
        requests: The request of every entry; None for variables.
        bound: For each entry that lies in an array of the caller's, the entry that is bound to it.
        inplace: The input that each in-place output overwrites.
        lifetimes: First and last step of every entry that has memory of the plan's.
    """

    def __init__(
        self,
        schedule: Schedule,
        shapes: ShapeTable,
        types: TypeTable,
        pinned: Collection[int],
        bound: Mapping[int, OpReq],
    ) -> None:
        self._schedule = schedule
        self._shapes = shapes.values
        self._types = types.values
        self._pinned = frozenset(pinned)
        self._given = bound
        graph = self._graph = schedule.graph
        self._readers = self._find_readers()
        self._buffer_of: dict[int, Buffer] = {}
        self._pairs: Answers[list[tuple[int, int]]] = Answers()
        self.buffers: list[Buffer] = []
        self.requests: list[OpReq | None] = [None] * graph.first_entries[-1]
        self.bound = {entry: entry for entry, request in bound.items() if request is not OpReq.NULL}
        self.inplace: dict[int, int] = {}
        self.lifetimes: dict[int, tuple[int, int]] = {}
        self._bind_sums()
        for step, node in enumerate(graph.nodes):
            if schedule.partitions[step] >= 0:
                self._visit(step, node)

    def _find_readers(self) -> list[list[int]]:
        readers: list[list[int]] = [[] for _ in self._shapes]
        for step, node in enumerate(self._graph.nodes):
            for entry in node.of_read(self._graph.input_ids[step]):
                readers[entry].append(step)
        return readers

    def _bind_sums(self) -> None:
        """Let the sums that a bound gradient is added to lie in its array."""
        for step in range(len(self._schedule) - 1, -1, -1):
            for target, source in self._sums(step):
                if len(self._readers[source]) > 1 or source in self._pinned or source in self.bound:
                    raise GraphError(
                        f"{self._graph.entries[source].name!r} is a sum that a gradient is added to in "
                        "place, and is read elsewhere too; add to a copy of it"
                    )
                if target in self.bound:
                    self.bound[source] = self.bound[target]

    def _sums(self, step: int) -> list[tuple[int, int]]:
        """Each output of a node that is added to a sum, and that sum."""
        node = self._graph.nodes[step]
        if not isinstance(node, OpNode) or not node.adds_to:
            return []
        first, sums = self._graph.first_entries[step], node.of_sums(self._graph.input_ids[step])
        return [(first + index, entry) for index, entry in zip(node.adds_to, sums, strict=True)]

    def _visit(self, step: int, node: Node) -> None:
        first = self._graph.first_entries[step]
        sums = dict(self._sums(step))
        for entry in range(first, first + node.num_outputs):
            self._request(entry, entry in sums)
        taken = self._pair_in_place(step, node, sums)
        for entry in range(first, first + node.num_outputs):
            if self.requests[entry] is not OpReq.NULL and entry not in self.bound:
                self._allot(step, entry, taken.get(entry))

    def _request(self, entry: int, is_added: bool) -> None:
        home = self.bound.get(entry)
        is_read = bool(self._readers[entry]) or entry in self._pinned
        if home is None:
            request = OpReq.WRITE if is_read else OpReq.NULL
        else:
            request = self._given[home]
            if request is OpReq.ADD and is_read and home == entry:
                raise GraphError(
                    f"{self._graph.entries[entry].name!r} is to be added to an array, and is itself read by "
                    "other nodes; bind a copy of it"
                )
        self.requests[entry] = OpReq.ADD if is_added else request

    def _allot(self, step: int, entry: int, overwritten: int | None) -> None:
        readers = self._readers[entry]
        is_pinned = entry in self._pinned
        self.lifetimes[entry] = (step, len(self._schedule) if is_pinned else max(readers, default=step))
        if overwritten is not None:
            buffer = self._buffer_of[overwritten]
            buffer.entries.append(entry)
            buffer.touchers += [step, *readers]
            buffer.is_pinned = is_pinned
            self.inplace[entry] = overwritten
            if self.requests[entry] is OpReq.WRITE:
                self.requests[entry] = OpReq.INPLACE
        else:
            ctx = self._schedule.contexts[step]
            buffer = Buffer(entry, self.size_bytes(entry), ctx, [step, *readers], is_pinned)
            self.buffers.append(buffer)
        self._buffer_of[entry] = buffer

    def size_bytes(self, entry: int) -> int:
        """What a value needs."""
        shape, dtype = self._shapes[entry], self._types[entry]
        if shape is None or None in shape or dtype is None:
            raise ShapeError(
                f"cannot plan memory: {self._graph.entries[entry].name!r} has shape {shape} and type "
                f"{dtype}; give the shapes of more arguments"
            )
        return math.prod(shape) * dtype.itemsize  # type: ignore[arg-type]  # all known

    def _pair_in_place(self, step: int, node: Node, sums: Mapping[int, int]) -> dict[int, int]:
        """Output to the input it overwrites."""
        # invariant: a sum is read by nobody but the node that adds to it, and made on the same context
        taken = dict(sums)
        first, inputs = self._graph.first_entries[step], self._graph.input_ids[step]
        assert isinstance(node, OpNode)
        pairs = self._pairs.get(node.signature, inplace_pairs, node)
        for place, index in pairs:
            source, target = inputs[place], first + index
            if target in taken or source in taken.values() or target in self.bound:
                continue
            if self.requests[target] is not OpReq.WRITE:
                continue
            if all((at, index) in pairs for at, entry in enumerate(inputs) if entry == source) and (
                self._can_overwrite(step, source, target)
            ):
                taken[target] = source
        return taken

    def _can_overwrite(self, step: int, source: int, target: int) -> bool:
        buffer = self._buffer_of.get(source)
        if buffer is None or buffer.is_pinned or buffer.entries[-1] != source:
            return False
        if buffer.ctx is not self._schedule.contexts[step] or self._types[source] != self._types[target]:
            return False
        if buffer.size_bytes != self.size_bytes(target):
            return False
        # Whoever touched the buffer before `source` did precedes its producer.
        touchers = [self.lifetimes[source][0], *self._readers[source]]
        return self._schedule.all_precede([toucher for toucher in touchers if toucher != step], step)


def inplace_pairs(node: OpNode) -> list[tuple[int, int]]:
    """The pairs (index of an input, index of an output) that the node's operator lets share memory.

    The operator is asked with roles, not entries, since one entry may play several of them.
    """
    ins, outs = _roles("in_data", node.num_args), _roles("out_data", node.num_outputs)
    found = node.op.forward_inplace_option(ins, outs)
    return [(ins.index(read), outs.index(write)) for read, write in found]


def _roles(kind: str, count: int) -> list[BackwardEntry]:
    return [BackwardEntry(kind, index) for index in range(count)]
