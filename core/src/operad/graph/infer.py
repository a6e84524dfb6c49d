"""Inference: every entry's shape and element type, from what is known of some.

A graph is a system of constraints, one per node, over the values of its entries. The solver visits
nodes in topological order, then in reverse, and so on, each time only those that touch an entry
about which something was learnt since their last visit, until nothing is. Each visit can only add
knowledge, so this ends; on an ordinary network two sweeps do.

A backward node constrains too: its gradients have the shapes of the forward node's arguments, and
the out_grads it reads those of the forward node's outputs. The forward nodes are therefore part of
the system even where the graph itself no longer needs them.

Most graphs need no solver: one visit per node settles them (see `propagate`).

Source: InferShape and InferType, src/executor/infer_graph_attr_pass.cc. Differs: one solver for
both, partial shapes throughout, and only changed nodes are visited again.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar, final

from operad.dtypes import DType, as_dtype, from_type_flag
from operad.errors import DTypeError, GraphError, OperadError, ShapeError
from operad.graph.ir import BackwardNode, Entry, Graph, Node, OpNode, Variable
from operad.graph.primitives import GraphPrimitive
from operad.graph.propagate import propagate
from operad.operator import PartialShape, is_known, unify_shapes

V = TypeVar("V")


class _Table(Generic[V]):
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


@final
class ShapeTable(_Table[tuple[int | None, ...]]):
    """The shapes of a graph's entries; see `infer_shapes`."""


@final
class TypeTable(_Table[DType]):
    """The element types of a graph's entries; see `infer_types`."""


def infer_shapes(graph: Graph, known: Mapping[str, PartialShape]) -> ShapeTable:
    """Infer every entry's shape, in both directions.

    Args:
        known: Shapes of arguments and auxiliary states by name, as far as they are known. A
            variable that is not named has the shape of its `__shape__` attribute, if any. Names of
            no variable are ignored: front ends refuse them.
    Raises:
        ShapeError: Shapes clash somewhere, whether or not an output needs that place; the message
            starts with the operator and node.
    """
    return ShapeTable(graph, *_ShapeSolver(graph, known).infer())


def infer_types(graph: Graph, known: Mapping[str, DType | None], default: DType | None = None) -> TypeTable:
    """Infer every entry's element type.

    Args:
        known: Element types by name, as in `infer_shapes`; the attribute is `__dtype__`.
        default: The type of the first argument that would lack one, and so on until none does.
    Raises:
        DTypeError: Types clash; the message starts with the operator and node.
    """
    table = TypeTable(graph, *_TypeSolver(graph, known).infer(default))
    if default is not None:
        for node, dtype in zip(graph.arguments, table.arguments, strict=True):
            if dtype is None:
                return infer_types(graph, {**known, node.name: default}, default)
    return table


class _Solver(ABC, Generic[V]):
    """Finds the least fixed point of a graph's constraints."""

    def __init__(self, graph: Graph, known: Mapping[str, V | None]) -> None:
        self._graph = graph
        self._known = known

    def infer(self, default: V | None = None) -> tuple[Sequence[V | None], bool]:
        """Every entry's value by number, and whether none is left unknown."""
        found = propagate(self._graph, self._given, self._forward, self._is_known, default)
        if found is not None:
            return found, True
        solved = self.solve()
        values = [value for node in self._graph.nodes for value in solved[node]]
        return values, all(map(self._is_known, values))

    def _given(self, node: Variable) -> V | None:
        given = self._known.get(node.name)
        return self._attribute(node) if given is None else self._normal(given)

    def solve(self) -> dict[Node, list[V | None]]:
        """Sweep to and fro until no node has news."""
        order = self._graph.nodes
        self._values: dict[Node, list[V | None]] = {}
        self._watchers: dict[Node, list[Node]] = {node: [] for node in order}
        for node in order:
            self._values[node] = [None] * node.num_outputs
            for watched in _watched_by(node):
                self._watchers[watched].append(node)
            if isinstance(node, Variable):
                self._values[node][0] = self._given(node)
        self._stale = {node for node in order if not isinstance(node, Variable)}
        sweep: Sequence[Node] = order
        while self._stale:
            for node in sweep:
                if node not in self._stale:
                    continue
                self._stale.discard(node)
                if isinstance(node, OpNode):
                    self._visit_op(node)
                elif isinstance(node, BackwardNode):
                    self._visit_backward(node)
            sweep = sweep[::-1]
        return self._values

    def _visit_op(self, node: OpNode) -> None:
        op, args, outs = node.op, node.args, self._values[node]
        out_entries = [Entry(node, index) for index in range(len(outs))]
        ins = [self._of(entry) for entry in args]
        given: list[V | None] | None = None
        while given is None or not all(map(_same, ins, given)):
            given = ins
            with _blame(node):
                in_values, out_values, aux_values = self._forward(node, list(ins))
            self._merge(node, args, op.list_arguments(), in_values)
            self._merge(node, out_entries, op.list_outputs(), out_values)
            self._merge(node, node.aux, op.list_auxiliary_states(), aux_values)
            ins = [self._of(entry) for entry in args]
            if not all(map(self._is_known, ins)):
                with _blame(node):
                    in_values = self._backward(node, ins, list(outs))
                self._merge(node, args, op.list_arguments(), in_values)
                ins = [self._of(entry) for entry in args]
        # What it just learnt it has already drawn its conclusions from.
        self._stale.discard(node)

    def _visit_backward(self, node: BackwardNode) -> None:
        for index, arg in enumerate(node.forward.args):
            self._equate(node, Entry(node, index), arg)
        for entry, read in zip(node.inputs, node.reads, strict=False):
            if read.kind == "out_grad":
                self._equate(node, entry, Entry(node.forward, read.index))
        for index, entry in node.sums:
            self._equate(node, entry, node.forward.args[index])

    def _equate(self, node: BackwardNode, gradient: Entry, value: Entry) -> None:
        what = f"gradient of {value.name}"
        self._learn(node, gradient, what, self._of(value))
        self._learn(node, value, what, self._of(gradient))

    def _merge(
        self, node: Node, entries: Sequence[Entry], names: Sequence[str], values: Sequence[V | None]
    ) -> None:
        for entry, name, value in zip(entries, names, values, strict=True):
            self._learn(node, entry, name, value)

    def _learn(self, node: Node, entry: Entry, name: str, value: V | None) -> None:
        held = self._values[entry.node]
        current = held[entry.index]
        if value is None or _same(current, value):
            return
        unified = self._unify(current, self._normal(value), f"{_label(node)}: {name}")
        if not _same(unified, current):
            held[entry.index] = unified
            self._stale.update(self._watchers[entry.node])

    def _of(self, entry: Entry) -> V | None:
        return self._values[entry.node][entry.index]

    @abstractmethod
    def _attribute(self, node: Variable) -> V | None:
        """What the variable's own attributes say."""

    @abstractmethod
    def _normal(self, value: V) -> V:
        """The value in the form it is compared in."""

    @abstractmethod
    def _is_known(self, value: V | None) -> bool:
        """Whether nothing is left to learn about the value."""

    @abstractmethod
    def _unify(self, current: V | None, value: V, what: str) -> V | None:
        """The value that agrees with both, or an error."""

    @abstractmethod
    def _forward(self, node: OpNode, ins: list[V | None]) -> tuple[Sequence[V | None], ...]:
        """Arguments, outputs and auxiliary states, from the arguments."""

    @abstractmethod
    def _backward(self, node: OpNode, ins: list[V | None], outs: list[V | None]) -> Sequence[V | None]:
        """Arguments, from arguments and outputs."""


@final
class _ShapeSolver(_Solver[tuple[int | None, ...]]):
    def _attribute(self, node: Variable) -> PartialShape:
        text = node.attrs.get("__shape__")
        if text is None:
            return None
        try:
            shape = tuple(int(axis) for axis in ast.literal_eval(text))
        except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
            raise GraphError(
                f"variable {node.name!r}: __shape__ is {text!r}, expected a tuple of int"
            ) from error
        # MXNet's string form writes an unknown axis as 0, or -1 with NumPy shapes.
        return tuple(axis if axis > 0 else None for axis in shape) or None

    def _normal(self, value: tuple[int | None, ...]) -> tuple[int | None, ...]:
        return tuple(value)

    def _is_known(self, value: PartialShape) -> bool:
        return is_known(value)

    def _unify(self, current: PartialShape, value: tuple[int | None, ...], what: str) -> PartialShape:
        return unify_shapes(current, value, what)

    def _forward(self, node: OpNode, ins: list[PartialShape]) -> tuple[Sequence[PartialShape], ...]:
        inferred = node.op.infer_shape(ins)
        if ins or "shape" not in node.op.params:
            return inferred
        # The user gave the shape, as in `sym.zeros((0, 8))`: here a length of 0 is unknown, as in files.
        arguments, outputs, states = inferred
        return arguments, [shape and tuple(axis or None for axis in shape) for shape in outputs], states

    def _backward(
        self, node: OpNode, ins: list[PartialShape], outs: list[PartialShape]
    ) -> Sequence[PartialShape]:
        return node.op.infer_shape_backward(ins, outs)


@final
class _TypeSolver(_Solver[DType]):
    def _attribute(self, node: Variable) -> DType | None:
        text = node.attrs.get("__dtype__")
        if text is None or text == "-1":
            return None
        # Python reads no integer of more than 4,300 digits.
        try:
            return from_type_flag(int(text)) if text.isdecimal() and len(text) < 10 else as_dtype(text)
        except DTypeError as error:
            raise DTypeError(f"variable {node.name!r}: __dtype__: {error}") from error

    def _normal(self, value: DType) -> DType:
        return as_dtype(value)

    def _is_known(self, value: DType | None) -> bool:
        return value is not None

    def _unify(self, current: DType | None, value: DType, what: str) -> DType:
        if current is not None and current != value:
            raise DTypeError(f"{what} is {current.name}, expected {value.name}; cast one with astype")
        return value

    def _forward(self, node: OpNode, ins: list[DType | None]) -> tuple[Sequence[DType | None], ...]:
        return node.op.infer_type(ins)

    def _backward(
        self, node: OpNode, ins: list[DType | None], outs: list[DType | None]
    ) -> Sequence[DType | None]:
        if isinstance(node.op, GraphPrimitive):
            return outs * len(ins)  # one type throughout
        return ins  # properties say nothing of types in this direction


def _watched_by(node: Node) -> set[Node]:
    """The nodes whose entries `node` constrains, itself included unless it is a variable."""
    watched = {entry.node for entry in node.inputs}
    if isinstance(node, BackwardNode):
        watched.update(entry.node for entry in node.forward.args)
        watched.add(node.forward)
    if not isinstance(node, Variable):
        watched.add(node)
    return watched


def _same(first: object, second: object) -> bool:
    # NumPy holds dtype("float64") == None for true, hence the detour.
    return first is second or (first is not None and second is not None and first == second)


def _label(node: Node) -> str:
    if isinstance(node, (OpNode, BackwardNode)):
        return f"{node.op.name} {node.name!r}"
    return f"variable {node.name!r}"


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
