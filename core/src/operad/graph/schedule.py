"""The schedule: when nodes run relative to one another.

Nodes are pushed in the graph's order; what is said of a node is by its number, and at a variable nothing
happens. Nodes of one partition run in that order; nodes of different partitions run in parallel unless
one needs the other, directly or not. Different contexts are always different partitions.

Which nodes precede which is a triangle of bits, one integer per node, filled in one sweep: a node's
predecessors are those it needs, the one before it in its partition, and all of theirs. 10,000 nodes take
6 MB. One partition needs no bits at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import final

from operad.device import Context, cpu
from operad.graph.ir import Entry, Graph, Node, Variable


def values_read(node: Node) -> Sequence[Entry]:
    """The inputs whose values the node reads; some operators look only at the shapes of others."""
    return node.of_read(node.inputs)


@final
class Schedule:
    """The nodes of a graph in running order, and the partial order in which they may run.

    Attributes:
        graph: The graph.
        contexts: The context of each node.
        partitions: The partition of each node, numbered from 0 in order of appearance; -1 for variables.
        partition_contexts: The context of each partition.
    """

    def __init__(
        self,
        graph: Graph,
        contexts: Sequence[Context] | None = None,
        partitions: Sequence[Hashable] | None = None,
    ) -> None:
        """Make one.

        Args:
            contexts: The context of each node; None: all on `cpu(0)`.
            partitions: What nodes of one context share if they run one after another; None: all do.
        """
        self.graph = graph
        self.contexts = [cpu()] * len(graph.nodes) if contexts is None else contexts
        numbers: dict[tuple[Context, Hashable], int] = {}
        self.partitions = [
            -1 if isinstance(node, Variable)
            else numbers.setdefault((self.contexts[i], partitions and partitions[i]), len(numbers))
            for i, node in enumerate(graph.nodes)
        ]  # fmt: skip
        self.partition_contexts = [ctx for ctx, _ in numbers]
        self._ancestors = self._fill() if len(numbers) > 1 else None

    def __len__(self) -> int:
        return len(self.partitions)

    def direct_predecessors(self, node_id: int) -> set[int]:
        """Numbers of the nodes that this one needs by itself."""
        node, ids = self.graph.nodes[node_id], self.graph.node_ids
        needed = {entry.node for entry in values_read(node)}.union(node.control_deps)
        return {ids[other] for other in needed if not isinstance(other, Variable)}

    def all_precede(self, earlier: Sequence[int], later: int) -> bool:
        """Return whether every node of `earlier` has always ended when `later` begins."""
        if self._ancestors is None:
            return max(earlier, default=-1) < later
        before = self._ancestors[later]
        return all(before >> node_id & 1 for node_id in earlier)

    def _fill(self) -> list[int]:
        ancestors = [0] * len(self)
        latest: dict[int, int] = {}
        for node_id, partition in enumerate(self.partitions):
            if partition < 0:
                continue
            for before in self.direct_predecessors(node_id) | {latest.get(partition, node_id)} - {node_id}:
                ancestors[node_id] |= ancestors[before] | 1 << before
            latest[partition] = node_id
        return ancestors
