"""Running the parts of an operator that is made of others, where it stays whole.

That is where a caller computes on plain arrays (the contract checks and `operad_sdk.testing`), and where a
graph uses some of the outputs only. Parts run one after another, each into an array of its own; a gradient
runs those parts again whose values it reads. Where forward drew random numbers or changed states, the
values stay with the operator instead, which then belongs to one node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

from operad.context import Context
from operad.dtypes import DType
from operad.graph import Entry, Graph, Node, OpNode, infer_shapes, infer_types
from operad.operator import (
    Arrays,
    Gradient,
    OpContext,
    Operator,
    OpReq,
    Requests,
    Shape,
    SomeArrays,
    assign,
)
from operad.resource import ResourceRequest

if TYPE_CHECKING:
    from operad_sdk.declare.composed_property import ComposedProperty


@final
class Walk:
    """Nodes of a graph in order, with the shapes of what they read and compute.

    Args:
        graph: Its nodes read variables and each other.
        shapes: Shapes of the variables by name.

    Attributes:
        resources: What the nodes request, in order.
    """

    def __init__(self, graph: Graph, shapes: Mapping[str, Any]) -> None:
        self.graph = graph
        self._shapes = infer_shapes(graph, shapes)
        self._requests = [node.op.forward_resource(self._of(node.args)) for node in graph.op_nodes]
        self.resources: list[ResourceRequest] = [kind for each in self._requests for kind in each]

    def _of(self, entries: Sequence[Entry]) -> list[Any]:
        return [self._shapes.of(entry) for entry in entries]

    def shaped(self) -> Iterator[tuple[OpNode, list[Shape], list[Shape]]]:
        """Each node with the shapes of its arguments and of its outputs."""
        for node in self.graph.op_nodes:
            yield node, self._of(node.args), self._of(node.entries)

    def operators(
        self, ctx: Context, types: Mapping[str, DType], known: Mapping[OpNode, Operator]
    ) -> dict[OpNode, Operator]:
        """The operator of each node; that of a node which is known, and of its gradient, is the known one."""
        table: Any = infer_types(self.graph, types)
        made = dict(known)
        for node, shapes, _ in self.shaped():
            if node in made:
                continue
            companion = None if node.companion is None else made.get(node.companion)
            if companion is not None and isinstance(node.op, Gradient):
                made[node] = node.op.sharing(companion)
            else:
                made[node] = node.op.create_operator(ctx, shapes, [table.of(entry) for entry in node.args])
        return made

    def run(
        self,
        op_ctx: OpContext,
        types: Mapping[str, DType],
        operators: Mapping[OpNode, Operator],
        values: dict[Entry, Any],
        read: Collection[Node] | None = None,
        between: Callable[[Any], Any] | None = None,
    ) -> None:
        """Run the nodes whose values are not there, and add these to `values`.

        Args:
            read: Nodes whose values are read; None: all.
            between: Gives what is read in the place of each array that a node computes.
        """
        table = infer_types(self.graph, types)
        requested = iter(op_ctx.requested)
        for (node, _, shapes), requests in zip(self.shaped(), self._requests, strict=True):
            resources = tuple([next(requested) for _ in requests])
            if all(entry in values for entry in node.entries) or (read is not None and node not in read):
                continue
            outs = [
                op_ctx.xp.empty(shape, table.of(entry))
                for shape, entry in zip(shapes, node.entries, strict=True)
            ]
            ins = [values[entry] for entry in node.args[: node.num_read]]
            states = [values[entry] for entry in node.aux]
            own = op_ctx._replace(requested=resources)
            operators[node].forward(own, ins, [OpReq.WRITE] * len(outs), outs, states)
            if between is not None:
                # those that prediction leaves unwritten hold anything
                optional = () if op_ctx.is_train else getattr(node.op, "train_only_outputs", ())
                outs = [out if i in optional else between(out) for i, out in enumerate(outs)]
            values.update(zip(node.entries, outs, strict=True))


@final
class ComposedOperator(Operator):
    """Computes an operator by its parts.

    Attributes:
        between: Function of each array that a part computes, of which the next reads the result; None: the
            array itself. The contract checks look at these arrays and round them.
    """

    def __init__(
        self, prop: ComposedProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._prop = prop
        self._ctx = ctx
        self._shapes = in_shapes
        composition = prop.composition
        inferred: Any = prop.infer_type(in_types)
        variables = (*composition.arguments, *composition.states, *prop.heads)
        types = [*inferred[0], *inferred[2], *inferred[1]]
        self._types: dict[str, DType] = {n.name: t for n, t in zip(variables, types, strict=True)}
        self._forward = prop.walk(composition.graph, in_shapes)
        self._operators = self._forward.operators(ctx, self._types, {})
        self._kept: dict[Entry, Any] = {}
        self.between: Callable[[Any], Any] | None = None

    def forward(
        self, op_ctx: OpContext, in_data: Arrays, req: Requests, out_data: Arrays, aux_states: Arrays
    ) -> None:
        """The outputs."""
        values = self._inputs(in_data, aux_states)
        self._forward.run(op_ctx, self._types, self._operators, values, between=self.between)
        for entry, request, target in zip(self._forward.graph.outputs, req, out_data, strict=True):
            assign(target, request, values[entry])
        if self._prop.is_stateful:
            self._kept = {entry: value for entry, value in values.items() if isinstance(entry.node, OpNode)}

    def backward(
        self,
        op_ctx: OpContext,
        out_grad: SomeArrays,
        in_data: SomeArrays,
        out_data: SomeArrays,
        req: Requests,
        in_grad: SomeArrays,
        aux_states: Arrays,
    ) -> None:
        """The gradients, each zeros where none flows."""
        # All of them, whichever are wanted: so the resources are those that were requested.
        walk = self._prop.walk(self._prop.backward_graph, self._shapes)
        values = {**self._inputs(in_data, aux_states), **self._kept}
        values.update((Entry(node), head) for node, head in zip(self._prop.heads, out_grad, strict=True))
        operators = walk.operators(self._ctx, self._types, self._operators)
        walk.run(op_ctx, self._types, operators, values, self._prop.read_nodes, self.between)
        found = iter(walk.graph.outputs)
        for flow, request, target in zip(self._prop.flows, req, in_grad, strict=True):
            value = values[next(found)] if flow else 0
            if target is not None:
                assign(target, request, value)

    def _inputs(self, in_data: SomeArrays, aux_states: Arrays) -> dict[Entry, Any]:
        composition = self._prop.composition
        variables = (*composition.arguments, *composition.states)
        given = zip(variables, (*in_data, *aux_states), strict=True)
        return {Entry(node): array for node, array in given if array is not None}
