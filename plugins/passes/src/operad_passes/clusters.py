"""Clusters of nodes that can run as one: merges that keep the contracted graph without cycles.

Nodes that become one node must not wait for a node outside that waits for one of them. It is not enough that
every cluster by itself has no such path: two that are each fine may wait for each other. So the question is
asked of the *contracted* graph, in which every cluster is one node, before every merge.

The contracted graph's clusters have positions, a topological order. A path from one cluster to another runs
through positions between theirs alone, so searches stay there; neighbours are merged in the time that their
own edges take. A merge moves only the clusters that were met: what leads to the later of the two goes
before the new cluster, what follows from the earlier one behind it.

Source: Pearce and Kelly, A Dynamic Topological Sort Algorithm for Directed Acyclic Graphs, 2007. Differs:
clusters are merged where they insert edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

from operad.graph import Graph


@final
class Clusters:
    """The nodes of a graph, each in a cluster of its own at first.

    A cluster is called by any node of it.
    """

    def __init__(self, sources: Sequence[Iterable[int]]) -> None:
        """Begin.

        Args:
            sources: For each node the nodes that it waits for, all of them before it.
        """
        count = len(sources)
        self._parents = list(range(count))
        self._members = [[node] for node in range(count)]
        self._positions = list(range(count))
        self._before: list[set[int]] = [set(found) for found in sources]
        self._after: list[set[int]] = [set() for _ in range(count)]
        for node, found in enumerate(self._before):
            for source in found:
                self._after[source].add(node)

    @classmethod
    def of_graph(cls, graph: Graph) -> Clusters:
        """The nodes of a graph by number; they wait for what they read and for their `control_deps`."""
        numbers = graph.node_ids
        return cls(
            [
                {numbers[entry.node] for entry in node.inputs} | {numbers[dep] for dep in node.control_deps}
                for node in graph.nodes
            ]
        )

    def find(self, node: int) -> int:
        """One node that stands for all of the cluster."""
        parents = self._parents
        while parents[node] != node:
            parents[node] = node = parents[parents[node]]
        return node

    def members(self, node: int) -> list[int]:
        """The nodes of a cluster, in order."""
        return sorted(self._members[self.find(node)])

    def groups(self) -> list[list[int]]:
        """All clusters, each behind those it waits for."""
        ends = [node for node, parent in enumerate(self._parents) if node == parent]
        return [self.members(end) for end in sorted(ends, key=self._positions.__getitem__)]

    def can_merge(self, one: int, other: int) -> bool:
        """Return whether two clusters may become one; a cluster and itself may."""
        first, last = self._in_order(one, other)
        return first == last or self._between(first, last) is not None

    def merge(self, one: int, other: int) -> bool:
        """Make one cluster of two, where that leaves the contracted graph without cycles; else do nothing.

        Returns:
            Whether they are one now.
        """
        first, last = self._in_order(one, other)
        if first == last:
            return True
        behind = self._between(first, last)
        if behind is None:
            return False
        if behind:
            self._make_room(first, last, behind)
        self._join(first, last)
        return True

    def _in_order(self, one: int, other: int) -> tuple[int, int]:
        first, last = self.find(one), self.find(other)
        return (first, last) if self._positions[first] <= self._positions[last] else (last, first)

    def _between(self, first: int, last: int) -> set[int] | None:
        """Nodes after `first` and before `last`; None where `last` follows from some of them."""
        limit = self._positions[last]
        found: set[int] = set()
        waiting = [first]
        while waiting:
            current = waiting.pop()
            for following in self._after[current]:
                if following == last and current != first:
                    return None
                if following not in found and self._positions[following] < limit:
                    found.add(following)
                    waiting.append(following)
        return found

    def _make_room(self, first: int, last: int, behind: set[int]) -> None:
        """Move what leads to `last` before it, and what follows from `first` behind it."""
        positions, limit = self._positions, self._positions[first]
        ahead: set[int] = set()
        waiting = [last]
        while waiting:
            for source in self._before[waiting.pop()]:
                if source not in ahead and positions[source] > limit:
                    ahead.add(source)
                    waiting.append(source)
        order = [*sorted(ahead, key=positions.__getitem__), last, *sorted(behind, key=positions.__getitem__)]
        # invariant: none of them is before `first`, so its place is free for the first of them
        free = sorted(positions[node] for node in (first, *order))
        for node, position in zip(order, free, strict=False):
            positions[node] = position

    def _size(self, cluster: int) -> int:
        return len(self._members[cluster]) + len(self._before[cluster]) + len(self._after[cluster])

    def _join(self, first: int, last: int) -> None:
        """Let the larger cluster stand for both, at the place of `last`: each node moves few times."""
        kept, gone = sorted((first, last), key=self._size, reverse=True)
        self._positions[kept] = self._positions[last]
        self._parents[gone] = kept
        self._members[kept] += self._members[gone]
        for near, far in ((self._before, self._after), (self._after, self._before)):
            for node in near[gone]:
                far[node].discard(gone)
                far[node].add(kept)
            near[kept] |= near[gone]
            near[kept] -= {kept, gone}
            near[gone] = set()
        self._members[gone] = []
