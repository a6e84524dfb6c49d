"""Inference by one visit per node: what ordinary graphs need.

Where a visit to each node, in order, settles everything, no system of constraints need be set up; where
it does not (something stays unknown, or an error must be explained), the solver of `infer` takes over.
An operator is asked once for each combination of its signature and what is known of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from operad.graph.ir import BackwardNode, Graph, OpNode, Variable

V = TypeVar("V")
Inferred = tuple[Sequence[V | None], ...]
"""Arguments, outputs and auxiliary states."""


def propagate(
    graph: Graph,
    given: Callable[[Variable], V | None],
    infer: Callable[[OpNode, list[V | None]], Inferred[V]],
    is_known: Callable[[V | None], bool],
    default: V | None = None,
) -> list[V | None] | None:
    """The values of all entries by number, or None if one visit per node does not settle them.

    Args:
        given: What is known of a variable.
        infer: Asks a node's operator, with what is known of its arguments.
        is_known: Whether nothing is left to learn about a value.
        default: For the first argument of a node that would otherwise stay unknown.
    """
    values: list[V | None] = [None] * graph.first_entries[-1]
    answers: dict[tuple[Hashable, tuple[V | None, ...]], Inferred[V] | None] = {}

    def answer(node: OpNode, args: Sequence[int]) -> Inferred[V] | None:
        ins = [values[entry] for entry in args]
        key = (node.signature, tuple(ins))
        if key not in answers:
            try:
                answers[key] = infer(node, ins)
            except Exception:  # noqa: BLE001 - the solver meets it again, and says where
                answers[key] = None
        return answers[key]

    def learn(entry: int, value: V | None) -> bool:
        """Whether the entry is known now and `value` agrees."""
        current = values[entry]
        if current is None:
            values[entry] = current = value
        return is_known(current) and (value is None or value is current or value == current)

    for node, first, inputs in zip(graph.nodes, graph.first_entries, graph.input_ids, strict=False):
        targets: Sequence[int]
        learnt: Sequence[V | None]
        if isinstance(node, OpNode):
            args = inputs[: node.num_args]
            found = answer(node, args)
            unknown = [] if found is None or default is None else [v is None for v in found[0]]
            if True in unknown:
                values[args[unknown.index(True)]] = default
                found = answer(node, args)
            if found is None:
                return None
            targets = [*args, *range(first, first + node.num_outputs), *inputs[node.num_args :]]
            learnt = [*found[0], *found[1], *found[2]]
        elif isinstance(node, BackwardNode):
            targets, sources = _gradients(graph, node, first, inputs)
            learnt = [values[source] for source in sources]
        else:
            assert isinstance(node, Variable)
            values[first] = given(node)
            continue
        if len(targets) != len(learnt) or not all(map(learn, targets, learnt)):
            return None
    return values


def _gradients(
    graph: Graph, node: BackwardNode, first: int, inputs: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The entries of gradients that a backward node reads and makes, and the value each is like."""
    forward = graph.node_ids[node.forward]
    args, outputs = graph.input_ids[forward], graph.first_entries[forward]
    likes = dict(zip(range(first, first + node.num_outputs), args, strict=False))
    for entry, (kind, index) in zip(inputs, node.reads, strict=False):
        if kind == "out_grad":
            likes[entry] = outputs + index
    likes.update((entry, args[i]) for entry, i in zip(inputs[len(node.reads) :], node.adds_to, strict=True))
    return list(likes), list(likes.values())
