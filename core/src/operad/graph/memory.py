"""The memory plan: where every value of a graph lives while it runs.

The nodes' values are known beforehand, with their sizes and lifetimes, so memory is laid out once.
Values that only one lane touches (all of them, in a serial plan) share that lane's arena: one block
in which every buffer has an offset. Values that cross lanes live in blocks where buffers take turns,
one's last reader always preceding the next one's writer. A block is what the executor makes one
engine variable of. Hence:

* nodes that may run in parallel never touch one block, unless both only read the same value there;
* so the order in which nodes are pushed is enough for the engine to run a shared plan correctly.

Contexts share nothing. Entries that the caller bound to arrays of its own have no place, are never
shared and never overwritten; what is written to them obeys the request given.

Source: PlanMemory, nnvm/src/pass/plan_memory.cc. Differs: offsets in an arena instead of a free
list by size, lanes instead of longest-path colours, and `OpReq` is decided here.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple, final

import numpy as np

from operad.context import Context
from operad.graph.infer import ShapeTable, TypeTable
from operad.graph.ir import Entry, Node
from operad.graph.liveness import Buffer, Liveness
from operad.graph.packing import as_ints, live_bytes, pack, round_up, take_turns
from operad.graph.steps import Steps
from operad.operator import OpReq

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIGNMENT: Final = 64
"""Bytes that every placement is a multiple of."""


class Block(NamedTuple):
    """A piece of memory with one engine variable."""

    id: int
    ctx: Context
    size_bytes: int


class Placement(NamedTuple):
    """Where a value lives: `size_bytes` bytes at `offset_bytes` of block `block`."""

    block: int
    offset_bytes: int
    size_bytes: int


@final
class MemoryPlan:
    """Where every value lives, and the request its node is run with.

    Attributes:
        steps: The nodes, in order, and their lanes.
        blocks: Every block; `blocks[i].id == i`.
        placement: The place of every entry that has one. Variables and entries bound by the caller
            have none, nor have entries whose request is `NULL`, which nobody reads.
        requests: By (node, output index), for every output of every node.
        inplace: The input that each `INPLACE` output overwrites.
        pinned: Entries that live to the end.
        planned_bytes: All blocks together.
        baseline_bytes: What the same values need without any sharing.
        lower_bound_bytes: The largest sum of live buffers at any step, over the contexts.
    """

    def __init__(
        self,
        steps: Steps,
        liveness: Liveness,
        blocks: Sequence[Block],
        placement: Mapping[Entry, Placement],
        pinned: Iterable[Entry],
        alignment: int,
    ) -> None:
        self.steps = steps
        self.blocks = list(blocks)
        self.placement = dict(placement)
        self.requests: dict[tuple[Node, int], OpReq] = {
            (entry.node, entry.index): request for entry, request in liveness.requests.items()
        }
        self.inplace = dict(liveness.inplace)
        self.pinned = frozenset(pinned)
        self.planned_bytes = sum(block.size_bytes for block in blocks)
        self.baseline_bytes = sum(round_up(place.size_bytes, alignment) for place in placement.values())
        self.lower_bound_bytes = _lower_bound(liveness.buffers, len(steps), alignment)
        self._lifetimes = liveness.lifetimes

    def alive(self, step: int) -> list[Entry]:
        """The entries that have memory at `step` (an index into `steps.nodes`)."""
        return [entry for entry, (first, last) in self._lifetimes.items() if first <= step <= last]

    def lifetime(self, entry: Entry) -> tuple[int, int]:
        """First and last step at which `entry`, which must have a place, is alive."""
        return self._lifetimes[entry]


def plan_memory(
    order: Sequence[Node],
    shapes: ShapeTable,
    types: TypeTable,
    *,
    pinned: Collection[Entry] = (),
    requests: Mapping[Entry, OpReq] | None = None,
    contexts: Mapping[Node, Context] | None = None,
    lanes: Mapping[Node, Hashable] | None = None,
    alignment: int = ALIGNMENT,
) -> MemoryPlan:
    """Plan the memory of `order`.

    Args:
        order: Nodes in the order they will be pushed; variables may stand among them.
        pinned: Entries that must outlive the run, such as outputs that are not bound.
        requests: For each entry that the caller bound to an array of its own, what to do with it.
            `NULL` leaves it out, or makes it an ordinary value if other nodes read it.
        contexts: The device of each node; left out: all on `cpu(0)`.
        lanes: The lane of each node: those of one lane run one after another. Left out: one lane a
            context.
        alignment: Bytes that every placement is a multiple of.

    Raises:
        ShapeError: A shape or type is not known.
        GraphError: An entry bound with `ADD` is also read by a node, which would see the sum.
    """
    steps = Steps(order, contexts, lanes)
    liveness = Liveness(steps, shapes, types, pinned, requests or {})
    private: list[list[Buffer]] = [[] for _ in steps.lane_contexts]
    shared: dict[Context, list[Buffer]] = {}
    for buffer in liveness.buffers:
        lanes_touched = {steps.lanes[step] for step in buffer.touchers}
        if len(lanes_touched) == 1:
            private[lanes_touched.pop()].append(buffer)
        else:
            shared.setdefault(buffer.ctx, []).append(buffer)
    layout = _Layout(steps, alignment)
    for ctx, buffers in zip(steps.lane_contexts, private, strict=True):
        layout.add_arena(ctx, buffers)
    for ctx, buffers in shared.items():
        layout.add_turns(ctx, buffers)
    return MemoryPlan(steps, liveness, layout.blocks, layout.placement, pinned, alignment)


@final
class _Layout:
    """Blocks and placements while they are being made."""

    def __init__(self, steps: Steps, alignment: int) -> None:
        self._steps = steps
        self._alignment = alignment
        self.blocks: list[Block] = []
        self.placement: dict[Entry, Placement] = {}

    def add_arena(self, ctx: Context, buffers: Sequence[Buffer]) -> None:
        """One block for buffers that a single lane touches."""
        if buffers:
            offsets, size_bytes = pack(*_columns(buffers, len(self._steps), self._alignment))
            self._place(buffers, [len(self.blocks)] * len(buffers), offsets.tolist())
            self.blocks.append(Block(len(self.blocks), ctx, size_bytes))

    def add_turns(self, ctx: Context, buffers: Sequence[Buffer]) -> None:
        """Blocks in which buffers that several lanes touch take turns."""
        _, _, sizes = _columns(buffers, len(self._steps), self._alignment)
        bins, bin_sizes = take_turns(sizes, partial(_may_share, _Turns(self._steps, buffers)))
        self._place(buffers, (bins + len(self.blocks)).tolist(), [0] * len(buffers))
        for size_bytes in bin_sizes:
            self.blocks.append(Block(len(self.blocks), ctx, size_bytes))

    def _place(self, buffers: Sequence[Buffer], blocks: Sequence[int], offsets: Sequence[int]) -> None:
        for buffer, block, offset in zip(buffers, blocks, offsets, strict=True):
            for entry in buffer.entries:
                self.placement[entry] = Placement(block, offset, buffer.size_bytes)


@final
class _Turns:
    """The touchers of many buffers as columns, to compare one buffer with all others at once."""

    def __init__(self, steps: Steps, buffers: Sequence[Buffer]) -> None:
        self.steps = steps
        self.touchers = [buffer.touchers for buffer in buffers]
        self.flat = as_ints([step for touchers in self.touchers for step in touchers])
        self.starts = np.cumsum([0] + [len(touchers) for touchers in self.touchers[:-1]])
        self.first = as_ints([min(touchers) for touchers in self.touchers])
        self.is_pinned = np.array([buffer.is_pinned for buffer in buffers], np.bool_)


def _may_share(turns: _Turns, index: int, others: NDArray[np.int64]) -> NDArray[np.bool_]:
    over = np.logical_and.reduceat(
        turns.steps.predecessors(int(turns.first[index]))[turns.flat], turns.starts
    )
    allowed = over[others] & ~turns.is_pinned[others]
    if not turns.is_pinned[index]:
        allowed |= turns.steps.all_precede(turns.touchers[index], turns.first[others])
    return allowed


def _columns(
    buffers: Sequence[Buffer], end: int, alignment: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """First step, last step and rounded size of each buffer."""
    first = as_ints([min(buffer.touchers) for buffer in buffers])
    last = as_ints([end if buffer.is_pinned else max(buffer.touchers) for buffer in buffers])
    return first, last, as_ints([round_up(buffer.size_bytes, alignment) for buffer in buffers])


def _lower_bound(buffers: Sequence[Buffer], end: int, alignment: int) -> int:
    by_context: dict[Context, list[Buffer]] = {}
    for buffer in buffers:
        by_context.setdefault(buffer.ctx, []).append(buffer)
    return sum(int(live_bytes(*_columns(group, end, alignment)).max()) for group in by_context.values())
