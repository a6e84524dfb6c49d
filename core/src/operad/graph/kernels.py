"""Kernels of all nodes: chosen once, before nodes are scheduled, for everyone to read.

An imperative call asks the same function (`operad.op.choose`) for its plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from operad.graph.demands import parts_of
from operad.graph.ir import Graph, Node, OpNode
from operad.graph.partition import node_costs
from operad.graph.signature import Memo
from operad.op import (
    Choice,
    Chosen,
    Cost,
    Gradient,
    KernelCall,
    OperatorProperty,
    choose,
    is_computed_by_kernels,
)

_NONE: Final[Mapping[Node, Choice | None]] = MappingProxyType({})


def choose_kernels(
    graph: Graph, facts: Mapping[str, Any], known: Mapping[Node, Choice | None] = _NONE
) -> list[Choice | None]:
    """For each node the kernels of the operator that it applies or differentiates.

    None for variables, and for operators that are computed by no kernel but by what their class makes.

    Args:
        facts: `shapes`, `types` and `contexts`. A graph that computes gradients trains.
        known: What was chosen before for some of the nodes.
    """
    is_train = any(isinstance(node, OpNode) and type(node.op) is Gradient for node in graph.nodes)
    shapes, types, contexts = facts["shapes"].values, facts["types"].values, facts["contexts"]
    answers: Memo[Choice] = Memo()
    found: list[Choice | None] = []
    for number, node in enumerate(graph.nodes):
        choice = known.get(node)
        if choice is None and isinstance(node, OpNode):
            companion = graph.node_ids.get(node.companion) if node.companion is not None else None
            op = node.op.of if type(node.op) is Gradient else node.op
            if type(op) is Chosen:
                choice = op.choice
            elif companion is not None and companion < number:
                choice = found[companion]
            elif is_computed_by_kernels(op):
                args, ctx = graph.input_ids[number][: node.num_args], contexts[number]
                ins, kinds = [shapes[e] for e in args], [types[e] for e in args]
                key = (node.signature, ctx, *ins, *kinds)
                choice = answers.get(key, _chosen, node.op, ctx, ins, kinds, is_train)
        found.append(choice)
    return found


def _chosen(op: OperatorProperty, ctx: Any, in_shapes: Any, in_types: Any, is_train: bool) -> Choice:
    if isinstance(op, Gradient):
        in_shapes, in_types = op.of_operator(in_shapes), op.of_operator(in_types)
        op = op.of
    return choose(KernelCall(op, ctx, in_shapes, in_types, is_train))


def kernel_costs(graph: Graph, facts: Mapping[str, Any], choices: Sequence[Choice | None]) -> list[Cost]:
    """Costs of all nodes, by their kernels or else by their operators, as the fact `costs` has them."""
    costs = list(facts["costs"]) if "costs" in facts else node_costs(graph, facts["shapes"], facts["types"])
    answers: Memo[Cost] = Memo()
    declaring = {choice for choice in set(choices) if choice is not None and choice.has_costs}
    for number, choice in enumerate(choices if declaring else ()):
        if choice is not None and choice in declaring:
            parts = tuple(parts_of(graph.nodes[number]))
            costs[number] = answers.get((choice, parts), choice.cost, parts)
    return costs
