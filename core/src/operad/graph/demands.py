"""Nodes whose kernels prepare arrays, or have pairs in place or resources of their own.

Where such kernels were chosen, `operad.operator.Chosen` stands for the operator from here on: what a kernel
has prepared becomes an argument, made by a node of its own. Only what variables determine alone is
prepared: once for each version of them, by the code that runs the graph.

Demands are found in the graph as it is, of which facts speak; then nodes are rewritten in the graph's
order. A node and its gradients share one `Chosen`, whose prepared arrays both may read, so a gradient is
rewritten when it finds in `_made` what stands for its node. What a graph has several times (an operator by
one choice, its gradient, a prepared array) is one object, by which later passes see that nodes are alike.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, final

from operad.device import Context
from operad.errors import GraphError
from operad.graph.infer import extended
from operad.graph.ir import Entry, Graph, Node, OpNode, Variable, rewrite
from operad.graph.signature import Memo
from operad.op import FORWARD, Choice, Chosen, Gradient, Kernel, OperatorProperty, Preparation

Facts = Mapping[str, Any]


class _Demand(NamedTuple):
    """Demands of the kernels of a node.

    Attributes:
        op: Stands for its operator.
        prepared: What makes each prepared array, and the arguments of the node that it reads.
    """

    op: Chosen
    prepared: list[tuple[Preparation, list[int]]]


def with_demands(
    graph: Graph, facts: Facts, choices: Sequence[Choice | None]
) -> tuple[Graph, Facts, Sequence[Choice | None]]:
    """The graph with what its kernels ask for; the same one where they ask for nothing.

    Args:
        facts: `shapes`, `types` and `contexts`; those of the new graph are given.
        choices: The kernels of each node, likewise.
    Raises:
        GraphError: A kernel reads what its operator does not declare.
    """
    asking = {choice for choice in {*choices} if choice is not None and _asks(choice)}
    if not asking:
        return graph, facts, choices
    return _Rewriting(graph, facts, choices, asking).run()


def _asks(choice: Choice) -> bool:
    kernels = [kernel for kernel in choice.kernels.values() if kernel is not None]
    return any(kernel.prepares or kernel.has_demands for kernel in kernels)


def prepared_entries(graph: Graph) -> list[Entry]:
    """The prepared arrays of a graph, which outlive its runs."""
    return [Entry(node) for node in graph.op_nodes if type(node.op) is Preparation]


@final
class _Rewriting:
    def __init__(
        self, graph: Graph, facts: Facts, choices: Sequence[Choice | None], asking: Collection[Choice]
    ) -> None:
        self._graph = graph
        self._asking = asking
        self._facts = facts
        self._choices = dict(zip(graph.nodes, choices, strict=True))
        self._contexts: dict[Node, Context] = dict(zip(graph.nodes, facts["contexts"], strict=True))
        self._gradients: dict[Node, list[OpNode]] = {}
        for node in graph.op_nodes:
            if isinstance(node.op, Gradient) and node.companion is not None:
                self._gradients.setdefault(node.companion, []).append(node)
        self._bare: Memo[Choice] = Memo()
        self._chosen: Memo[Chosen] = Memo()
        self._differentiated: Memo[Gradient] = Memo()
        self._preparing: Memo[Preparation] = Memo()
        self._demands: dict[Node, _Demand] = {}
        self._made: dict[Node, OpNode] = {}  # what stands for each node whose kernels ask for something
        self._nodes: dict[tuple[Preparation, tuple[Entry, ...]], Node] = {}

    def run(self) -> tuple[Graph, Facts, Sequence[Choice | None]]:
        self._find_demands()
        if not self._demands:
            return self._graph, self._facts, list(self._choices.values())
        graph = rewrite(self._graph, self._visit)
        contexts = [self._contexts[node] for node in graph.nodes]
        choices = [self._choices.get(node) for node in graph.nodes]
        return graph, {**self._extended(graph), "contexts": contexts}, choices

    def _extended(self, graph: Graph) -> Facts:
        """Shapes and types of the new graph, of which most nodes are those of the old one."""
        entries = list(zip(self._facts["shapes"].values, self._facts["types"].values, strict=True))
        spans = pairwise(self._graph.first_entries)
        known = {
            node: entries[start:end]
            for node, (start, end) in zip(self._graph.nodes, spans, strict=True)
            if isinstance(node, Variable) or node in graph.node_ids
        }
        return extended(graph, known)

    def _find_demands(self) -> None:
        # A gradient that reads nothing of its node may stand before it, and is rewritten before anything
        # stands for the node. So such a node keeps its operator's contract, with kernels that ask for
        # nothing.
        met: set[Node] = set()
        for node in self._graph.op_nodes:
            if isinstance(node.op, Gradient):
                if node.companion is not None and node.companion not in self._demands:
                    met.add(node.companion)
            elif self._choices[node] in self._asking and node not in self._graph.computed:
                demand = self._demand(node, node in met)
                if demand is not None:
                    self._demands[node] = demand

    def _visit(self, old: Node, new: Node) -> list[Entry] | None:
        assert isinstance(old, OpNode)
        assert isinstance(new, OpNode)
        made: OpNode | None = None
        demand = self._demands.get(old)
        if demand is not None:
            made = self._made[old] = self._applied(old, new, demand)
        elif isinstance(old.op, Gradient) and old.companion in self._made:
            made = self._gradient(new, old.op, self._made[old.companion])
        self._note(old, made or new)
        return None if made is None else [Entry(made, index) for index in range(old.num_outputs)]

    def _note(self, old: Node, new: OpNode) -> None:
        """Carry over what is known of a node."""
        self._contexts[new] = self._contexts[old]
        companion = new.companion if isinstance(new.op, Gradient) else new
        op = None if companion is None else companion.op
        self._choices[new] = op.choice if isinstance(op, Chosen) else self._choices[old]

    def _demand(self, node: OpNode, is_met: bool) -> _Demand | None:
        choice = self._choices[node]
        if choice is None or isinstance(node.op, Chosen):
            return None
        if is_met:  # its gradient is run by its operator, as the operator declares it
            self._choices[node] = self._bare.get(choice, choice.bare)
            return None
        parts = [part for each in self._gradients.get(node, ()) for part in parts_of(each)]
        wanted = choice.preparations([FORWARD, *parts])
        found = [one for one in wanted if self._is_lasting(node, parts, *one)]
        if not found and not choice.has_demands:
            return None
        # By identity: equal kernels of one list are one object.
        key = (choice, *[(id(kernel), name) for kernel, name in found])
        op = self._chosen.get(key, Chosen, choice.with_prepared(found))
        return _Demand(op, [self._preparation(node, op.choice, *one) for one in found])

    def _is_lasting(self, node: OpNode, parts: Sequence[str], kernel: Kernel, name: str) -> bool:
        """Return whether variables alone determine what is prepared, on the context of the node.

        One whose gradient is computed here will change in every iteration, so nothing would be saved.
        """
        if any(f"{argument}_grad" in parts for argument in kernel.prepares[name].arguments):
            return False
        names = node.op.list_arguments()
        read = [node.inputs[names.index(argument)].node for argument in kernel.prepares[name].arguments]
        ctx = self._contexts[node]
        return all(isinstance(each, Variable) and self._contexts[each] is ctx for each in read)

    def _preparation(
        self, node: OpNode, choice: Choice, kernel: Kernel, name: str
    ) -> tuple[Preparation, list[int]]:
        key = (id(kernel), name, choice.call)
        names = node.op.list_arguments()
        positions = [names.index(argument) for argument in kernel.prepares[name].arguments]
        return self._preparing.get(key, Preparation, choice.call, kernel, name), positions

    def _applied(self, old: OpNode, new: OpNode, demand: _Demand) -> OpNode:
        """The node itself, with its prepared arrays behind its arguments, and the nodes that fill them."""
        prepared = []
        for op, positions in demand.prepared:
            read = tuple([new.inputs[position] for position in positions])
            node = self._nodes.get((op, read))
            if node is None:
                node = self._nodes[op, read] = OpNode(op, f"{new.name}_{op.prepared}", read)
                self._contexts[node] = self._contexts[old]
            prepared.append(Entry(node))
        rest = new.inputs[new.num_args :]
        return _in_place_of(new, demand.op, [*new.args, *prepared, *rest])

    def _gradient(self, new: OpNode, op: Gradient, companion: OpNode) -> OpNode:
        """A node of a gradient, whose arguments are in another order, and prepared arrays among them."""
        chosen = companion.op
        assert isinstance(chosen, Chosen)
        wanted = (*op.wanted, *[False] * len(chosen.choice.prepared))
        made_op = self._differentiated.get((chosen, wanted), Gradient, chosen, wanted)
        known = dict(zip(op.entries, new.args, strict=True))
        inputs = []
        for entry in made_op.entries:
            kind, index = entry
            if entry in known:
                inputs.append(known[entry])
            elif kind == "in_data" and index >= chosen.num_args:
                inputs.append(companion.inputs[index])
            else:
                raise GraphError(
                    f"a kernel of the gradient of {chosen.name} reads {kind} {index}, which the operator "
                    "does not declare as read; expected what `backward_dependency` names"
                )
        inputs += new.inputs[new.num_args :]
        return _in_place_of(new, made_op, inputs, companion)


def _in_place_of(
    node: OpNode, op: OperatorProperty, inputs: Sequence[Entry], companion: OpNode | None = None
) -> OpNode:
    """A node of another operator, with all else that is known of a node."""
    made = OpNode(op, node.name, inputs, node.attrs, companion, node.adds_to)
    made.control_deps = node.control_deps
    return made


def parts_of(node: Node) -> list[str]:
    """The parts of its operator that a node computes."""
    if isinstance(node, OpNode) and isinstance(node.op, Gradient):
        names = node.op.of.list_arguments()
        return [f"{names[position]}_grad" for position in node.op.targets]
    return [FORWARD]
