"""Which kernel computes each node: chosen once, before nodes are scheduled, for everyone to read.

An imperative call asks the same function (`operad.operator.choose`) for its plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from operad.graph.ir import BackwardNode, Graph, Node, OpNode
from operad.graph.partition import node_costs
from operad.graph.signature import Answers
from operad.operator import FORWARD, Choice, Cost, KernelCall, choose, is_computed_by_kernels


def choose_kernels(graph: Graph, facts: Mapping[str, Any]) -> list[Choice | None]:
    """For each node the kernels of the operator that it applies or differentiates.

    None for variables, and for operators that are computed by no kernel but by what their class makes.

    Args:
        facts: `shapes`, `types` and `contexts`. A graph that computes gradients trains.
    """
    is_train = any(isinstance(node, BackwardNode) for node in graph.nodes)
    shapes, types, contexts = facts["shapes"].values, facts["types"].values, facts["contexts"]
    answers: Answers[Choice] = Answers()
    found: list[Choice | None] = []
    for number, node in enumerate(graph.nodes):
        choice = None
        if isinstance(node, BackwardNode):
            choice = found[graph.node_ids[node.forward]]
        elif isinstance(node, OpNode) and is_computed_by_kernels(node.op):
            args = graph.input_ids[number][: node.num_args]
            ins, kinds, ctx = [shapes[e] for e in args], [types[e] for e in args], contexts[number]
            choice = answers.get(
                (node.signature, ctx, *ins, *kinds), _chosen, node, ctx, ins, kinds, is_train
            )
        found.append(choice)
    return found


def _chosen(node: OpNode, ctx: Any, in_shapes: Any, in_types: Any, is_train: bool) -> Choice:
    return choose(KernelCall(node.op, ctx, in_shapes, in_types, is_train))


def parts_of(node: Node) -> list[str]:
    """The parts of its operator that a node computes."""
    if isinstance(node, BackwardNode):
        names = zip(node.op.list_arguments(), node.wanted, strict=True)
        return [f"{name}_grad" for name, is_wanted in names if is_wanted]
    return [FORWARD]


def kernel_costs(graph: Graph, facts: Mapping[str, Any], choices: Sequence[Choice | None]) -> list[Cost]:
    """What each node computes: what its kernels say, or else its operator."""
    costs = node_costs(graph, facts["shapes"], facts["types"])
    answers: Answers[Cost] = Answers()
    declaring = {choice for choice in set(choices) if choice is not None and choice.has_costs}
    for number, choice in enumerate(choices if declaring else ()):
        if choice is not None and choice in declaring:
            parts = tuple(parts_of(graph.nodes[number]))
            costs[number] = answers.get((choice, parts), choice.cost, parts)
    return costs
