"""The memory plan: where every value of a graph lives while it runs.

The nodes' values are known beforehand, with their sizes and lifetimes, so memory is laid out once.
Values that only one partition touches (all of them, in a serial plan) share that partition's arena: one
block in which every buffer has an offset. Values that cross partitions live in blocks that one buffer
after another uses, one's last reader always preceding the next one's writer. A block is what the
executor makes one engine variable of. Hence:

* nodes that may run in parallel never touch one block, unless both only read the same value there;
* so the order in which nodes are pushed is enough for the engine to run a shared plan correctly.

Contexts share nothing. Entries that the caller bound to arrays of its own have no placement, are never
shared and never overwritten; what is written to them obeys the request given.

Source: PlanMemory, nnvm/src/pass/plan_memory.cc. Differs: offsets in an arena instead of a free
list by size, partitions instead of longest-path colours, and `OpReq` is decided here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, final

from operad.device import Context
from operad.first_use import cached_property
from operad.graph.demands import prepared_entries
from operad.graph.infer import ShapeTable, TypeTable
from operad.graph.ir import Entry, Graph
from operad.graph.liveness import Buffer, Liveness
from operad.graph.packing import as_ints, live_bytes, pack, round_up
from operad.graph.schedule import Schedule
from operad.op import OpReq
from operad.registry import Extensible

if TYPE_CHECKING:
    from operad.graph.packing import Ints

ALIGNMENT: Final = 64
"""Bytes that every placement is a multiple of."""


class Block(NamedTuple):
    """A piece of memory with one engine variable."""

    id: int
    ctx: Context
    size_bytes: int


class Placement(NamedTuple):
    """Position of a value: `size_bytes` bytes at `offset_bytes` of block `block`."""

    block: int
    offset_bytes: int
    size_bytes: int

    def overlaps(self, other: Placement) -> bool:
        """Return whether the two have a byte in common."""
        return self.block == other.block and max(self.offset_bytes, other.offset_bytes) < min(
            self.offset_bytes + self.size_bytes, other.offset_bytes + other.size_bytes
        )


@final
class MemoryPlan(Extensible):
    """Positions of all values, and the requests of their nodes. Lists are by entry number.

    Attributes:
        schedule: The nodes, in order, and their partitions.
        blocks: Every block; `blocks[i].id == i`.
        placements: The placement of each entry that has one. Variables and entries bound by the caller
            have none, nor have entries whose request is `NULL`, which no node reads.
        requests: The request of each entry; None for variables.
        bound: For each entry that lies in an array of the caller's, the entry bound to that array.
    """

    def __init__(
        self,
        schedule: Schedule,
        liveness: Liveness,
        blocks: Sequence[Block],
        placements: Sequence[Placement | None],
    ) -> None:
        self.schedule = schedule
        self.blocks = list(blocks)
        self.placements = placements
        self.requests = liveness.requests
        self.bound = liveness.bound
        self._liveness = liveness

    def __repr__(self) -> str:
        return (
            f"<MemoryPlan of {len(self.schedule)} nodes: {self.planned_bytes} bytes planned, "
            f"{self.baseline_bytes} without sharing, at least {self.lower_bound_bytes}>"
        )

    @cached_property
    def placement(self) -> dict[Entry, Placement]:
        """The placement of every entry that has one, by entry."""
        entries = self.schedule.graph.entries
        return {entries[i]: placement for i, placement in enumerate(self.placements) if placement is not None}

    @cached_property
    def inplace(self) -> dict[Entry, Entry]:
        """The input that each output takes the memory of, to overwrite it or add to it."""
        entries = self.schedule.graph.entries
        return {entries[target]: entries[source] for target, source in self._liveness.inplace.items()}

    @property
    def planned_bytes(self) -> int:
        """All blocks together."""
        return sum(block.size_bytes for block in self.blocks)

    @property
    def prepared_bytes(self) -> int:
        """Bytes prepared for kernels, in arrays that outlive the runs; no part of the blocks."""
        graph, liveness = self.schedule.graph, self._liveness
        return sum(liveness.size_bytes(graph.entry_id(entry)) for entry in prepared_entries(graph))

    @property
    def baseline_bytes(self) -> int:
        """Bytes that the same values need without any sharing."""
        return sum(
            round_up(placement.size_bytes, ALIGNMENT)
            for placement in self.placements
            if placement is not None
        )

    @property
    def lower_bound_bytes(self) -> int:
        """The largest sum of live buffers at any node, over the contexts."""
        return lower_bound_bytes(self._liveness.buffers)

    def request(self, entry: Entry) -> OpReq | None:
        """The request of one entry."""
        return self.requests[self.schedule.graph.entry_id(entry)]

    def lifetime(self, entry: Entry) -> tuple[int, int]:
        """First and last node at which `entry`, which must have a placement, is alive."""
        return self._liveness.lifetimes[self.schedule.graph.entry_id(entry)]


def lower_bound_bytes(buffers: Iterable[Buffer]) -> int:
    """The largest sum of live buffers at any node, over the contexts."""
    by_context: dict[Context, list[Buffer]] = {}
    for buffer in buffers:
        by_context.setdefault(buffer.ctx, []).append(buffer)
    return sum(int(live_bytes(*_columns(group)).max()) for group in by_context.values())


def plan_memory(
    graph: Graph,
    shapes: ShapeTable,
    types: TypeTable,
    *,
    requests: Mapping[Entry, OpReq] | None = None,
    schedule: Schedule | None = None,
) -> MemoryPlan:
    """Plan the memory of a graph.

    Args:
        requests: For each entry that the caller bound to an array of its own, what to do with it.
            `NULL` leaves it out, or makes it an ordinary value if other nodes read it.
        schedule: When and where nodes run; None: one after another on `cpu(0)`.

    Raises:
        ShapeError: A shape or type is not known.
        GraphError: An entry bound with `ADD` is also read by a node, which would see the sum.
    """
    schedule = schedule or Schedule(graph)
    bound = {graph.entry_id(entry): request for entry, request in (requests or {}).items()}
    liveness = Liveness(schedule, shapes, types, bound)
    private: list[list[Buffer]] = [[] for _ in schedule.partition_contexts]
    shared: dict[Context, list[Buffer]] = {}
    for buffer in liveness.buffers:
        touched = {schedule.partitions[node_id] for node_id in buffer.touchers}
        if len(touched) == 1:
            private[touched.pop()].append(buffer)
        else:
            shared.setdefault(buffer.ctx, []).append(buffer)
    layout = _Layout(schedule)
    for ctx, buffers in zip(schedule.partition_contexts, private, strict=True):
        layout.add_arena(ctx, buffers)
    for ctx, buffers in shared.items():
        layout.add_shared(ctx, buffers)
    return MemoryPlan(schedule, liveness, layout.blocks, layout.placements)


@final
class _Layout:
    """Blocks and placements while they are being made."""

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self.blocks: list[Block] = []
        self.placements: list[Placement | None] = [None] * schedule.graph.first_entries[-1]

    def add_arena(self, ctx: Context, buffers: Sequence[Buffer]) -> None:
        """One block for buffers that a single partition touches."""
        if buffers:
            offsets, size_bytes = pack(*_columns(buffers))
            self._place(buffers, offsets.tolist())
            self._add_block(ctx, size_bytes)

    def add_shared(self, ctx: Context, buffers: Sequence[Buffer]) -> None:
        """Blocks that buffers which several partitions touch use one after another."""
        groups: list[list[Buffer]] = []  # each in the order of use
        for buffer in sorted(buffers, key=lambda buffer: -buffer.size_bytes):
            # Groups come in falling size, so the last one that can take it wastes least.
            for group in reversed(groups):
                at = bisect_left(group, buffer.touchers[0], key=lambda each: each.touchers[0])
                between = [*group[max(at - 1, 0) : at], buffer, *group[at : at + 1]]
                # A buffer that is over before a neighbour is over before all beyond it.
                if all(self._is_over(one, other) for one, other in pairwise(between)):
                    group.insert(at, buffer)
                    break
            else:
                groups.append([buffer])
        for group in groups:
            self._place(group, [0] * len(group))
            self._add_block(ctx, round_up(max(each.size_bytes for each in group), ALIGNMENT))

    def _is_over(self, one: Buffer, other: Buffer) -> bool:
        """Return whether no node touches `one` once the other is first written."""
        return self._schedule.all_precede(one.touchers, other.touchers[0])

    def _add_block(self, ctx: Context, size_bytes: int) -> None:
        self.blocks.append(Block(len(self.blocks), ctx, size_bytes))

    def _place(self, buffers: Sequence[Buffer], offsets: Iterable[int]) -> None:
        """Places in the block that is added next."""
        for buffer, offset in zip(buffers, offsets, strict=True):
            placement = Placement(len(self.blocks), offset, buffer.size_bytes)
            for entry in buffer.entries:
                self.placements[entry] = placement


def _columns(buffers: Sequence[Buffer]) -> tuple[Ints, Ints, Ints]:
    """First node, last node and rounded size of each buffer."""
    first = as_ints([buffer.touchers[0] for buffer in buffers])
    last = as_ints([max(buffer.touchers) for buffer in buffers])
    return first, last, as_ints([round_up(buffer.size_bytes, ALIGNMENT) for buffer in buffers])
