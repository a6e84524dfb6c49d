"""Building graphs: applying operators to entries, replacing variables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from operad.errors import ArgumentError, BindError
from operad.graph import Entry, Graph, GraphPrimitive, Node, OpNode, Variable
from operad.graph.ir import topological_order
from operad.op import Gradient, OperatorProperty
from operad.symbol import attribute
from operad.symbol.name import NameManager


def apply(
    prop: OperatorProperty,
    inputs: Mapping[str, Entry],
    name: str | None = None,
    attrs: dict[str, str] | None = None,
    hint: str | None = None,
    said: Mapping[str, Any] | None = None,
) -> OpNode:
    """A node that applies `prop`; arguments and states that are not given become new variables.

    As in MXNet, the new variables take over what is said of the node, parameters included.

    Args:
        prop: The operator with its parameters.
        inputs: Entries by argument or state name.
        name: Name of the node; automatic if None.
        attrs: The user's attributes, on top of the `AttrScope`'s.
        hint: What automatic names begin with; the operator's lower-case name if None.
        said: The parameters that were given, which lists and files show as they were given; all if None.
    Raises:
        ArgumentError: The name is no string.
        GraphError: An attribute is no string, or no name that an operator's attribute may have.
    """
    names = [*prop.list_arguments(), *prop.list_auxiliary_states()]
    if not isinstance(name, str | None):
        raise ArgumentError(f"{prop.name}: the name is {name!r}, expected a string")
    node_name = NameManager.current.get(name, hint or prop.name.lower())
    own = attribute.AttrScope.current.get(attrs)
    attribute.check_of_operator(f"{prop.name} {node_name!r}", own)
    texts = prop.get_params()
    shown = texts if said is None else {key: _as_given(said[key], texts[key]) for key in said}
    merged = {**shown, **own}
    entries = [
        inputs[key] if key in inputs else Entry(Variable(f"{node_name}_{key}", attrs=merged)) for key in names
    ]
    for key, entry in zip(names, entries, strict=True):
        if key in prop.initializers and isinstance(entry.node, Variable):
            entry.node.attrs.setdefault("__init__", prop.initializers[key])
    return OpNode(prop, node_name, entries, merged)


def _as_given(value: Any, text: str) -> str:
    """The text of a parameter in MXNet's files: Python's own of what was given."""
    return str(value) if isinstance(value, (str, bool, int, float, tuple, list)) else text


def only_entry(what: str, key: str, symbol: Any) -> Entry:
    """The output of a symbol that stands for the argument `key`.

    Raises:
        ArgumentError: It is no symbol, or has several outputs.
    """
    entries = getattr(symbol, "entries", None)
    if entries is None:
        raise ArgumentError(f"{what}: argument {key!r} got {type(symbol).__name__}, expected a symbol")
    if len(entries) != 1:
        raise ArgumentError(
            f"{what}: argument {key!r} got a symbol of {len(entries)} outputs, expected one; "
            f"choose one of {', '.join(symbol.list_outputs())} by index"
        )
    entry: Entry = entries[0]
    return entry


def substitute(
    outputs: Sequence[Entry], replacements: Mapping[Node, Entry], names: Mapping[Node, str] | None = None
) -> list[Entry]:
    """The same graph with variables replaced by entries; untouched parts are shared.

    Args:
        names: New names of operators.
    """
    names = names or {}
    moved: dict[Node, Node] = {}

    def move(entry: Entry) -> Entry:
        if entry.node in replacements:
            return replacements[entry.node]
        return Entry(moved.get(entry.node, entry.node), entry.index)

    for node in topological_order(outputs):
        if not isinstance(node, OpNode):
            continue
        name = names.get(node, node.name)
        inputs = [move(entry) for entry in node.inputs]
        control_deps = [move(Entry(other)).node for other in node.control_deps]
        if (name, inputs, control_deps) != (node.name, node.inputs, node.control_deps):
            moved[node] = _copy(node, name, inputs, control_deps, moved)
    return [move(entry) for entry in outputs]


def copied(outputs: Sequence[Entry]) -> list[Entry]:
    """The same graph, of nodes of its own."""
    new: dict[Node, Node] = {}
    for node in topological_order(outputs):
        inputs = [Entry(new[other], index) for other, index in node.inputs]
        control_deps = [new[other] for other in node.control_deps]
        new[node] = _copy(node, node.name, inputs, control_deps, new)
    return [Entry(new[node], index) for node, index in outputs]


def with_distinct_names(graph: Graph) -> Graph:
    """The graph, in which no two variables and no two operators have one name.

    Of nodes with one name the first keeps it; the others get a number, `act_1`, and a warning is given unless
    the program did not name them: the nodes of gradients.
    """
    operators = _second_names(graph.op_nodes)
    variables = _second_names([node for node in graph.nodes if isinstance(node, Variable)])
    if not operators and not variables:
        return graph
    new = {node: Entry(Variable(name, node.inputs, node.attrs)) for node, name in variables.items()}
    return Graph(substitute(graph.outputs, new, operators))


def bindable_graph(what: str, outputs: Sequence[Entry]) -> Graph:
    """The graph of some outputs, in which a name says which argument or state an array is bound to.

    Raises:
        BindError: Two arguments, or two states, have one name.
    """
    graph = Graph(outputs)
    states = {entry.node for node in graph.op_nodes for entry in node.aux}
    seen: set[tuple[str, bool]] = set()
    for node in graph.nodes:
        if isinstance(node, Variable):
            if (node.name, node in states) in seen:
                raise BindError(
                    f"{what}: two {'auxiliary states' if node in states else 'arguments'} are called "
                    f"{node.name!r}, so no name says which array belongs to which; rename one of them, or, "
                    "if they are meant to be one, use one variable twice"
                )
            seen.add((node.name, node in states))
    return with_distinct_names(graph)


def _second_names(nodes: Sequence[Node]) -> dict[Node, str]:
    """New names of nodes whose names earlier ones have."""
    taken = {node.name for node in nodes}
    if len(taken) == len(nodes):
        return {}
    seen: set[str] = set()
    found: dict[Node, str] = {}
    for node in nodes:
        if node.name in seen:
            found[node] = next(name for i in count(1) if (name := f"{node.name}_{i}") not in taken)
            taken.add(found[node])
            if not (isinstance(node, OpNode) and isinstance(node.op, Gradient | GraphPrimitive)):
                warnings.warn(
                    f"two nodes are called {node.name!r}; the later one is listed and saved as "
                    f"{found[node]!r}, give it a name of its own",
                    stacklevel=4,
                )
        seen.add(node.name)
    return found


def renamed(outputs: Sequence[Entry], name: str) -> list[Entry]:
    """The same outputs under another name, if one operator node computes them all."""
    nodes = {entry.node for entry in outputs}
    node = nodes.pop()
    if nodes or not isinstance(node, OpNode):
        return list(outputs)
    new = _copy(node, name, node.inputs, node.control_deps, {})
    return [Entry(new, entry.index) for entry in outputs]


def _copy(
    node: Node, name: str, inputs: Sequence[Entry], control_deps: Sequence[Node], renewed: Mapping[Node, Node]
) -> Node:
    """A variable or an operator like `node`."""
    new: Node
    if isinstance(node, OpNode):
        companion = node.companion and renewed.get(node.companion, node.companion)
        assert companion is None or isinstance(companion, OpNode)
        new = OpNode(node.op, name, inputs, node.attrs, companion, node.adds_to)
    else:
        assert isinstance(node, Variable)
        new = Variable(name, inputs, node.attrs)
    new.control_deps = list(control_deps)
    return new


def num_heads(prop: OperatorProperty) -> int:
    """Number of outputs of a symbol of the operator: those it shows.

    One that only writes its states shows none. Its first hidden one stands for it, or no graph could run it.
    """
    return prop.num_visible_outputs or 1
