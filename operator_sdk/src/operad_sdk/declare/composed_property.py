"""Operators whose contract is read off a graph of other operators.

Graphs and imperative calls put the parts in the operator's place (`OperatorProperty.expansion`), so
kernels, plans, fusion and gradients of gradients are those of the parts.
`operad_sdk.declare.composed_operator` computes the operator where it stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from operad import Symbol
from operad.context import Context
from operad.dtypes import DType
from operad.errors import OperadError, ShapeError
from operad.first_use import cached_property
from operad.graph import (
    Entry,
    Graph,
    Node,
    OpNode,
    ShapeTable,
    Variable,
    ZerosLike,
    expand,
    gradient,
    infer_shapes,
    infer_types,
)
from operad.operator import (
    Cost,
    Expansion,
    InferredShapes,
    InferredTypes,
    Operator,
    Part,
    PartialShape,
    Shape,
    Value,
    as_cost,
)
from operad.operator import OperatorProperty as CoreProperty
from operad.resource import ResourceRequest
from operad.symbol import NameManager, var
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.declare.composed_operator import ComposedOperator, Walk
from operad_sdk.element_types import Accepts, check_accepted
from operad_sdk.errors import DeclarationError

_UNKNOWN: Final = (1, 1, 1, 1)
"""Shape that operators are asked with whether they draw random numbers, which depends on no shape."""


class Composition(NamedTuple):
    """Graph of one operator, and what its variables are.

    Attributes:
        graph: The parts; none is itself made of others.
        arguments: The variables that are arguments, those of the function first.
        states: The variables that parts update.
    """

    graph: Graph
    arguments: tuple[Variable, ...]
    states: tuple[Variable, ...]


class ComposedProperty(CoreProperty):
    """An operator whose contract is read off a graph of other operators.

    Attributes:
        compose: Function of symbols and parameters, which returns one symbol or several.
        argument_names: The arguments that it takes.
        output_names: Names of the outputs; none: `output`, or `output0` and so on.
        accepts: Element types that arguments may have beyond what the parts refuse; for all, or by argument.
        contract: Declarations for the contract checks.
    """

    compose: ClassVar[Callable[..., Any]]
    argument_names: ClassVar[tuple[str, ...]] = ()
    output_names: ClassVar[tuple[str, ...]] = ()
    accepts: ClassVar[Accepts | Mapping[str, Accepts]] = "any"
    contract: ClassVar[Contract] = NO_DECLARATIONS

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.is_stateful = _keeps(self.composition.graph)  # type: ignore[misc]  # as its parts are

    @cached_property
    def composition(self) -> Composition:
        """The graph for these parameters.

        Raises:
            DeclarationError: The function returns no symbols, or does not use an argument.
            OperadError: A part cannot be composed; a note names this operator.
        """
        given = {name: var(name) for name in self.argument_names}
        params = {name: getattr(self, name) for name in type(self).params}
        try:
            with NameManager():
                made = type(self).compose(**given, **params)
        except RecursionError as error:
            raise DeclarationError(f"{self.name} is made of itself, endlessly; compose others") from error
        except OperadError as error:
            note = f"in {self.name}, which is made of other operators"
            if note not in getattr(error, "__notes__", ()):
                error.add_note(note)
            raise
        graph = expand(Graph(_entries(self.name, made)))
        if self.output_names and len(self.output_names) != len(graph.outputs):
            raise DeclarationError(
                f"{self.name}: the function returns {len(graph.outputs)} outputs, expected "
                f"{len(self.output_names)}: {', '.join(self.output_names)}"
            )
        for index, entry in enumerate(graph.outputs):
            if isinstance(entry.node, Variable):
                raise DeclarationError(
                    f"{self.name}: output {index} is the argument {entry.name!r} itself, expected the output "
                    "of an operator; od.sym.identity gives it one"
                )
        found = {node.name: node for node in graph.arguments}
        for name in self.argument_names:
            if name not in found and name not in graph.list_auxiliary_states():
                raise DeclarationError(
                    f"{self.name}: the symbol does not use the argument {name!r}; where parameters decide, "
                    f"make the variable where it is used: od.sym.var({name!r})"
                )
        declared = [found.pop(name) for name in self.argument_names if name in found]
        return Composition(graph, (*declared, *found.values()), graph.auxiliary_states)

    def list_arguments(self) -> list[str]:
        """The function's arguments, and then the variables that parts made."""
        return [node.name for node in self.composition.arguments]

    def list_outputs(self) -> list[str]:
        """`output`, or the names that were given."""
        count = len(self.composition.graph.outputs)
        return list(self.output_names) or (["output"] if count == 1 else [f"output{i}" for i in range(count)])

    def list_auxiliary_states(self) -> list[str]:
        """The states of the parts."""
        return [node.name for node in self.composition.states]

    @property
    def initializers(self) -> Mapping[str, str]:  # type: ignore[override]  # they depend on the parts
        """Initializers that the parts give their variables."""
        variables = (*self.composition.arguments, *self.composition.states)
        return {node.name: node.attrs["__init__"] for node in variables if "__init__" in node.attrs}

    @property
    def is_shaped_by_values(self) -> bool:  # type: ignore[override]  # it depends on the parts
        """Return whether a part is."""
        return any(node.op.is_shaped_by_values for node in self.composition.graph.op_nodes)

    def fixed_arguments(self) -> Mapping[str, float]:
        """The arguments that parts fix."""
        return {
            entry.name: number
            for node in self.composition.graph.op_nodes
            for name, number in node.op.fixed_arguments().items()
            if isinstance((entry := node.inputs[node.op.list_inputs().index(name)]).node, Variable)
        }

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Shapes that follow in the graph of the parts."""
        table = self._shapes(in_shapes, ())
        return self._of_arguments(table), table.outputs, self._of_states(table)

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Shapes that follow when the outputs are known as well."""
        return self._of_arguments(self._shapes(in_shapes, out_shapes))

    def _shapes(self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]) -> ShapeTable:
        given = self._by_name(in_shapes)
        try:
            return infer_shapes(self.composition.graph, given, out_shapes)
        except ShapeError as error:
            shown = ", ".join(f"{name} {shape}" for name, shape in given.items())
            raise ShapeError(f"{self.name}: {error}; the arguments are {shown}") from error

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Types that follow in the graph of the parts, where `accepts` admits the arguments'."""
        table = infer_types(self.composition.graph, self._by_name(in_types))
        found = self._of_arguments(table)
        for name, dtype in zip(self.list_arguments(), found, strict=True):
            accepts = self.accepts.get(name, "any") if isinstance(self.accepts, Mapping) else self.accepts
            if dtype is not None:
                check_accepted(self.name, name, dtype, accepts)
        return found, table.outputs, self._of_states(table)

    def _by_name(self, values: Sequence[Any]) -> dict[str, Any]:
        return {n: v for n, v in zip(self.list_arguments(), values, strict=True) if v is not None}

    def _of_arguments(self, table: Any) -> list[Any]:
        return [table.of(Entry(node)) for node in self.composition.arguments]

    def _of_states(self, table: Any) -> list[Any]:
        return [table.of(Entry(node)) for node in self.composition.states]

    def expansion(self) -> Expansion:
        """The parts."""
        return self._expansion

    @cached_property
    def _expansion(self) -> Expansion:
        composition = self.composition
        numbers: dict[Any, int] = {}
        inputs: dict[Any, Value] = {
            node: (-1, i) for i, node in enumerate((*composition.arguments, *composition.states))
        }

        def value(entry: Entry) -> Value:
            return inputs.get(entry.node) or (numbers[entry.node], entry.index)

        parts = []
        for node in composition.graph.op_nodes:
            parts.append(Part(node.name, node.op, tuple(map(value, node.inputs)), node.attrs))
            numbers[node] = len(numbers)
        return Expansion(tuple(parts), tuple(map(value, composition.graph.outputs)))

    @cached_property
    def heads(self) -> tuple[Variable, ...]:
        """The variables that stand for the gradients of the outputs."""
        return tuple(Variable(f"{name}_grad") for name in self.list_outputs())

    def _gradients(self, wrt: Sequence[Variable]) -> Graph:
        graph, heads = self.composition.graph, [Entry(node) for node in self.heads]
        wanted = [Entry(node) for node in wrt]
        return Graph(gradient(graph.outputs, heads, wanted, graph.nodes, adds_in_place=False))

    @cached_property
    def flows(self) -> tuple[bool, ...]:
        """For each argument, whether a gradient reaches it through the parts."""
        found = self._gradients(self.composition.arguments).outputs
        return tuple([not (isinstance(node, OpNode) and isinstance(node.op, ZerosLike)) for node, _ in found])

    @cached_property
    def backward_graph(self) -> Graph:
        """Graph of the gradients that flow, of arguments, states and heads."""
        return self._gradients(
            [node for node, f in zip(self.composition.arguments, self.flows, strict=True) if f]
        )

    @cached_property
    def read_nodes(self) -> frozenset[Node]:
        """Nodes of the gradients whose values are read; of the others the shapes count alone."""
        found = {entry.node for entry in self.backward_graph.outputs}
        for node in reversed(self.backward_graph.op_nodes):
            if node in found:
                found.update(entry.node for entry in node.of_read(node.inputs))
        return frozenset(found)

    def differentiable_inputs(self) -> list[bool]:
        """The arguments that a gradient reaches through the parts."""
        return list(self.flows)

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Heads and arguments that gradients read; the values between are computed again, or kept."""
        kept = self.composition.graph.op_nodes if self.is_stateful else ()
        nodes = self.read_nodes.difference(kept)
        read = {e.node for node in nodes if isinstance(node, OpNode) for e in node.of_read(node.inputs)}
        variables = zip((*self.heads, *self.composition.arguments), (*out_grad, *in_data), strict=True)
        return [value for node, value in variables if node in read]

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Those of all parts, in order."""
        return self.walk(self.composition.graph, in_shapes).resources

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Those of all nodes of the gradients, in order."""
        return self.walk(self.backward_graph, in_shapes).resources

    def walk(self, graph: Graph, in_shapes: Sequence[Shape]) -> Walk:
        """Nodes of a graph over this operator's variables, with shapes."""
        inferred = self.infer_shape(in_shapes)
        variables = (*self.composition.arguments, *self.composition.states, *self.heads)
        shapes = [*inferred[0], *inferred[2], *inferred[1]]
        return Walk(graph, {node.name: shape for node, shape in zip(variables, shapes, strict=True)})

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Of all parts together."""
        total = Cost()
        for node, shapes, outs in self.walk(self.composition.graph, in_shapes).shaped():
            total = total.plus(as_cost(node.op.cost(shapes, outs)))
        return total

    def scalar_form(self, part: str, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> str:
        """None: graphs see the parts."""
        return "it is made of other operators, which have forms of their own"

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """Runs the parts one after another, on arrays of its own."""
        return ComposedOperator(self, ctx, in_shapes, in_types)


def _entries(name: str, made: Any) -> list[Entry]:
    symbols = list(made) if isinstance(made, list | tuple) else [made]
    for symbol in symbols:
        if not isinstance(symbol, Symbol):
            raise DeclarationError(
                f"{name}: the function gave {type(symbol).__name__}, expected a symbol; it composes "
                "functions of od.sym, and computes nothing"
            )
    return [entry for symbol in symbols for entry in symbol.entries]


def _keeps(graph: Graph) -> bool:
    """Return whether backward must find what forward drew, or computed of states that changed."""
    return any(node.op.is_stateful or node.aux or _draws(node.op, node.num_args) for node in graph.op_nodes)


def _draws(op: CoreProperty, num_args: int) -> bool:
    try:
        requests = op.forward_resource([_UNKNOWN] * num_args)
    except Exception:  # noqa: BLE001 - wants other shapes
        return True
    return any(kind is not ResourceRequest.TEMP_SPACE for kind in requests)
