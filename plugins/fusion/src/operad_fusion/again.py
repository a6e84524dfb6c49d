"""Values that backward's clusters compute again: what they read of forward is a minimum cut in bytes.

Within a cluster a value costs its instructions, which is less than to write it in forward and to read it
again. So of what a forward cluster makes for clusters of backward only a cut is kept from which the rest
follows, in the fewest bytes. What is kept for others anyhow costs nothing, and nothing is computed again
behind it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import prod
from typing import Any, Final, final

from operad.graph import Entry, Graph, Node, OpNode, Variable, rebuilt, rewrite
from operad_passes import minimum_cut

WORTH_BYTES: Final = 1 << 20
"""Graphs in which less can be freed are left alone: that much fits into a cache."""
SUFFIX: Final = "_mirror"
"""Behind the name of a node that runs once more, as in MXNet."""
_FORCED: Final = 1 << 60
"""Bytes of a value that the user wants computed again: more than any other choice can cost."""

Facts = Mapping[str, Any]


def forced(node: Node) -> bool | None:
    """Value of the user's attribute `force_mirroring`; None where there is none."""
    text = node.attrs.get("__force_mirroring__")
    return None if text is None else text.lower() in {"1", "true"}


@final
class Again:
    """Choice of the values of forward that clusters of backward compute again.

    Args:
        facts: With `shapes`, `types`, `contexts`, `num_outputs` and `wanted`.
        groups: The node numbers of each cluster, also of those that have one node.
        kinds: For each node what it has in common with all that it may be in a cluster with; None where it
            may be in none, or reduces rows.
        end: Number of the first node of backward.

    Attributes:
        choice: Nodes that run once more and values that are kept; None where too little would be freed.
    """

    def __init__(
        self, graph: Graph, facts: Facts, groups: Sequence[Sequence[int]], kinds: Sequence[Hashable], end: int
    ) -> None:
        self._graph, self._facts, self._end = graph, facts, end
        self._groups, self._kinds = groups, kinds
        self._sizes: dict[Entry, int] = {}
        self._kind_of = dict(zip(graph.nodes, kinds, strict=True))
        self._there = set(graph.outputs[: facts["num_outputs"]])
        self._read, fixed = set[Entry](), set[Entry]()
        for node in graph.nodes[end:]:
            for entry in node.of_read(node.inputs):
                self._read.add(entry)
                if self._kind_of[node] != self._kind_of[entry.node]:
                    fixed.add(entry)
        # What backward has, whatever is chosen.
        self._kept = {entry for entry in self._read if entry in fixed or self._is_there(entry)}
        self._steps: set[Node] = set()
        self._freed_bytes = 0
        self.choice: tuple[set[Node], set[Entry]] | None = None
        if not self._may_be_worth():
            return
        self._freed_bytes = 0
        # A later cluster's choice may keep what an earlier one makes.
        for group in sorted(groups, key=min, reverse=True):
            if group[0] < end:
                self._choose([graph.nodes[number] for number in group])
        if self._freed_bytes >= WORTH_BYTES or any(map(forced, self._steps)):
            self.choice = self._steps, self._kept

    def _may_be_worth(self) -> bool:
        """Return whether enough could be freed, were nothing kept of what may be computed again."""
        before = self._graph.nodes[: self._end]
        free = [entry for entry in self._read - self._kept if self._kind_of[entry.node] is not None]
        self._freed_bytes = sum(map(self._bytes_of, free))
        return self._freed_bytes >= WORTH_BYTES or any(map(forced, before))

    def _is_there(self, entry: Entry) -> bool:
        return isinstance(entry.node, Variable) or entry in self._there

    def _may_be_read(self, entry: Entry) -> bool:
        """Return whether backward may read a value and programs may change what they might change before."""
        if entry in self._read or not self._is_there(entry):
            return True
        return isinstance(entry.node, Variable) and entry.node.name in self._facts["wanted"]

    def _bytes_of(self, entry: Entry) -> int:
        found = self._sizes.get(entry)
        if found is None:
            number = self._graph.entry_id(entry)
            dtype = self._facts["types"].values[number]
            found = self._sizes[entry] = prod(self._facts["shapes"].values[number]) * dtype.itemsize
        return found

    def is_same(self, facts: Facts) -> bool:
        """Return whether the choice is the same at another size."""
        shapes, types, before = facts["shapes"].values, facts["types"].values, [*self._sizes.values()]
        numbers = map(self._graph.entry_id, self._sizes)
        after = [prod(shapes[number]) * types[number].itemsize for number in numbers]
        # Sizes that all grow by one factor have the same minimum cuts, which free as much more.
        pairs = zip(before, after, strict=True)
        if all(one * after[0] == two * before[0] for one, two in pairs) and not any(
            map(forced, self._graph.nodes)
        ):
            is_worth = bool(before) and self._freed_bytes * after[0] >= WORTH_BYTES * before[0]
            return is_worth is (self.choice is not None)
        return Again(self._graph, facts, self._groups, self._kinds, self._end).choice == self.choice

    def _choose(self, members: Sequence[Node]) -> None:
        own = {node for node in members if self._kind_of[node] is not None and forced(node) is not False}
        made = [Entry(node, index) for node in members for index in range(node.num_outputs)]
        needed = [entry for entry in made if entry in self._read and entry not in self._kept]
        if not own:
            self._kept.update(needed)
            return

        def sources_of(entry: Entry) -> Sequence[Entry] | None:
            node = entry.node
            if node not in own:
                return None
            found = node.of_read(node.inputs)
            return found if all(map(self._may_be_read, found)) else None

        def size_of(entry: Entry) -> int:
            if entry in self._kept or self._is_there(entry):
                return 0
            return _FORCED if forced(entry.node) and sources_of(entry) else self._bytes_of(entry)

        kept = minimum_cut(needed, sources_of, size_of)
        freed = [entry for entry in needed if entry not in kept]
        added = [entry for entry in kept if entry not in self._read and not self._is_there(entry)]
        self._freed_bytes += sum(map(self._bytes_of, freed)) - sum(map(self._bytes_of, added))
        self._kept |= kept
        waiting = freed
        while waiting:
            node = waiting.pop().node
            if node not in self._steps:
                self._steps.add(node)
                waiting += [source for source in node.of_read(node.inputs) if source not in self._kept]

    def rewritten(self) -> tuple[Graph, dict[Node, Node]]:
        """The graph with the nodes that run once more, and nodes of the old one that new ones are like."""
        graph, origins, clones = self._graph, dict[Node, Node](), dict[Node, Node]()

        def now(entry: Entry) -> Entry:
            is_again = entry.node in clones and entry not in self._kept
            return Entry(clones[entry.node], entry.index) if is_again else entry

        for node in graph.nodes:  # what a node reads stands before it
            if node in self._steps:
                assert isinstance(node, OpNode)
                inputs = [now(entry) for entry in node.inputs]
                clones[node] = OpNode(node.op, node.name + SUFFIX, inputs, node.attrs)
                origins[clones[node]] = node

        def visit(old: Node, new: Node) -> list[Entry] | None:
            if graph.node_ids[old] < self._end:
                return None
            read = set(old.of_read(old.inputs))
            inputs = [
                now(before) if before in read and now(before) is not before else after
                for before, after in zip(old.inputs, new.inputs, strict=True)
            ]
            made = rebuilt(new, inputs)
            origins[made] = old
            return None if made is new else [Entry(made, index) for index in range(made.num_outputs)]

        return rewrite(graph, visit), origins
