"""A graph inside an operator, and what follows about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from operad.dtypes import DType
from operad.errors import ParamError
from operad.graph import Entry, Graph, OpNode, ShapeTable, Variable, infer_shapes, infer_types
from operad.operator import Cost, PartialShape, ResourceRequest, Shape, as_cost


@final
class Subgraph:
    """A graph of an operator.

    Attributes:
        graph: The graph.
        names: Names of its variables, arguments and states, in the order in which a file numbers them.
        states: Those that are auxiliary states.

    Raises:
        ParamError: Two variables have one name, or an output is a variable.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._inputs = [node for node in graph.nodes if isinstance(node, Variable)]
        self.names = [node.name for node in self._inputs]
        if len(set(self.names)) < len(self.names):
            raise ParamError(f"two inputs of a subgraph have one name: {', '.join(self.names)}")
        # An executor gives such an output in the argument's memory, where the next step's values go.
        if plain := [node.name for node, _ in graph.outputs if isinstance(node, Variable)]:
            raise ParamError(
                f"an input is an output of a subgraph: {', '.join(plain)}; expected a copy of it"
            )
        self.states = set(graph.list_auxiliary_states())

    @property
    def num_outputs(self) -> int:
        """Number of outputs."""
        return len(self.graph.outputs)

    def infer_shapes(self, known: Sequence[PartialShape]) -> tuple[list[PartialShape], list[PartialShape]]:
        """Shapes of inputs and outputs, from what is known of the inputs'."""
        table = self._shapes(known)
        return [table.of(Entry(node)) for node in self._inputs], table.outputs

    def infer_types(self, known: Sequence[DType | None]) -> tuple[list[DType | None], list[DType | None]]:
        """Types of inputs and outputs, from what is known of the inputs'."""
        table = infer_types(self.graph, dict(zip(self.names, known, strict=True)))
        return [table.of(Entry(node)) for node in self._inputs], table.outputs

    def draws_random_numbers(self, shapes: Sequence[Shape]) -> bool:
        """Return whether an operator asks for a random generator, for inputs of these shapes."""
        table = self._shapes(shapes)
        kinds = {
            kind for node in self.graph.op_nodes for kind in node.op.forward_resource(_args(node, table))
        }
        return bool(kinds - {ResourceRequest.TEMP_SPACE})

    def cost(self, shapes: Sequence[Shape]) -> Cost:
        """Cost of all operators, for inputs of these shapes."""
        table, total = self._shapes(shapes), Cost()
        for node in self.graph.op_nodes:
            outs = [table.of(entry) for entry in node.entries]
            total = total.plus(as_cost(node.op.cost(_args(node, table), outs)))  # type: ignore[arg-type]
        return total

    def _shapes(self, known: Sequence[PartialShape]) -> ShapeTable:
        return infer_shapes(self.graph, dict(zip(self.names, known, strict=True)))


def _args(node: OpNode, table: ShapeTable) -> list[Shape]:
    return [table.of(entry) for entry in node.args]  # type: ignore[misc]  # all are known
