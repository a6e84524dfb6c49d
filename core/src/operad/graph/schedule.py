"""The schedule: when nodes run relative to one another.

Nodes are pushed in the graph's order; a *step* is a node's number, and at a variable's step nothing
happens. Nodes of one partition run in that order; nodes of different partitions run in parallel unless
one needs the other, directly or not. Different contexts are always different partitions.

Which nodes precede which is a triangle of bits, one row per node, filled in one sweep: a node's
predecessors are those it needs, the one before it in its partition, and all of theirs. 10,000 nodes take
12.5 MB. One partition needs no bits at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, final

import numpy as np

from operad.context import Context, cpu
from operad.graph.ir import Entry, Graph, Node, OpNode, Variable
from operad.graph.primitives import ZerosLike

if TYPE_CHECKING:
    from numpy.typing import NDArray


def reads_values(node: Node) -> bool:
    """Whether the node reads the values of its inputs; some operators look only at their shapes."""
    return not (isinstance(node, OpNode) and node.op.__class__ is ZerosLike)


def values_read(node: Node) -> Sequence[Entry]:
    """The inputs whose values the node reads."""
    return node.inputs if reads_values(node) else ()


@final
class Schedule:
    """The nodes of a graph in running order, and the partial order in which they may run.

    Attributes:
        graph: The graph.
        contexts: The context of each step.
        partitions: The partition of each step, numbered from 0 in order of appearance; -1 for variables.
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

    def direct_predecessors(self, step: int) -> set[int]:
        """Steps whose nodes this step's node needs by itself."""
        node, ids = self.graph.nodes[step], self.graph.node_ids
        needed = {entry.node for entry in values_read(node)}.union(node.control_deps)
        return {ids[other] for other in needed if not isinstance(other, Variable)}

    def predecessors(self, step: int) -> NDArray[np.bool_]:
        """One flag per step: whether it has always ended when `step` begins."""
        if self._ancestors is None:
            return np.arange(len(self)) < step
        return np.unpackbits(self._ancestors[step], count=len(self), bitorder="little").view(np.bool_)

    def all_precede_one(self, earlier: Sequence[int], later: int) -> bool:
        """Whether every step of `earlier` precedes `later`."""
        if self._ancestors is None:
            return max(earlier, default=-1) < later
        row = self._ancestors[later]
        return all(row[step >> 3] >> (step & 7) & 1 for step in earlier)

    def all_precede(self, earlier: Sequence[int], later: NDArray[np.int64]) -> NDArray[np.bool_]:
        """One flag for each step of `later`: whether every step of `earlier` precedes it."""
        steps = np.array(earlier, np.int64)
        if self._ancestors is None:
            return np.asarray(later > steps.max(initial=-1), np.bool_)
        bits = self._ancestors[later[:, None], steps >> 3] >> (steps & 7).astype(np.uint8) & 1
        return np.asarray(bits.all(axis=1), np.bool_)

    def _fill(self) -> NDArray[np.uint8]:
        bits = np.zeros((len(self), (len(self) + 7) // 8), np.uint8)
        latest: dict[int, int] = {}
        for step, partition in enumerate(self.partitions):
            if partition < 0:
                continue
            row = bits[step]
            for before in self.direct_predecessors(step) | {latest.get(partition, step)} - {step}:
                row |= bits[before]
                row[before >> 3] |= 1 << (before & 7)
            latest[partition] = step
        return bits
