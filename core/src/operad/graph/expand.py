"""The expansion pass: operators that are made of others become these.

It is the first pass after inference, so that every other one, gradients included, sees the parts. Shapes
and types of the parts follow from those of their inputs.

A node stays whole where some of its inputs reach none of the outputs that are used: if these are states,
they would not be updated.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from operad.graph.ir import Entry, Graph, Node, OpNode, rewrite
from operad.op import Expansion


def expand(graph: Graph) -> Graph:
    """The graph with parts in the place of operators that are made of others; itself if there are none."""
    used: dict[Node, set[int]] = {}
    for entry in [*graph.outputs, *(entry for node in graph.nodes for entry in node.inputs)]:
        used.setdefault(entry.node, set()).add(entry.index)

    def visit(old: Node, new: Node) -> Sequence[Entry] | None:
        assert isinstance(new, OpNode)
        expansion = None if new.adds_to else new.op.expansion()
        if expansion is None or not _uses_all(expansion, len(new.inputs), used[old]):
            return None
        return _expanded(new, expansion)

    return rewrite(graph, visit)


def _uses_all(expansion: Expansion, num_inputs: int, outputs: Collection[int]) -> bool:
    """Return whether every input of the operator reaches one of the outputs."""
    reached = {expansion.outputs[index] for index in outputs}
    for number in range(len(expansion.parts) - 1, -1, -1):
        if any(part == number for part, _ in reached):
            reached.update(expansion.parts[number].inputs)
    return sum(part < 0 for part, _ in reached) == num_inputs


def _expanded(node: OpNode, expansion: Expansion) -> list[Entry]:
    """Entries of the parts that stand for the node's outputs."""
    user = {key: value for key, value in node.attrs.items() if key.startswith("__")}
    made: list[OpNode] = []

    def entry(part: int, index: int) -> Entry:
        return node.inputs[index] if part < 0 else Entry(made[part], index)

    for number, part in enumerate(expansion.parts):
        name = node.name if _is_the_output(node, expansion, number) else f"{node.name}_{part.name}"
        made.append(OpNode(part.op, name, [entry(*value) for value in part.inputs], {**part.attrs, **user}))
    return [entry(*value) for value in expansion.outputs]


def _is_the_output(node: OpNode, expansion: Expansion, number: int) -> bool:
    """Return whether a part computes the node's one output, under the name that it has there."""
    if len(expansion.outputs) != 1 or expansion.outputs[0][0] != number:
        return False
    names = expansion.parts[number].op.list_outputs()
    return names[expansion.outputs[0][1]] == node.op.list_outputs()[0]
