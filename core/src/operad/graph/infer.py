"""Inference: every entry's shape and element type, from what is known of some.

A graph is a system of constraints, one per node, over the values of its entries. The solver visits
nodes in topological order, then in reverse, and so on, each time only those that touch an entry
about which something was learnt since their last visit, until nothing is. Each visit can only add
knowledge, so this ends; on an ordinary network one sweep does. An operator is asked once for each
combination of its signature and what is known of its arguments.

Source: InferShape and InferType, src/executor/infer_graph_attr_pass.cc. Differs: one solver for
both, partial shapes throughout, and only changed nodes are visited again.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar, final

from operad.dtypes import DType, as_dtype, from_type_flag
from operad.errors import DTypeError, GraphError, OperadError, ShapeError
from operad.graph.ir import Entry, Graph, Node, OpNode, Variable
from operad.graph.primitives import GraphPrimitive
from operad.graph.signature import Memo
from operad.op import Gradient, PartialShape, Shape, given_shape, is_known, unify_shapes

V = TypeVar("V")


@final
class Table(Generic[V]):
    """The values of a graph's entries; None where nothing is known.

    Attributes:
        graph: The graph.
        values: One value per entry, by number.
        is_complete: Whether nothing is left unknown.
    """

    def __init__(self, graph: Graph, values: Sequence[V | None], is_complete: bool) -> None:
        self.graph = graph
        self.values = values
        self.is_complete = is_complete

    def of(self, entry: Entry) -> V | None:
        """The value of one entry."""
        return self.values[self.graph.entry_id(entry)]

    @property
    def arguments(self) -> list[V | None]:
        """One value per argument of the graph, in `list_arguments` order."""
        return [self.of(Entry(node)) for node in self.graph.arguments]

    @property
    def outputs(self) -> list[V | None]:
        """One value per output."""
        return [self.of(entry) for entry in self.graph.outputs]

    @property
    def auxiliary(self) -> list[V | None]:
        """One value per auxiliary state."""
        return [self.of(Entry(node)) for node in self.graph.auxiliary_states]


ShapeTable: TypeAlias = Table[tuple[int | None, ...]]
TypeTable: TypeAlias = Table[DType]


def infer_shapes(graph: Graph, known: Mapping[str, PartialShape], *, is_cautious: bool = False) -> ShapeTable:
    """Infer every entry's shape, in both directions.

    Args:
        known: Shapes of arguments and auxiliary states by name, as far as they are known. A
            variable that is not named has the shape of its `__shape__` attribute, if any. Names of
            no variable are ignored: front ends refuse them.
        is_cautious: Learn nothing from a node whose first input stays unknown, as MXNet does: its operators
            look at their data before they say the shape of a weight.
    Raises:
        ShapeError: Shapes clash somewhere, whether or not an output needs that place; the message
            starts with the operator and node.
    """
    return _Solver(_CAUTIOUS if is_cautious else _SHAPES, graph, known).solve()


def infer_types(graph: Graph, known: Mapping[str, DType | None], default: DType | None = None) -> TypeTable:
    """Infer every entry's element type.

    Args:
        known: Element types by name, as in `infer_shapes`; the attribute is `__dtype__`.
        default: The type of the first argument that would lack one, and so on until none does.
    Raises:
        DTypeError: Types clash; the message starts with the operator and node.
    """
    if default is not None:
        with suppress(DTypeError):
            table = _Solver(_TYPES, graph, known, default).solve()
            if table.is_complete:
                return table
    # What follows from later nodes counts more than the default, which was taken too early.
    table = _Solver(_TYPES, graph, known).solve()
    for node, dtype in zip(graph.arguments, table.arguments, strict=True):
        if default is not None and dtype is None:
            return infer_types(graph, {**known, node.name: default}, default)
    return table


def extended(graph: Graph, known: Mapping[Node, Sequence[tuple[Shape, DType]]]) -> dict[str, Any]:
    """Tables of shapes and types of a graph, where what is not known follows from inputs alone.

    Args:
        known: Shape and type of every output of those nodes that are known, all variables among them.
    """
    values: list[tuple[Shape, DType]] = []
    for node, inputs in zip(graph.nodes, graph.input_ids, strict=True):
        found = known.get(node)
        if found is None:
            assert isinstance(node, OpNode)
            found = _outputs_like(node, [values[entry] for entry in inputs[: node.num_args]])
        values += found
    shapes, types = zip(*values, strict=True)
    return {"shapes": ShapeTable(graph, shapes, True), "types": TypeTable(graph, types, True)}


def _outputs_like(node: OpNode, ins: Sequence[tuple[Shape, DType]]) -> Sequence[tuple[Shape, DType]]:
    op = node.op
    if isinstance(op, Gradient):
        return op.gradients_of(ins)
    if isinstance(op, GraphPrimitive):
        return ins[:1]
    shapes: Any = op.infer_shape([shape for shape, _ in ins])[1]
    types: Any = op.infer_type([dtype for _, dtype in ins])[1]
    return list(zip(shapes, types, strict=True))


class _Rules(NamedTuple, Generic[V]):
    """Rules in which shapes and types differ.

    Attributes:
        attribute: What a variable's own attributes say.
        normal: A value in the form it is compared in.
        is_known: Whether nothing is left to learn about a value.
        unify: The value that agrees with two, or an error about the thing named third.
        forward: A node's arguments, outputs and auxiliary states, from its arguments.
        backward: Its arguments, from arguments and outputs.
    """

    attribute: Callable[[Variable], V | None]
    normal: Callable[[V], V]
    is_known: Callable[[V | None], bool]
    unify: Callable[[V, V, str], V | None]
    forward: Callable[[OpNode, list[V | None]], tuple[Sequence[V | None], ...]]
    backward: Callable[[OpNode, list[V | None], list[V | None]], Sequence[V | None]]


@final
class _Solver(Generic[V]):
    """Finds the least fixed point of a graph's constraints.

    Time is counted in values learnt: a node is stale if an entry it touches was learnt after its last visit.
    """

    def __init__(
        self, rules: _Rules[V], graph: Graph, known: Mapping[str, V | None], default: V | None = None
    ) -> None:
        """Prepare.

        Args:
            default: For the first argument of a node that would otherwise stay unknown at its first visit.
        """
        self._rules = rules
        self._graph = graph
        self._known = known
        self._default = default
        self._values: list[V | None] = [None] * graph.first_entries[-1]
        self._now = 0
        self._learnt_at = [0] * len(self._values)
        self._visited_at = [-1] * len(graph.nodes)
        self._touched: list[Sequence[int]] = [()] * len(graph.nodes)
        self._is_read = [False] * len(self._values)
        self._is_settled = False
        self._answers: Memo[tuple[list[V | None], bool]] = Memo()

    def solve(self) -> Table[V]:
        """Sweep to and fro until no node has news."""
        node_ids = []
        for node_id, node in enumerate(self._graph.nodes):
            if isinstance(node, Variable):
                given = self._known.get(node.name)
                value = self._rules.attribute(node) if given is None else self._rules.normal(given)
                self._values[self._graph.first_entries[node_id]] = value
            else:
                node_ids.append(node_id)
        while not self._is_settled:
            self._is_settled = True
            for node_id in node_ids:
                if self._is_stale(node_id):
                    self._visit(node_id)
            node_ids.reverse()
        return Table(self._graph, self._values, all(map(self._rules.is_known, self._values)))

    def _is_stale(self, node_id: int) -> bool:
        since, learnt_at = self._visited_at[node_id], self._learnt_at
        return since < 0 or any(learnt_at[entry] > since for entry in self._touched[node_id])

    def _visit(self, node_id: int) -> None:
        node = self._graph.nodes[node_id]
        assert isinstance(node, OpNode)
        self._visit_op(node_id, node)
        if node.adds_to:
            self._visit_sums(node_id, node)
        # invariant: a visit has drawn every conclusion from what it learnt itself
        self._visited_at[node_id] = self._now
        for entry in self._touched[node_id]:
            self._is_read[entry] = True

    def _visit_op(self, node_id: int, node: OpNode) -> None:
        inputs, first = self._graph.input_ids[node_id], self._graph.first_entries[node_id]
        args, outs = inputs[: node.num_args], range(first, first + node.num_outputs)
        touched = self._touched[node_id] = [*args, *outs, *node.of_states(inputs)]
        given: list[V | None] | None = None
        ins = self._at(args)
        while given is None or not all(map(_same, ins, given)):
            given = ins
            found, is_complete = self._answers.get((node.signature, *ins), self._ask, node, ins)
            lacking = (
                () if is_complete else [arg for arg, value in zip(args, found, strict=False) if value is None]
            )
            if lacking and self._default is not None:
                self._learn(lacking[0], self._default, node, args.index(lacking[0]))
                ins = self._at(args)
                found, is_complete = self._answers.get((node.signature, *ins), self._ask, node, ins)
            self._merge(node, touched, found)
            if is_complete:
                return
            ins = self._at(args)
            if not all(map(self._rules.is_known, ins)):
                with _blame(node):
                    wanted = self._rules.backward(node, ins, self._at(outs))
                self._merge(node, args, self._normalized(wanted))
                ins = self._at(args)

    def _visit_sums(self, node_id: int, node: OpNode) -> None:
        """A sum is like what is added to it."""
        first, sums = self._graph.first_entries[node_id], node.of_sums(self._graph.input_ids[node_id])
        for index, entry in zip(node.adds_to, sums, strict=True):
            self._learn(entry, self._values[first + index], node, node.num_args + index)

    def _at(self, entries: Iterable[int]) -> list[V | None]:
        return [self._values[entry] for entry in entries]

    def _ask(self, node: OpNode, ins: list[V | None]) -> tuple[list[V | None], bool]:
        """The operator's arguments, outputs and states in one list, and whether all of them are known."""
        with _blame(node):
            answer = self._rules.forward(node, list(ins))
        values = self._normalized([value for values in answer for value in values])
        return values, all(map(self._rules.is_known, values))

    def _normalized(self, values: Iterable[V | None]) -> list[V | None]:
        return [None if value is None else self._rules.normal(value) for value in values]

    def _merge(self, node: OpNode, entries: Sequence[int], values: Sequence[V | None]) -> None:
        for position, (entry, value) in enumerate(zip(entries, values, strict=True)):
            if value is not None and value is not self._values[entry]:
                self._learn(entry, value, node, position)

    def _learn(self, entry: int, value: V | None, node: OpNode, what: int) -> None:
        """Add what a node says of an entry, its tensor `what`."""
        current = self._values[entry]
        if value is None or _same(current, value):
            return
        if current is not None:
            value = self._rules.unify(current, value, f"{_label(node)}: {self._name(node, what)}")
        if not _same(value, current):
            self._values[entry] = value
            self._now += 1
            self._learnt_at[entry] = self._now
            if self._is_read[entry]:
                self._is_settled = False

    def _name(self, node: OpNode, what: int) -> str:
        op = node.op
        return [*op.list_arguments(), *op.list_outputs(), *op.list_auxiliary_states()][what]


def _given_shape(node: Variable) -> PartialShape:
    text = node.attrs.get("__shape__")
    if text is None:
        return None
    try:
        return given_shape([int(axis) for axis in ast.literal_eval(text)])
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise GraphError(f"variable {node.name!r}: __shape__ is {text!r}, expected a tuple of int") from error


def _shapes_forward(node: OpNode, ins: list[PartialShape]) -> tuple[Sequence[PartialShape], ...]:
    inferred = node.op.infer_shape(ins)
    if ins or "shape" not in node.op.params:
        return inferred
    # The user gave the shape, as in `sym.zeros((0, 8))`.
    arguments, outputs, states = inferred
    return arguments, [shape and given_shape(shape) for shape in outputs], states


def _forward_cautiously(node: OpNode, ins: list[PartialShape]) -> tuple[Sequence[PartialShape], ...]:
    found = _shapes_forward(node, ins)
    return found if _knows_data(found[0]) else (ins, *([None] * len(shapes) for shapes in found[1:]))


def _backward_cautiously(
    node: OpNode, ins: list[PartialShape], outs: list[PartialShape]
) -> Sequence[PartialShape]:
    found = node.op.infer_shape_backward(ins, outs)
    return found if _knows_data(found) else ins


def _knows_data(ins: Sequence[PartialShape]) -> bool:
    return not ins or ins[0] == () or any(n is not None for n in ins[0] or ())


def _shapes_backward(node: OpNode, *known: list[PartialShape]) -> Sequence[PartialShape]:
    return node.op.infer_shape_backward(*known)


def _given_type(node: Variable) -> DType | None:
    text = node.attrs.get("__dtype__")
    if text is None or text == "-1":
        return None
    # Python reads no integer of more than 4,300 digits.
    try:
        return from_type_flag(int(text)) if text.isdecimal() and len(text) < 10 else as_dtype(text)
    except DTypeError as error:
        raise DTypeError(f"variable {node.name!r}: __dtype__: {error}") from error


def _same_type(current: DType, value: DType, what: str) -> DType:
    if current != value:
        raise DTypeError(f"{what} is {current.name}, expected {value.name}; cast one with astype")
    return value


def _types_backward(
    node: OpNode, ins: list[DType | None], outs: list[DType | None]
) -> Sequence[DType | None]:
    # An input has the output's type where no other type gives that output: a cast says nothing of it.
    for number, wanted in enumerate(outs):
        for index in range(len(ins)) if wanted is not None else ():
            other = as_dtype("float32" if wanted != "float32" else "float64")
            given = [[*ins[:index], one, *ins[index + 1 :]] for one in (wanted, other)]
            if ins[index] is None and [_gives(node, one, number, wanted) for one in given] == [True, False]:
                return given[0]
    return ins


def _gives(node: OpNode, ins: list[DType | None], number: int, wanted: DType | None) -> bool:
    try:
        return _same(node.op.infer_type(ins)[1][number], wanted)
    except DTypeError:
        return False


_SHAPES: Final = _Rules[tuple[int | None, ...]](
    _given_shape, tuple, is_known, unify_shapes, _shapes_forward, _shapes_backward
)
_CAUTIOUS: Final = _SHAPES._replace(forward=_forward_cautiously, backward=_backward_cautiously)
_TYPES: Final = _Rules[DType](
    _given_type,
    as_dtype,
    lambda value: value is not None,
    _same_type,
    lambda node, ins: node.op.infer_type(ins),
    _types_backward,
)


def _same(first: object, second: object) -> bool:
    # NumPy holds dtype("float64") == None for true, hence the detour.
    return first is second or (first is not None and second is not None and first == second)


def _label(node: OpNode) -> str:
    return f"{node.op.name} {node.name!r}"


@contextmanager
def _blame(node: OpNode) -> Iterator[None]:
    """Make an error of an operator's inference start with the operator and the node."""
    try:
        yield
    except (ShapeError, DTypeError) as error:
        text = str(error).removeprefix(f"{node.op.name}: ")
        raise type(error)(f"{_label(node)}: {text}") from error
    except OperadError:
        raise
    except Exception as error:
        error.add_note(f"in the inference of {_label(node)}: a fault of the operator, not of the graph")
        raise
