"""Placement: which context each node runs on, with copies where values change contexts.

An operator node runs on the context that its `__ctx_group__` attribute is mapped to, or on the
default. A gradient runs where the node does that it is the gradient of, and the graph's own primitives
beside their first input. A variable without a group lives where it is first read, in the graph as it was
given: that is where the caller's array is, whatever passes make of its readers.

An input of which a node only sees shape and type is not copied.

Source: AssignContext, src/executor/graph_executor.cc. Differs: copies are made once for each value
and target context, whichever nodes read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Final

from operad.device import Context
from operad.errors import ContextError
from operad.graph.ir import Entry, Graph, Node, OpNode, Variable, rebuilt, rewrite
from operad.graph.primitives import CrossDeviceCopy, GraphPrimitive

_NONE: Final[Mapping[str, Context]] = {}


def place(
    graph: Graph,
    default_ctx: Context,
    group2ctx: Mapping[str, Context],
    targets: Sequence[Context | None] = (),
    variables: Mapping[str, Context] = _NONE,
) -> tuple[Graph, list[Context]]:
    """Give every node a context, and insert `_cross_device_copy` nodes where entries cross.

    Args:
        graph: What to place; it is left as it is. Placing a placed graph again changes nothing.
        group2ctx: The context of each `__ctx_group__`; groups it does not name are on the default.
        targets: For each output of `graph`, the context it is brought to, or None; may be left out. A
            gradient belongs beside its variable.
        variables: Contexts of variables, by name, where they are known.

    Returns:
        The graph with copies, and the context of each of its nodes, by number. Variables are the same
        objects as before; other nodes are new where anything they depend on is. With one context, the
        same graph.

    Raises:
        ContextError: An auxiliary state is on another context than the node that updates it.
    """
    found = assign_contexts(graph, default_ctx, group2ctx, variables)
    if not group2ctx:
        return graph, found
    return insert_copies(graph, dict(zip(graph.nodes, found, strict=True)), targets)


def assign_contexts(
    graph: Graph,
    default_ctx: Context,
    group2ctx: Mapping[str, Context],
    variables: Mapping[str, Context] = _NONE,
) -> list[Context]:
    """The context of each node, by number, as `place` finds it, without the copies."""
    if not group2ctx:
        return [default_ctx] * len(graph.nodes)
    return list(map(_assign(graph.nodes, default_ctx, group2ctx, variables).__getitem__, graph.nodes))


def insert_copies(
    graph: Graph, contexts: Mapping[Node, Context], targets: Sequence[Context | None] = ()
) -> tuple[Graph, list[Context]]:
    """Insert `_cross_device_copy` nodes where a node reads an entry of another context.

    Args:
        contexts: The context of each node of `graph`.
        targets: For each output of `graph`, the context it is brought to, or None; may be left out.

    Returns:
        The graph with copies, and the context of each of its nodes, by number.

    Raises:
        ContextError: An auxiliary state is on another context than the node that updates it.
    """
    now = dict(contexts)
    copies: dict[tuple[Entry, Context], Entry] = {}

    def on(entry: Entry, ctx: Context) -> Entry:
        """The entry, or a copy of it, on `ctx`."""
        if now[entry.node] is ctx:
            return entry
        found = copies.get((entry, ctx))
        if found is None:
            name = f"{entry.name}_on_{ctx.device_type}{ctx.device_id}"
            copy = CrossDeviceCopy(device_type=ctx.device_type, device_id=ctx.device_id)
            found = copies[entry, ctx] = Entry(OpNode(copy, name, [entry]))
            now[found.node] = ctx
        return found

    def visit(old: Node, node: Node) -> list[Entry] | None:
        ctx = now[node] = contexts[old]
        for entry in node.aux if isinstance(node, OpNode) else ():
            if now[entry.node] is not ctx:
                raise ContextError(
                    f"auxiliary state {entry.name!r} is on {now[entry.node]}, but {node.name!r}, "
                    f"which updates it, runs on {ctx}; put both in one __ctx_group__"
                )
        if isinstance(node, OpNode) and isinstance(node.op, CrossDeviceCopy):
            return None
        read = node.of_read(range(len(node.inputs)))
        pairs = enumerate(node.inputs)
        moved = rebuilt(node, [on(entry, ctx) if number in read else entry for number, entry in pairs])
        now[moved] = ctx
        return None if moved is node else [Entry(moved, index) for index in range(node.num_outputs)]

    placed = rewrite(graph, visit)
    beside = zip_longest(placed.outputs, targets)
    outputs = tuple([entry if ctx is None else on(entry, ctx) for entry, ctx in beside])
    placed = placed if outputs == placed.outputs else Graph(outputs)
    return placed, [now[node] for node in placed.nodes]


def _assign(
    nodes: Iterable[Node],
    default_ctx: Context,
    group2ctx: Mapping[str, Context],
    variables: Mapping[str, Context],
) -> dict[Node, Context]:
    contexts: dict[Node, Context] = {}
    for node in nodes:
        if isinstance(node, Variable):
            if node.name in variables:
                contexts[node] = variables[node.name]
            elif "__ctx_group__" in node.attrs:
                contexts[node] = group2ctx.get(node.attrs["__ctx_group__"], default_ctx)
            continue
        contexts[node] = _own_context(node, contexts, default_ctx, group2ctx)
        if not _is_primitive(node):
            # invariant: an unplaced variable takes the context of its first real reader
            for entry in node.inputs:
                contexts.setdefault(entry.node, contexts[node])
    for node in nodes:
        contexts.setdefault(node, default_ctx)
    return contexts


def _own_context(
    node: Node, contexts: Mapping[Node, Context], default_ctx: Context, group2ctx: Mapping[str, Context]
) -> Context:
    if isinstance(node, OpNode) and node.companion is not None and node.companion in contexts:
        return contexts[node.companion]
    if "__ctx_group__" in node.attrs:
        return group2ctx.get(node.attrs["__ctx_group__"], default_ctx)
    if isinstance(node, OpNode) and isinstance(node.op, CrossDeviceCopy) and node.op.device_type:
        return Context(node.op.device_type, node.op.device_id)
    if _is_primitive(node):
        return contexts.get(node.inputs[0].node, default_ctx)
    return default_ctx


def _is_primitive(node: Node) -> bool:
    return isinstance(node, OpNode) and isinstance(node.op, GraphPrimitive)
