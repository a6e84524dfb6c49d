"""Which values need memory, from when to when, and which may overwrite an input.

A *buffer* is memory for one value, or for several that follow one another in place. This module
finds the buffers of an ordered list of nodes; `memory` gives them places.

In-place: an output takes over the buffer of an input if the operator declares the pair, the two are
equally large, nothing else reads the input at that time or later, and every argument through which
the node reads that input is declared, so that `mul(x, x)` does not overwrite one operand while it
still needs the other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, final

from operad.context import Context
from operad.errors import GraphError, ShapeError
from operad.graph.infer import ShapeTable, TypeTable
from operad.graph.ir import BackwardNode, Entry, Node, OpNode, Variable
from operad.graph.steps import Steps, is_wanted, values_read
from operad.operator import BackwardEntry, OpReq


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
        self, entry: Entry, size_bytes: int, ctx: Context, touchers: list[int], is_pinned: bool
    ) -> None:
        self.entries = [entry]
        self.size_bytes = size_bytes
        self.ctx = ctx
        self.touchers = touchers
        self.is_pinned = is_pinned


@final
class Liveness:
    """The buffers and requests of an ordered list of nodes.

    Args:
        pinned: Entries that live to the end.
        bound: The request for each entry that the caller bound to an array of its own.

    Attributes:
        buffers: All buffers, in the order they are first written.
        requests: The request of every entry that a node of the list has.
        inplace: The input that each in-place output overwrites.
        lifetimes: First and last step of every entry that has memory of the plan's.
    """

    def __init__(
        self,
        steps: Steps,
        shapes: ShapeTable,
        types: TypeTable,
        pinned: Collection[Entry],
        bound: Mapping[Entry, OpReq],
    ) -> None:
        self._steps = steps
        self._shapes = shapes
        self._types = types
        self._pinned = frozenset(pinned)
        self._bound = bound
        self._readers = self._find_readers()
        self._buffer_of: dict[Entry, Buffer] = {}
        self.buffers: list[Buffer] = []
        self.requests: dict[Entry, OpReq] = {}
        self.inplace: dict[Entry, Entry] = {}
        self.lifetimes: dict[Entry, tuple[int, int]] = {}
        for step, node in enumerate(steps.nodes):
            self._request_outputs(node)
            taken = self._pair_in_place(step, node)
            for index in range(node.num_outputs):
                self._allot(step, Entry(node, index), taken)

    def entry_size_bytes(self, entry: Entry) -> int:
        """The bytes of one value.

        Raises:
            ShapeError: Its shape or type is not known.
        """
        shape, dtype = self._shapes.of(entry), self._types.of(entry)
        if shape is None or None in shape or dtype is None:
            raise ShapeError(
                f"cannot plan memory: {entry.name!r} has shape {shape} and type {dtype}; give the shapes of "
                "more arguments"
            )
        return math.prod(axis for axis in shape if axis is not None) * dtype.itemsize

    def _find_readers(self) -> dict[Entry, list[int]]:
        readers: dict[Entry, list[int]] = {}
        for step, node in enumerate(self._steps.nodes):
            for entry in values_read(node):
                readers.setdefault(entry, []).append(step)
        return readers

    def _request_outputs(self, node: Node) -> None:
        for index in range(node.num_outputs):
            entry = Entry(node, index)
            request = self._bound.get(entry)
            is_read = entry in self._readers or entry in self._pinned
            if request is OpReq.ADD and is_read:
                raise GraphError(
                    f"{entry.name!r} is to be added to an array, and is itself read by other nodes; "
                    "bind a copy of it"
                )
            if request is None or (request is OpReq.NULL and is_read):
                request = OpReq.WRITE if is_read and is_wanted(entry) else OpReq.NULL
            self.requests[entry] = request

    def _has_buffer(self, entry: Entry) -> bool:
        """Whether the value lives in memory of the plan's."""
        if isinstance(entry.node, Variable) or self.requests.get(entry) in {None, OpReq.NULL}:
            return False
        return self._bound.get(entry, OpReq.NULL) is OpReq.NULL

    def _allot(self, step: int, entry: Entry, taken: Mapping[Entry, Entry]) -> None:
        if not self._has_buffer(entry):
            return
        readers = self._readers.get(entry, [])
        is_pinned = entry in self._pinned
        end = len(self._steps) if is_pinned else max(readers, default=step)
        self.lifetimes[entry] = (step, end)
        overwritten = taken.get(entry)
        if overwritten is not None:
            buffer = self._buffer_of[overwritten]
            buffer.entries.append(entry)
            buffer.touchers += [step, *readers]
            buffer.is_pinned = is_pinned
            self.inplace[entry] = overwritten
            self.requests[entry] = OpReq.INPLACE
        else:
            buffer = Buffer(
                entry, self.entry_size_bytes(entry), self._steps.contexts[step], [step, *readers], is_pinned
            )
            self.buffers.append(buffer)
        self._buffer_of[entry] = buffer

    def _pair_in_place(self, step: int, node: Node) -> dict[Entry, Entry]:
        """Output to the input it overwrites."""
        inputs, pairs = inplace_pairs(node)
        taken: dict[Entry, Entry] = {}
        for read, write in pairs:
            source, target = inputs.get(read), Entry(node, write)
            if source is None or target in taken or source in taken.values() or not self._has_buffer(target):
                continue
            roles = [token for token, entry in inputs.items() if entry == source]
            if all((role, write) in pairs for role in roles) and self._can_overwrite(step, source, target):
                taken[target] = source
        return taken

    def _can_overwrite(self, step: int, source: Entry, target: Entry) -> bool:
        buffer = self._buffer_of.get(source)
        if buffer is None or buffer.is_pinned or buffer.entries[-1] != source:
            return False
        if buffer.ctx is not self._steps.contexts[step] or self._types.of(source) != self._types.of(target):
            return False
        if buffer.size_bytes != self.entry_size_bytes(target):
            return False
        # Whoever touched the buffer before `source` did precedes its producer.
        touchers = (self._steps.step_of[source.node], *self._readers[source])
        return self._steps.all_precede_one([toucher for toucher in touchers if toucher != step], step)


def inplace_pairs(node: Node) -> tuple[dict[BackwardEntry, Entry], list[tuple[BackwardEntry, int]]]:
    """What the node reads, by role, and which (role, output) pairs its operator lets share memory.

    The operator is asked with roles, not entries, since one entry may play several of them.
    """
    if isinstance(node, BackwardNode):
        op = node.op
        grads = _roles("in_grad", node.num_outputs)
        found = op.backward_inplace_option(
            _roles("out_grad", op.num_visible_outputs),
            _roles("in_data", node.num_outputs),
            _roles("out_data", node.forward.num_outputs),
            grads,
        )
        return dict(zip(node.reads, node.inputs, strict=True)), _numbered(found, grads)
    if isinstance(node, OpNode):
        ins, outs = _roles("in_data", len(node.args)), _roles("out_data", node.num_outputs)
        return dict(zip(ins, node.args, strict=True)), _numbered(
            node.op.forward_inplace_option(ins, outs), outs
        )
    return {}, []


def _roles(kind: str, count: int) -> list[BackwardEntry]:
    return [BackwardEntry(kind, index) for index in range(count)]


def _numbered(found: list[tuple[Any, Any]], outputs: list[BackwardEntry]) -> list[tuple[BackwardEntry, int]]:
    return [(read, outputs.index(write)) for read, write in found]
