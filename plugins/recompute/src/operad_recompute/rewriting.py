"""The graph in which backward reads values that are computed again."""

from __future__ import annotations

from collections.abc import Sequence

from operad.graph import Entry, Graph, Node, OpNode, rebuilt, rewrite
from operad_recompute.choice import Stretch
from operad_recompute.values import Values

SUFFIX = "_mirror"
"""Behind the name of a node that runs once more, as in MXNet."""


def mirrored(values: Values, stretches: Sequence[Stretch]) -> tuple[Graph, dict[Node, Node]]:
    """The graph in which the values of `stretches` are computed again before backward first reads them.

    A node that runs once more waits for the gradients that its first reader waits for: otherwise a graph's
    order could put it, and with it all values of its stretch, where backward begins.

    Returns:
        The graph, and for each new node the old one whose outputs its own are like.
    """
    graph = values.graph
    stretch_of = {entry: stretch for stretch in stretches for entry in stretch.again}
    origins: dict[Node, Node] = {}
    clones: dict[tuple[int, int], OpNode] = {}

    def clone(step: int, stretch: Stretch, after: Sequence[Node]) -> OpNode:
        """The node that runs `step` once more; the nodes below it come first, without recursion."""
        pending = [step]
        while pending:
            current = pending[-1]
            if (stretch.start, current) in clones:
                pending.pop()
                continue
            how = values.repetition(current)
            assert how is not None
            numbers = [graph.entry_id(entry) for entry in how.inputs]
            below = [values.owners[number] for number in numbers if is_again(number, stretch)]
            lacking = [other for other in below if (stretch.start, other) not in clones]
            if lacking:
                pending += lacking
                continue
            inputs = [
                Entry(clones[stretch.start, values.owners[number]], entry.index)
                if is_again(number, stretch)
                else entry
                for number, entry in zip(numbers, how.inputs, strict=True)
            ]
            old = graph.nodes[current]
            made = clones[stretch.start, current] = OpNode(how.op, old.name + SUFFIX, inputs, old.attrs)
            made.control_deps = [] if below else list(after)
            origins[made] = old
        return clones[stretch.start, step]

    def is_again(number: int, stretch: Stretch) -> bool:
        return values.owners[number] in stretch.steps and number not in stretch.kept

    def visit(old: Node, new: Node) -> list[Entry] | None:
        step = graph.node_ids[old]
        if step < values.end:
            return None
        numbers = graph.input_ids[step]
        read = set(old.of_read(numbers))
        after = [entry.node for entry, n in zip(new.inputs, numbers, strict=True) if n >= len(values.owners)]
        inputs = [
            Entry(clone(values.owners[number], stretch_of[number], after), entry.index)
            if number in stretch_of and number in read
            else entry
            for number, entry in zip(numbers, new.inputs, strict=True)
        ]
        made = rebuilt(new, inputs)
        origins[made] = old
        return None if made is new else [Entry(made, index) for index in range(made.num_outputs)]

    return rewrite(graph, visit), origins
