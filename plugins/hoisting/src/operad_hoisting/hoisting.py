"""The pass: gradients of a weight that many nodes use are computed for some nodes at a time.

An unrolled network uses one weight at every step. The gradient of each step alone is a product that sums
over the few rows of a batch and is added to the whole weight; that of some steps together sums over the rows
of all of them, and the weight's gradient passes through memory once. The steps' data, and the gradients of
their outputs, are joined for that.

Only as many nodes are taken together as give `ROWS` rows: more rows make a product no faster, and everything
that is joined must be kept until the last of it is there.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple, final

from operad.graph import Entry, Graph, Node, OpNode, Pass, extended, rewrite
from operad.operator import Gradient, OperatorProperty, Shape
from operad_hoisting.joined import Joined
from operad_hoisting.settings import MODE

ROWS: Final = 256
"""Rows over which a product sums before more of them stop to pay."""

Facts = Mapping[str, Any]


class Use(NamedTuple):
    """A gradient node of an operator that computes each item of some arguments alone.

    Attributes:
        node: The node.
        items: Positions of the operator's arguments whose first axis counts items.
        shared: Its other arguments whose gradients the node computes: sums over all items.
        rows: How many items there are.
    """

    node: OpNode
    items: frozenset[int]
    shared: tuple[int, ...]
    rows: int

    @property
    def op(self) -> Gradient:
        """The node's operator."""
        assert isinstance(self.node.op, Gradient)
        return self.node.op

    def output(self, target: int) -> Entry:
        """The gradient of an argument."""
        return Entry(self.node, self.op.targets.index(target))


def _run(graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
    unchanged = {"shapes": facts["shapes"], "types": facts["types"]}
    if MODE.read() == "off" or not [node for node in graph.op_nodes if node.adds_to]:
        return graph, unchanged
    # Sizes decide by which shapes are equal, and by how many nodes give the rows.
    numbers: dict[Shape, int] = {}
    alike = [numbers.setdefault(shape, len(numbers)) for shape in facts["shapes"].values]
    rows = [_at_once(shape[0]) if shape else 0 for shape in numbers]
    known = graph.memo.setdefault("hoisting", {})
    key = (*alike, *rows, *facts["contexts"])
    if key not in known:
        known[key] = _Hoisting(graph, facts).run()
    found, origins = known[key]
    if found is graph:
        return graph, unchanged
    values = list(zip(facts["shapes"].values, facts["types"].values, strict=True))
    spans = dict(zip(graph.nodes, pairwise(graph.first_entries), strict=True))
    old = {node: origins.get(node, node) for node in found.nodes}
    return found, extended(found, {new: values[slice(*spans[o])] for new, o in old.items() if o in spans})


def _at_once(rows: int) -> int:
    """Nodes that are taken together."""
    return max(1, ROWS // max(1, rows))


@final
class _Hoisting:
    """One run of the pass over a graph."""

    def __init__(self, graph: Graph, facts: Facts) -> None:
        self._graph = graph
        self._shapes, self._contexts = facts["shapes"], facts["contexts"]
        self._groups: dict[Node, list[Use]] = {}
        self._made: dict[Node, OpNode] = {}  # each node of a group on its new inputs
        self._origins: dict[Node, Node] = {}  # for each other node that is new, what it was

    def run(self) -> tuple[Graph, dict[Node, Node]]:
        """The graph, and for nodes on new inputs the nodes that they were."""
        for chain in self._chains():
            count = _at_once(chain[0].rows)
            for start in range(0, len(chain), count):
                group = chain[start : start + count]
                if len(group) > 1:
                    self._groups.update((use.node, group) for use in group)
        return rewrite(self._graph, self._visit) if self._groups else self._graph, self._origins

    def _chains(self) -> list[list[Use]]:
        """Uses whose gradients are added to each other's, in order."""
        chains: list[list[Use]] = []
        ends: dict[Node, list[Use]] = {}
        for node in self._graph.op_nodes:
            use = self._use(node)
            if use is None:
                continue
            before = {entry.node: self._target(entry) for entry in self._sums(use).values()}
            chain = ends.pop(next(iter(before)), None) if len(before) == 1 else None
            if chain is None or not self._follows(use, chain[-1]):
                chain = []
                chains.append(chain)
            chain.append(use)
            ends[node] = chain
        return chains

    def _use(self, node: OpNode) -> Use | None:
        op = node.op
        if not isinstance(op, Gradient) or op.is_stateful or node.aux or node.control_deps:
            return None
        names = op.of.list_arguments()
        items = frozenset(map(names.index, getattr(op.of, "items", ())))
        shared = tuple(target for target in op.targets if target not in items)
        if not items or not shared or node in self._graph.computed:
            return None
        shapes = self._argument_shapes(op, node)
        return Use(node, items, shared, shapes[min(items)][0])

    def _argument_shapes(self, op: Gradient, node: OpNode) -> list[Shape]:
        return op.of_operator([self._shapes.of(entry) for entry in node.args])

    def _sums(self, use: Use) -> dict[int, Entry]:
        """The sum that each of the shared gradients is added to."""
        found = {use.op.targets[position]: entry for position, entry in use.node.sums}
        return {target: found[target] for target in use.shared if target in found}

    @staticmethod
    def _target(entry: Entry) -> int | None:
        op = entry.node.op if isinstance(entry.node, OpNode) else None
        return op.targets[entry.index] if isinstance(op, Gradient) else None

    def _follows(self, use: Use, before: Use) -> bool:
        """Return whether the gradients of two uses may be computed together, and only added to each other."""
        if self._key(use) != self._key(before):
            return False
        return self._sums(use) == {target: before.output(target) for target in use.shared}

    def _key(self, use: Use) -> Hashable:
        op, node = use.op, use.node
        roles = dict(zip(op.entries, node.args, strict=True))
        shared = [
            entry for (kind, index), entry in roles.items() if kind == "in_data" and index not in use.items
        ]
        shapes = self._argument_shapes(op, node)
        context = self._contexts[self._graph.node_ids[node]]
        return use.shared, use.items, signature_of(op.of), tuple(shared), tuple(shapes), context

    def _visit(self, old: Node, new: Node) -> Sequence[Entry] | None:
        group = self._groups.get(old)
        if group is None:
            self._origins[new] = old
            return None
        assert isinstance(old, OpNode)
        assert isinstance(new, OpNode)
        self._made[old] = new
        use = next(each for each in group if each.node is old)
        found = dict[int, Entry]()
        alone = [target for target in use.op.targets if target in use.items]
        if alone:
            found |= self._gradients(use, alone, new)
        if use is group[-1]:
            found |= self._together(group)
        return [found.get(target, use.output(target)) for target in use.op.targets]

    def _gradients(self, use: Use, targets: Sequence[int], new: OpNode) -> dict[int, Entry]:
        """A node that computes the gradients of the items alone."""
        op = Gradient(use.op.of, [number in targets for number in range(len(use.op.wanted))])
        roles = dict(zip(use.op.entries, new.args, strict=True))
        sums = {use.op.targets[position]: entry for position, entry in new.sums}
        own = {target: sums[target] for target in targets if target in sums}
        made = OpNode(
            op,
            new.name,
            [*[roles[role] for role in op.entries], *own.values()],
            new.attrs,
            new.companion,
            [op.targets.index(target) for target in own],
        )
        return {target: Entry(made, op.targets.index(target)) for target in targets}

    def _together(self, group: Sequence[Use]) -> dict[int, Entry]:
        """A node that computes the shared gradients of all uses."""
        first, last = group[0], group[-1]
        op = Gradient(first.op.of, [number in first.shared for number in range(len(first.op.wanted))])
        attrs = self._made[last.node].attrs
        inputs = []
        roles = [dict(zip(use.op.entries, self._made[use.node].args, strict=True)) for use in group]
        for role in op.entries:
            entries = [found[role] for found in roles]
            if role.kind == "in_data" and role.index not in first.items:
                inputs.append(entries[0])
            else:
                join = Joined(num_args=len(entries))
                inputs.append(Entry(OpNode(join, f"{last.node.name}_joined", entries, attrs)))
        sums = {first.op.targets[position]: entry for position, entry in self._made[first.node].sums}
        own = {target: sums[target] for target in first.shared if target in sums}
        made = OpNode(
            op,
            f"{last.node.name}_together",
            [*inputs, *own.values()],
            attrs,
            None,
            [op.targets.index(target) for target in own],
        )
        return {target: Entry(made, op.targets.index(target)) for target in first.shared}


def signature_of(op: OperatorProperty) -> Hashable:
    """Equal for operators that act alike."""
    return OpNode(op, "").signature


hoisting: Final = Pass(
    "hoisting",
    _run,
    requires=("shapes", "types", "contexts"),
    provides=("shapes", "types"),
    reads_names=False,
)
