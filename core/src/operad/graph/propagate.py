"""Inference by one visit per node: what ordinary graphs need.

Where a visit to each node, in order, settles everything, no system of constraints need be set up; where
it does not (something stays unknown, or an error must be explained), the solver of `infer` takes over.
An operator is asked once for each combination of its signature and what is known of its arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar, final

from operad.graph.ir import BackwardNode, Graph, Node, OpNode, Variable

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
    found = _Propagation(graph, infer, is_known, default)
    is_settled = all(
        found.visit_variable(number, given(node)) if isinstance(node, Variable) else found.visit(number, node)
        for number, node in enumerate(graph.nodes)
    )
    return found.values if is_settled else None


@final
class _Propagation(Generic[V]):
    """Values of entries while nodes are visited; a visit says whether it settled all it touches."""

    def __init__(
        self,
        graph: Graph,
        infer: Callable[[OpNode, list[V | None]], Inferred[V]],
        is_known: Callable[[V | None], bool],
        default: V | None,
    ) -> None:
        self.values: list[V | None] = [None] * graph.first_entries[-1]
        self._graph = graph
        self._infer = infer
        self._is_known = is_known
        self._default = default
        self._answers: dict[tuple[Hashable, tuple[V | None, ...]], Inferred[V] | None] = {}

    def visit_variable(self, number: int, value: V | None) -> bool:
        self.values[self._graph.first_entries[number]] = value
        return True  # its readers may know more

    def visit(self, number: int, node: Node) -> bool:
        first, inputs = self._graph.first_entries[number], self._graph.input_ids[number]
        if isinstance(node, BackwardNode):
            targets, sources = _gradients(self._graph, node, first, inputs)
            return self._learn_all(targets, [self.values[source] for source in sources])
        assert isinstance(node, OpNode)
        args = inputs[: node.num_args]
        found = self._answer(node, args)
        unknown = [] if found is None or self._default is None else [value is None for value in found[0]]
        if True in unknown:
            self.values[args[unknown.index(True)]] = self._default
            found = self._answer(node, args)
        if found is None:
            return False
        outputs = range(first, first + node.num_outputs)
        targets = [*args, *outputs, *inputs[node.num_args :]]
        return self._learn_all(targets, [*found[0], *found[1], *found[2]])

    def _answer(self, node: OpNode, args: Sequence[int]) -> Inferred[V] | None:
        ins = [self.values[entry] for entry in args]
        key = (node.signature, tuple(ins))
        if key not in self._answers:
            try:
                self._answers[key] = self._infer(node, ins)
            except Exception:  # noqa: BLE001 - the solver meets it again, and says where
                self._answers[key] = None
        return self._answers[key]

    def _learn_all(self, entries: Sequence[int], values: Sequence[V | None]) -> bool:
        return len(entries) == len(values) and all(map(self._learn, entries, values))

    def _learn(self, entry: int, value: V | None) -> bool:
        """Whether the entry is known now and `value` agrees."""
        current = self.values[entry]
        if current is None:
            self.values[entry] = current = value
        return self._is_known(current) and (value is None or value is current or value == current)


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
