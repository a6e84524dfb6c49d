"""Updates of arguments, in one graph with their gradients.

The node of an update reads an argument, its gradient and the optimizer's states. Its output is the argument's
new value, which whoever binds the graph lets lie in the argument's own array: so it waits for every node that
reads the old value. A gradient that nobody else is to see takes up no output and no array of its own, only
memory of the plan's until its update has read it.

This pass comes when kernels are chosen, so that a step computes the bits of forward, backward and updates
one after another: up to here the graph is that of an executor, and its nodes are left as they are, with their
kernels. In what order they run is what this pass decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, Final, NamedTuple

from operad.dtypes import DType
from operad.graph import (
    Entry,
    Facts,
    Graph,
    Node,
    OpNode,
    Pass,
    Variable,
    apart,
    choose_kernels,
    extended,
    kernel_costs,
    with_demands,
)
from operad.operator import OperatorProperty, Shape

_RENEWED: Final = ("shapes", "types", "contexts", "kernels", "costs", "wanted")


class Update(NamedTuple):
    """Move of an argument.

    Attributes:
        op: The operator: of the argument and its gradient, with auxiliary states; gives the new value.
        states: Name, shape and type of a variable for each of the states.
    """

    op: OperatorProperty
    states: Mapping[str, tuple[Shape, DType]]


def updates_pass(updates: Mapping[str, Update], kept: Collection[str]) -> Pass:
    """The pass that appends the updates of arguments.

    Args:
        updates: By argument's name, in the order in which their gradients are to be made, roughly.
        kept: Names of arguments whose gradients stay outputs. The new values of these stand before all
            gradients; those of the others take the places of theirs.
    """
    return Pass("updates", partial(_append, updates, kept), (*_RENEWED, "num_outputs", "ctx"), _RENEWED)


def _append(
    updates: Mapping[str, Update], kept: Collection[str], graph: Graph, facts: Facts
) -> tuple[Graph, Facts]:
    others, gradients = apart(graph, facts)
    variables = {node.name: node for node in graph.nodes if isinstance(node, Variable)}
    readers: defaultdict[Node, list[Node]] = defaultdict(list)
    for node in graph.op_nodes:
        for variable in {entry.node for entry in node.inputs if isinstance(entry.node, Variable)}:
            readers[variable].append(node)
    table = list(zip(facts["shapes"].values, facts["types"].values, strict=True))
    spans = pairwise(graph.first_entries)
    known: dict[Node, Any] = {
        node: table[start:end] for node, (start, end) in zip(graph.nodes, spans, strict=True)
    }
    moved: dict[str, Entry] = {}
    for name, update in updates.items():
        # An argument that a pass left out of the graph is like its gradient.
        argument = variables.get(name) or Variable(name)
        known.setdefault(argument, [table[graph.entry_id(gradients[name])]])
        states = [Variable(state) for state in update.states]
        known.update(zip(states, [[spec] for spec in update.states.values()], strict=True))
        node = OpNode(update.op, f"{name}_update", [Entry(argument), gradients[name], *map(Entry, states)])
        node.control_deps = readers[argument]
        moved[name] = Entry(node)
    # The order of outputs is that of nodes: a gradient is made, and updates its argument, before the next.
    wanted = [*moved, *[name for name in gradients if name not in moved]]
    last = [gradients[name] if name in kept else moved.get(name, gradients[name]) for name in wanted]
    made = Graph([*others, *[entry for name, entry in moved.items() if name in kept], *last])
    contexts, choices = (dict(zip(graph.nodes, facts[name], strict=True)) for name in ("contexts", "kernels"))
    found: Facts = {
        **extended(made, known),
        "contexts": [contexts.get(node, facts["ctx"]) for node in made.nodes],
    }
    made, found, chosen = with_demands(made, found, choose_kernels(made, found, choices))
    return made, {
        **found, "kernels": chosen, "costs": kernel_costs(made, found, chosen), "wanted": wanted,
    }  # fmt: skip
