"""What an executor will run, worked out before there are arrays: order, shapes, places, memory.

Needs a graph with complete argument shapes and types; gives the training graph (forward nodes, then
backward nodes), where each node runs, what every entry looks like, and a static memory plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import final

from operad.config import settings
from operad.context import Context
from operad.dtypes import DType
from operad.errors import BindError, GradientError
from operad.executor.lanes import assign_lanes
from operad.graph import (
    BackwardNode,
    Entry,
    Graph,
    Node,
    OpNode,
    Placement,
    Variable,
    gradient,
    infer_shapes,
    infer_types,
    place,
    plan_memory,
    topological_order,
    values_read,
)
from operad.operator import OpReq, Shape, is_known

REQUESTS = {"null": OpReq.NULL, "write": OpReq.WRITE, "add": OpReq.ADD}


@final
class Program:
    """A graph made ready for binding.

    Attributes:
        outputs: Entries the caller sees.
        gradients: By argument name, the entry of its gradient.
        head_gradients: One per output: the variable its gradient comes in, or None where nothing reads it.
        variables: By name, every variable that nodes read, head gradients included.
        forward: Nodes that compute the outputs, in order.
        backward: Nodes that compute the gradients, in order.
        contexts: Where each node runs and each variable lives.
        lanes: Which nodes run one after another, which beside each other.
        plan: Memory of every entry that no array of the caller holds.
    """

    def __init__(
        self,
        graph: Graph,
        ctx: Context,
        grad_req: Mapping[str, str],
        shapes: Mapping[str, Shape],
        types: Mapping[str, DType],
        group2ctx: Mapping[str, Context],
    ) -> None:
        wanted = [node for node in graph.arguments if grad_req.get(node.name, "null") != "null"]
        for node in wanted:
            _check_differentiable(node, types)
        heads = [Entry(Variable(name)) for name in _head_names(graph)]
        found = gradient(graph.outputs, heads, [Entry(node) for node in wanted]) if wanted else []
        beside = [*[None] * len(graph.outputs), *wanted]
        placed, self.contexts = place(Graph([*graph.outputs, *found]), ctx, group2ctx, beside)
        count = len(graph.outputs)
        self.outputs = placed.outputs[:count]
        self.gradients = {
            node.name: entry for node, entry in zip(wanted, placed.outputs[count:], strict=True)
        }
        self.variables = {node.name: node for node in placed.nodes if isinstance(node, Variable)}
        self.head_gradients = [self.variables.get(head.node.name) for head in heads]
        self._order(placed)
        self._infer(placed, shapes, types)
        self._plan(grad_req)

    def _order(self, placed: Graph) -> None:
        self.forward = [node for node in topological_order(self.outputs) if not isinstance(node, Variable)]
        known = set(self.forward)
        self.backward = [
            node for node in placed.nodes if not isinstance(node, Variable) and node not in known
        ]

    def _infer(self, placed: Graph, shapes: Mapping[str, Shape], types: Mapping[str, DType]) -> None:
        self._tables = shape_table, type_table = infer_shapes(placed, shapes), infer_types(placed, types)
        self.shapes: dict[Entry, Shape] = {}
        self.types: dict[Entry, DType] = {}
        for node in placed.nodes:
            for i in range(node.num_outputs):
                entry = Entry(node, i)
                shape, dtype = shape_table.of(entry), type_table.of(entry)
                if not is_known(shape) or dtype is None:
                    raise BindError(
                        f"bind: shape and type of {entry.name!r} do not follow from the arguments, "
                        f"got {shape} of {dtype}; give more of them"
                    )
                self.shapes[entry], self.types[entry] = shape, dtype  # type: ignore[assignment]

    def _plan(self, grad_req: Mapping[str, str]) -> None:
        # Outputs are arrays of their own, so that reading one does not wait for what comes later.
        requests = {entry: OpReq.WRITE for entry in self.outputs if not isinstance(entry.node, Variable)}
        requests.update((entry, REQUESTS[grad_req[name]]) for name, entry in self.gradients.items())
        order = [*self.forward, *self.backward]
        self.lanes = assign_lanes(order, self.contexts, self.cost, settings().num_threads)
        self.plan = plan_memory(
            order, *self._tables, requests=requests, contexts=self.contexts, lanes=self.lanes
        )

    def cost(self, node: Node) -> float:
        """Rough number of scalar operations; a backward is taken to cost two forwards."""
        if isinstance(node, BackwardNode):
            return 2 * self.cost(node.forward)
        assert isinstance(node, OpNode)
        outputs = [Entry(node, i) for i in range(node.num_outputs)]
        return node.op.cost([self.shapes[e] for e in node.args], [self.shapes[e] for e in outputs])

    def is_written(self, node: Node, index: int) -> bool:
        """Whether output `index` of `node` is computed at all."""
        return self.plan.requests[node, index] is not OpReq.NULL

    def read_by_backward(self) -> dict[Entry, str]:
        """The arguments and outputs whose values backward reads, and what errors call them.

        Auxiliary states are none of them: they belong to the operators, which update them in every
        training run, also that of another executor over the same states.
        """
        outputs = set(self.outputs)
        heads = {node for node in self.head_gradients if node is not None}
        found = {}
        for node in self.backward:
            for entry in values_read(node):
                if isinstance(entry.node, Variable) and entry.node not in heads:
                    found[entry] = f"argument {entry.name!r}"
                elif entry in outputs:
                    found[entry] = f"output {entry.name!r}"
        return found

    @cached_property
    def is_backward_repeatable(self) -> bool:
        """Whether backward leaves everything it reads from forward as it was, so that it may run again."""
        places, forward = self.plan.placement, set(self.forward)
        written = [
            places[entry]
            for node in self.backward
            for entry in (Entry(node, i) for i in range(node.num_outputs))
            if entry in places
        ]
        read = {
            places[entry]
            for node in self.backward
            for entry in values_read(node)
            if entry.node in forward and entry in places
        }
        return not any(_overlap(one, other) for one in read for other in written)


def _overlap(one: Placement, other: Placement) -> bool:
    return (
        one.block == other.block
        and one.offset_bytes < other.offset_bytes + other.size_bytes
        and other.offset_bytes < one.offset_bytes + one.size_bytes
    )


def _head_names(graph: Graph) -> list[str]:
    """A name for the gradient of each output, which no variable of the graph has."""
    taken = {node.name for node in graph.nodes if isinstance(node, Variable)}
    names = []
    for output in graph.list_outputs():
        name = f"{output}_head_grad"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _check_differentiable(node: Variable, types: Mapping[str, DType]) -> None:
    dtype = types.get(node.name)
    if dtype is not None and dtype.kind != "f":
        raise GradientError(
            f"bind: argument {node.name!r} has type {dtype.name}, which has no gradient; "
            f"set its grad_req to 'null' or cast it to a floating type"
        )
