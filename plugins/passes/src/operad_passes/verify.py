"""An independent check of a memory plan.

It shares no reasoning with the planner. Two facts together make a plan safe, and each is checked by
itself:

1. Run in order, no value is destroyed before its last reader. This is found by playing the plan:
   every byte remembers who wrote it last, and every reader looks whether it still finds its value.
2. Nodes that conflict on a block are ordered by what they need or by their partition. Then any parallel
   run agrees with the one just played.

Cost: time in proportion to nodes times distinct offsets, for debug mode and tests.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import final

from operad.errors import GraphError
from operad.graph import Entry, MemoryPlan, Node, OpNode, Variable, inplace_pairs, values_read
from operad.op import OpReq


def check_plan(plan: MemoryPlan) -> None:
    """Prove that no two live values share a byte, in the plan's order and in any it allows.

    Raises:
        GraphError: They do; the message names the values and the node.
    """
    for entry, placement in plan.placement.items():
        block = plan.blocks[placement.block]
        if placement.offset_bytes < 0 or placement.offset_bytes + placement.size_bytes > block.size_bytes:
            raise GraphError(f"memory plan: {entry.name!r} is at {placement}, beyond {block}")
        if block.ctx is not plan.schedule.contexts[plan.schedule.graph.node_ids[entry.node]]:
            raise GraphError(f"memory plan: {entry.name!r} is made on another context than that of {block}")
    _Ownership(plan).play()
    _check_parallel(plan)


@final
class _Ownership:
    """Last writers of all bytes."""

    def __init__(self, plan: MemoryPlan) -> None:
        self._plan = plan
        edges: dict[int, set[int]] = {}
        for placement in plan.placement.values():
            edges.setdefault(placement.block, set()).update(
                (placement.offset_bytes, placement.offset_bytes + placement.size_bytes)
            )
        self._edges = {block: sorted(offsets) for block, offsets in edges.items()}
        self._owners: dict[int, list[Entry | None]] = {
            block: [None] * len(offsets) for block, offsets in edges.items()
        }

    def play(self) -> None:
        for node_id, node in enumerate(self._plan.schedule.graph.nodes):
            if isinstance(node, Variable):
                continue
            for entry in values_read(node):
                self._expect_computed(entry, node)
                self._expect(entry, f"{node.name!r} (node {node_id}) reads it")
            self._check_targets(node_id, node)
            for entry in _outputs(node):
                if entry in self._plan.placement:
                    self._claim(entry)
            for entry in _outputs(node):
                self._expect(entry, f"{node.name!r} (node {node_id}) has written all its outputs")

    def _range(self, entry: Entry) -> tuple[list[Entry | None], slice]:
        placement = self._plan.placement[entry]
        edges = self._edges[placement.block]
        start = bisect_left(edges, placement.offset_bytes)
        return self._owners[placement.block], slice(
            start, bisect_left(edges, placement.offset_bytes + placement.size_bytes)
        )

    def _claim(self, entry: Entry) -> None:
        owners, span = self._range(entry)
        owners[span] = [entry] * (span.stop - span.start)

    def _expect(self, entry: Entry, when: str) -> None:
        if entry not in self._plan.placement:
            return
        owners, span = self._range(entry)
        for owner in owners[span]:
            if owner != entry:
                found = "nothing" if owner is None else repr(owner.name)
                raise GraphError(f"memory plan: {entry.name!r} is overwritten by {found} when {when}")

    def _expect_computed(self, entry: Entry, reader: Node) -> None:
        if self._plan.request(entry) is OpReq.NULL:
            raise GraphError(f"memory plan: {reader.name!r} reads {entry.name!r}, which is never computed")

    def _check_targets(self, node_id: int, node: Node) -> None:
        """An output may lie on an input only where the operator declares it for all its roles."""
        plan = self._plan
        assert isinstance(node, OpNode)
        pairs, sums = inplace_pairs(node), node.sums
        for index, source in sums:
            target = Entry(node, index)
            if plan.request(target) is not OpReq.ADD or _home(plan, target) != _home(plan, source):
                raise GraphError(
                    f"memory plan: {target.name!r} is to be added to {source.name!r}, but has the request "
                    f"{plan.request(target)} or other memory"
                )
        for target in _outputs(node):
            if target not in plan.placement:
                continue
            for position, source in enumerate(values_read(node)):
                place_of_source = plan.placement.get(source)
                if place_of_source is None or not place_of_source.overlaps(plan.placement[target]):
                    continue
                if (target.index, source) in sums:
                    continue
                declared = (position, target.index) in pairs and plan.inplace.get(target) == source
                if not declared or plan.request(target) is not OpReq.INPLACE:
                    raise GraphError(
                        f"memory plan: {target.name!r} lies on {source.name!r}, which {node.name!r} "
                        f"(node {node_id}) still reads and does not declare as an in-place pair"
                    )


def _home(plan: MemoryPlan, entry: Entry) -> object:
    """The memory of an entry: its place, or the entry whose array it lies in."""
    return plan.placement.get(entry) or plan.bound.get(plan.schedule.graph.entry_id(entry))


def _outputs(node: Node) -> list[Entry]:
    return [Entry(node, index) for index in range(node.num_outputs)]


def _check_parallel(plan: MemoryPlan) -> None:
    """Nodes that conflict on a block must be ordered; sets of nodes are the bits of integers."""
    nodes = plan.schedule.graph.nodes
    if len(plan.schedule.partition_contexts) < 2:
        return
    writers = [0] * len(plan.blocks)
    touchers = [0] * len(plan.blocks)
    for node_id, node in enumerate(nodes):
        for block in _blocks(plan, _outputs(node)):
            writers[block] |= 1 << node_id
        for block in _blocks(plan, [*_outputs(node), *values_read(node)]):
            touchers[block] |= 1 << node_id
    ancestors = _ancestors(plan)
    for node_id, node in enumerate(nodes):
        written = _blocks(plan, _outputs(node))
        for block in _blocks(plan, [*_outputs(node), *values_read(node)]):
            conflicting = touchers[block] if block in written else writers[block]
            loose = conflicting & ((1 << node_id) - 1) & ~ancestors[node_id]
            if loose:
                other = nodes[loose.bit_length() - 1]
                raise GraphError(
                    f"memory plan: {other.name!r} and {node.name!r} may run in parallel, but conflict on "
                    f"block {block}"
                )


def _blocks(plan: MemoryPlan, entries: list[Entry]) -> set[int]:
    return {plan.placement[entry].block for entry in entries if entry in plan.placement}


def _ancestors(plan: MemoryPlan) -> list[int]:
    graph, partitions = plan.schedule.graph, plan.schedule.partitions
    ancestors: list[int] = []
    latest: dict[int, int] = {}
    for node_id, node in enumerate(graph.nodes):
        needed = [entry.node for entry in values_read(node)] + node.control_deps
        before = {graph.node_ids[other] for other in needed}
        before.update({latest[partitions[node_id]]} if partitions[node_id] in latest else ())
        ancestors.append(0)
        for other in before:
            ancestors[node_id] |= ancestors[other] | (1 << other)
        if not isinstance(node, Variable):
            latest[partitions[node_id]] = node_id
    return ancestors
