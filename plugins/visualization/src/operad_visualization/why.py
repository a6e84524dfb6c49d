"""Kernels of the nodes of a bound graph, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

from operad.cli.explanation import arrays_in_words, explained
from operad.context import Context
from operad.graph import Composite, CompositeReport, OpNode, parts_of


@final
class NodeKernel(NamedTuple):
    """The kernel of one part of a node.

    Attributes:
        node: The node's name.
        operator: The operator that it applies or differentiates.
        part: `forward`, or the gradient of an argument.
        kernel: What computes it; None where the operator has no kernels and makes what does.
        ctx: Where it runs.
        cost_us: Estimated microseconds of the part alone, on one thread.
        workspace_bytes: Memory that the kernel says it takes for itself.
        others: Every other kernel that might compute the part, with why it does not.
        arrays: What is prepared for it, in words.
        prepared_bytes: What is prepared for it, once for each version of what that is made of.
    """

    node: str
    operator: str
    part: str
    kernel: str | None
    ctx: Context
    cost_us: float
    workspace_bytes: int
    others: dict[str, str]
    arrays: str = ""
    prepared_bytes: int = 0


@final
class NodeKernels:
    """The kernels of a bound graph; its text is a table.

    Attributes:
        rows: One for each part of each node, in the order in which they run.
        composites: By name, the nodes that stand for several of the user's.
    """

    def __init__(
        self, rows: Sequence[NodeKernel], composites: Mapping[str, CompositeReport] | None = None
    ) -> None:
        self.rows = list(rows)
        self.composites = dict(composites or {})

    def __str__(self) -> str:
        head = ("node", "part", "kernel", "context", "cost", "workspace", "arrays", "and not")
        lines = [head, *(_shown(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
        table = [
            "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*table, *(f"{name}: {report}" for name, report in self.composites.items())])

    def __repr__(self) -> str:
        return f"<the kernels of {len({row.node for row in self.rows})} nodes; print shows them>"


def why(self: Any) -> NodeKernels:
    """Return the kernel of each part of each node, and why no other; printed, it is a table."""
    program = self.program
    rows: list[NodeKernel] = []
    composites: dict[str, CompositeReport] = {}
    for node_id, node in enumerate(program.graph.nodes):
        if isinstance(node, OpNode) and isinstance(node.op, Composite):
            about = node.op.about([program.spec(entry).shape for entry in program.graph.input_ids[node_id]])
            beside = {program.named(name): reason for name, reason in about.neighbours.items()}
            members = [*map(program.named, about.members)]
            composites[node.name] = about._replace(members=members, neighbours=beside)
    for node_id, node in enumerate(program.graph.nodes):
        if not isinstance(node, OpNode):
            continue
        applied = node.companion or node
        name, operator, ctx = program.labels[node_id], applied.op.name, program.contexts[node_id]
        choice = program.kernels[node_id]
        if choice is None:
            parts = ", ".join(parts_of(node))
            rows.append(NodeKernel(name, operator, parts, None, ctx, program.costs[node_id].us, 0, {}))
            continue
        for one in explained(choice, parts_of(node)):
            words, size_bytes = arrays_in_words(one.prepared), sum(one.prepared.values())
            found = (ctx, one.cost_us, one.workspace_bytes, one.others, words, size_bytes)
            rows.append(NodeKernel(name, operator, one.part, one.kernel, *found))
    return NodeKernels(rows, composites)


def _shown(row: NodeKernel) -> tuple[str, ...]:
    return (
        row.node,
        row.part,
        row.kernel or f"{row.operator} itself",
        str(row.ctx),
        f"{row.cost_us:.3g} us",
        f"{row.workspace_bytes} bytes",
        row.arrays,
        "; ".join(f"{name}: {reason}" for name, reason in row.others.items()),
    )
