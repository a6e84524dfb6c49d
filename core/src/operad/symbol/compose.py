"""Building graphs: applying operators to entries, replacing variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from operad.errors import ArgumentError
from operad.graph import Entry, Node, OpNode, Variable
from operad.graph.ir import topological_order
from operad.operator import OperatorProperty
from operad.symbol import attribute
from operad.symbol import name as naming


def apply(
    prop: OperatorProperty,
    inputs: Mapping[str, Entry],
    name: str | None = None,
    attrs: dict[str, str] | None = None,
    hint: str | None = None,
) -> OpNode:
    """A node that applies `prop`; arguments and states that are not given become new variables.

    Args:
        prop: The operator with its parameters.
        inputs: Entries by argument or state name.
        name: Name of the node; automatic if None.
        attrs: The user's attributes, on top of the `AttrScope`'s.
        hint: What automatic names begin with; the operator's lower-case name if None.
    Raises:
        ArgumentError: `inputs` names something the operator does not take.
        GraphError: An attribute is no string, or has the name of a parameter.
    """
    names = [*prop.list_arguments(), *prop.list_auxiliary_states()]
    unknown = [key for key in inputs if key not in names]
    if unknown:
        raise ArgumentError(f"{prop.name}: unknown argument {unknown[0]!r}; expected {', '.join(names)}")
    node_name = naming.current().get(name, hint or prop.name.lower())
    merged = attribute.in_scope(attrs)
    attribute.check(f"{prop.name} {node_name!r}", merged, prop.params)
    entries = [
        inputs[key] if key in inputs else Entry(Variable(f"{node_name}_{key}", attrs=_inherited(merged)))
        for key in names
    ]
    for key, entry in zip(names, entries, strict=True):
        if key in prop.initializers and isinstance(entry.node, Variable):
            entry.node.attrs.setdefault("__init__", prop.initializers[key])
    return OpNode(prop, node_name, entries, merged)


def _inherited(attrs: dict[str, str]) -> dict[str, str]:
    """What automatic variables take over from their node: hidden attributes, such as the context group."""
    return {key: value for key, value in attrs.items() if key.startswith("__")}


def substitute(outputs: Sequence[Entry], replacements: Mapping[Node, Entry]) -> list[Entry]:
    """The same graph with variables replaced by entries; untouched parts are shared."""
    moved: dict[Node, Node] = {}

    def move(entry: Entry) -> Entry:
        if entry.node in replacements:
            return replacements[entry.node]
        return Entry(moved.get(entry.node, entry.node), entry.index)

    for node in topological_order(outputs):
        if not isinstance(node, OpNode):
            continue
        inputs = [move(entry) for entry in node.inputs]
        control_deps = [move(Entry(other)).node for other in node.control_deps]
        if (inputs, control_deps) != (node.inputs, node.control_deps):
            moved[node] = _copy(node, node.name, inputs, control_deps)
    return [move(entry) for entry in outputs]


def renamed(outputs: Sequence[Entry], name: str) -> list[Entry]:
    """The same outputs under another name, if one operator node computes them all."""
    nodes = {entry.node for entry in outputs}
    node = nodes.pop()
    if nodes or not isinstance(node, OpNode):
        return list(outputs)
    new = _copy(node, name, node.inputs, node.control_deps)
    return [Entry(new, entry.index) for entry in outputs]


def _copy(node: OpNode, name: str, inputs: Sequence[Entry], control_deps: Sequence[Node]) -> OpNode:
    new = OpNode(node.op, name, inputs, node.attrs)
    new.control_deps = list(control_deps)
    return new
