"""Arrays of which parts are written, one write after another, in the memory of the first.

In a trace a write gives a new array. It happens in the memory of the old one where nothing needs that any
more: what else reads it then runs before. Else a write begins with a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, final

import numpy as np

from operad_sdk.differentiate import Node
from operad_sdk.differentiate.indexing import is_basic
from operad_sdk.differentiate.tracing import AppliedPrimitive
from operad_sdk.programs.cluster import Cluster, operands, views_something
from operad_sdk.programs.clusters import Clusters
from operad_sdk.sums import blocked_cumsum


def step_of(node: Node) -> AppliedPrimitive:
    """The step that a node is, which is none that was given."""
    assert node.step is not None
    return node.step


def writes(node: Node) -> bool:
    """Return whether a step is a ufunc, or prefix sums, which write where they are told to."""
    function = step_of(node).primitive.function
    return isinstance(function, np.ufunc) or function is blocked_cumsum


@final
class Stores:
    """The writes of a program.

    Args:
        results: The nodes that are wanted.
        given: The program's inputs.
        copies_all: Whether each array that something else reads is copied before it is written.

    Attributes:
        roots: For each write the node in whose memory it is: an array made before, or the first write.
        unfilled: Of those that are writes, whether what was there before has to be copied.
        placed: What kernels and ufuncs make and nothing reads but a write, with the root and the place there.
        after: The units that read an array before it is written.
        copied_bytes: Of arrays that are copied before they are written, and half of what numbers fill.
    """

    def __init__(
        self, results: Sequence[Node], given: Collection[Node], clusters: Clusters, *, copies_all: bool
    ) -> None:
        self._copies_all = copies_all
        self._results, self._given, self._clusters = set(results), given, clusters
        self.roots: Final[dict[Node, Node]] = {}
        self.unfilled: Final[dict[Node, bool]] = {}
        self.placed: Final[dict[Node, tuple[Node, Any]]] = {}
        self._early: Final[dict[Node, Node]] = {}
        self.after: Final[dict[Node, list[Any]]] = {}
        self.copied_bytes = 0
        self._readers: dict[Node, list[Any]] = {}
        calls = self._reached(results)
        chains: dict[Node, list[Node]] = {}
        for node in sorted(calls, key=lambda node: node.number):
            if step_of(node).primitive.form == "replace":
                root = self.roots[node] = self._root_of(node)
                chains.setdefault(root, []).append(node)
        for root, chain in chains.items():
            self._look_at(root, chain)

    def is_made(self, node: Node) -> bool:
        """Return whether a step of the program makes a node."""
        return node.step is not None and node not in self._given

    def early_write(self, unit: Any) -> Node | None:
        """The write that a unit runs in the place of, if it does."""
        return self._early.get(unit.makes[0] if isinstance(unit, Cluster) else unit)

    def unit(self, node: Node) -> Any:
        """The cluster that makes a node, or the node, which a call makes."""
        return self._clusters.by_node.get(node, node)

    def _reached(self, results: Sequence[Node]) -> set[Node]:
        """The nodes that calls make behind the results; notes who reads what."""
        found, seen, left = set[Node](), set[Any](), list(results)
        while left:
            node = left.pop()
            unit = self.unit(node)
            if not self.is_made(node) or unit in seen:
                continue
            seen.add(unit)
            read = list(unit.reads) if isinstance(unit, Cluster) else operands(node)
            if not isinstance(unit, Cluster):
                found.add(node)
            for one in dict.fromkeys(read):
                self._readers.setdefault(one, []).append(unit)
            left += read
        return found

    def _root_of(self, node: Node) -> Node:
        """The node in whose memory a write happens: that of the array before, or itself."""
        whole = step_of(node).args[0]
        if not isinstance(whole, Node) or not self.is_made(whole):
            return node
        root = self.roots.get(whole, whole)
        if whole not in self.roots and whole not in self._clusters.by_node and not writes(whole):
            return node
        before = self._before(whole, node)
        if before is None or (before and self._copies_all):
            return node
        self.after[node] = before
        return root

    def _before(self, whole: Node, write: Node) -> list[Any] | None:
        """The units that read an array, or a view of it, before a write; None where one may need it later."""
        found: list[Any] = []
        left = [whole]
        while left:
            one = left.pop()
            if one in self._results:
                return None
            for unit in self._readers.get(one, ()):
                if unit is write:
                    continue
                read = unit.reads if isinstance(unit, Cluster) else [unit]
                if any(node.number >= write.number for node in read):
                    return None
                if isinstance(unit, Node) and views_something(unit):
                    left.append(unit)
                elif isinstance(unit, Node) and self._takes_memory(unit):
                    return None
                else:
                    found.append(unit)
        return found

    def _takes_memory(self, node: Node) -> bool:
        """Return whether a call may give a view of what it reads, which nobody told."""
        return not writes(node) and step_of(node).primitive.form != "replace"

    def _look_at(self, root: Node, chain: list[Node]) -> None:
        """Find out how the writes to one array begin, and which of them kernels may do themselves."""
        is_first = root is chain[0]
        counts = np.zeros(root.value.shape, np.int16)
        for node in chain:
            if is_basic(step_of(node).args[2]):
                counts[step_of(node).args[2]] += 1
        is_apart = all(is_basic(step_of(node).args[2]) for node in chain) and counts.max(initial=0) <= 1
        is_apart = is_apart and is_first and not any(self.after.get(node) for node in chain)
        for node in chain:
            self._place(root, node, is_apart=is_apart)
        if is_first:
            self.unfilled[root] = not (is_apart and counts.all())
            whole = step_of(root).args[0]
            is_read = isinstance(whole, Node) and (self.is_made(whole) or whole in self._given)
            if self.unfilled[root]:  # a number is written alone
                self.copied_bytes += root.value.nbytes if is_read else root.value.nbytes // 2

    def _place(self, root: Node, node: Node, *, is_apart: bool) -> None:
        """Have what computes a part write it where it belongs.

        Where parts overlap, what makes one waits as the write would. It may then read the array itself: of a
        ufunc's operands NumPy takes care, and a kernel may read what it writes if that is the same place.
        """
        _, part, index = step_of(node).args
        if not isinstance(part, Node) or not is_basic(index) or part in self.placed:
            return
        place = node.value[index]
        is_same = part.value.shape == place.shape and part.value.dtype == place.dtype
        if not is_same or not place.ndim or self._clusters.count_readers(part) != 1:
            return
        cluster = self._clusters.by_node.get(part)
        if cluster is None:
            is_early = self.is_made(part) and writes(part)
            # operad's own functions write before they have read all of their arguments
            is_early = is_early and step_of(part).primitive.function not in (np.matmul, blocked_cumsum)
        else:
            is_early = not is_apart and self._may_wait(cluster, root, node)
        if is_early:
            self._early[part] = node
        if is_early or (is_apart and cluster is not None):
            self.placed[part] = (root, index)

    def _may_wait(self, cluster: Cluster, root: Node, write: Node) -> bool:
        """Return whether a kernel may run in the place of a write."""
        whole, _, index = step_of(write).args
        for i, one in enumerate(cluster.reads):
            if self._memory(one) is root:
                primitive, args, _ = step_of(one) if self.is_made(one) else (None, (), {})
                is_place = primitive is not None and primitive.form == "take" and list(args) == [whole, index]
                if not is_place or (i, 0) not in cluster.shares:
                    return False
        return len(cluster.makes) == 1

    def _memory(self, node: Node) -> Node:
        """The node in whose memory a node lies."""
        while node in self.roots or (
            self.is_made(node) and node not in self._clusters.by_node and views_something(node)
        ):
            home = self.roots.get(node) or operands(node)[0]
            if home is node:
                break
            node = home
        return node
