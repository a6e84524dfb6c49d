"""The graph: nodes, the entries between them, and their order.

Two kinds of node. A `Variable` stands for an array given at bind time. An `OpNode` applies an
operator; its inputs are the operator's arguments and then its auxiliary states. A node of a gradient
applies an operator, too: `operad.operator.Gradient`. Any `OpNode` may add what it computes to a sum in that
sum's memory (`adds_to`).

Nodes are mutable while a graph is being built and left alone afterwards; passes build new nodes. A
`Graph` numbers its nodes and entries once, so that what passes find out about them are lists.

Source: nnvm::Node, NodeEntry and Graph, nnvm/include/nnvm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import accumulate
from typing import Any, Final, NamedTuple, TypeVar, final

from operad.errors import GraphError
from operad.first_use import cached_property
from operad.graph.signature import signature
from operad.op import OperatorProperty

T = TypeVar("T")

KNOWN_ATTRIBUTES: Final = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")
"""The user's attributes that mean something; nodes keep them as `__ctx_group__` and so on."""


def hidden_key(key: str) -> str:
    """The key under which a node keeps an attribute: `lr_mult` -> `__lr_mult__`."""
    return f"__{key}__" if key in KNOWN_ATTRIBUTES else key


_NONE: Final[Mapping[Node, Node]] = {}


class Node:
    """A node of a graph: a `Variable` or an `OpNode`.

    Attributes:
        name: Unique among a graph's variables; for other nodes a label for people.
        attrs: What was said of it, as strings: the operator's parameters that were given, and the user's
            attributes (`__lr_mult__`, `__ctx_group__`, ...).
        inputs: What it reads.
        control_deps: Nodes that must run before it although it reads none of their outputs.
        num_outputs: How many entries it produces, hidden ones included.
    """

    __slots__ = ("attrs", "control_deps", "inputs", "name", "num_outputs")

    def __init__(
        self,
        name: str,
        inputs: Iterable[Entry] = (),
        attrs: dict[str, str] | None = None,
        num_outputs: int = 1,
    ) -> None:
        self.name = name
        self.inputs: list[Entry] = list(inputs)
        self.attrs: dict[str, str] = dict(attrs) if attrs else {}
        self.control_deps: list[Node] = []
        self.num_outputs = num_outputs

    def output_name(self, index: int) -> str:
        """The name of output `index`, as in `list_outputs`."""
        return self.name

    def of_read(self, inputs: Sequence[T]) -> Sequence[T]:
        """Select, of what stands for all inputs, what stands for those whose values are read."""
        return inputs

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class Entry(NamedTuple):
    """Output `index` of `node`."""

    node: Node
    index: int = 0  # type: ignore[assignment]  # hides tuple.index, which no entry needs

    @property
    def name(self) -> str:
        """The entry's name, as in `list_outputs`."""
        return self.node.output_name(self.index)


@final
class Variable(Node):
    """An array from outside the graph: an argument or an auxiliary state."""

    __slots__ = ()


@final
class OpNode(Node):
    """An operator applied to entries.

    The inputs are its arguments, its auxiliary states, and the sums it adds to.

    Attributes:
        op: The operator's property, with its parameters.
        num_args: How many of the inputs are arguments.
        num_read: How many of these, the first, are read; of the others only shape and type count.
        signature: Equal for two nodes only if their operators act alike; see `signature`.
        companion: The node that this one is the gradient of, whose operator computes this, too; or None.
        adds_to: For each sum, the output that is added to it: this is the sum of the input and of what the
            operator computes, and takes the input's memory. Nothing else reads the input.
    """

    __slots__ = ("adds_to", "companion", "num_args", "num_read", "op", "signature")

    def __init__(
        self,
        op: OperatorProperty,
        name: str,
        inputs: Iterable[Entry] = (),
        attrs: dict[str, str] | None = None,
        companion: OpNode | None = None,
        adds_to: Sequence[int] = (),
    ) -> None:
        super().__init__(name, inputs, attrs, len(op.list_outputs()))
        self.op = op
        self.num_args = len(op.list_arguments())
        self.num_read = self.num_args - op.num_unread
        self.signature = signature(op)
        self.companion = companion
        self.adds_to = tuple(adds_to)

    @property
    def entries(self) -> list[Entry]:
        """The entries that it produces."""
        return [Entry(self, index) for index in range(self.num_outputs)]

    @property
    def args(self) -> list[Entry]:
        """The inputs that are arguments."""
        return self.inputs[: self.num_args]

    @property
    def aux(self) -> list[Entry]:
        """The inputs that are auxiliary states, which the node updates."""
        return self.inputs[self.num_args : len(self.inputs) - len(self.adds_to)]

    @property
    def sums(self) -> list[tuple[int, Entry]]:
        """Each output that is added to a sum, and that sum."""
        return list(zip(self.adds_to, self.of_sums(self.inputs), strict=True))

    def of_read(self, inputs: Sequence[T]) -> Sequence[T]:
        """Select, of what stands for all inputs, what stands for those whose values are read."""
        if self.num_read == self.num_args:
            return inputs
        return [*inputs[: self.num_read], *inputs[self.num_args :]]

    def of_states(self, inputs: list[T]) -> list[T]:
        """Entries of the auxiliary states."""
        return inputs[self.num_args : len(inputs) - len(self.adds_to)]

    def of_sums(self, inputs: list[T]) -> list[T]:
        """Entries of the sums."""
        return inputs[len(inputs) - len(self.adds_to) :]

    def output_name(self, index: int) -> str:
        """The node's name and the operator's name of the output: `fc1_output`, `fc1_backward_weight_grad`."""
        return f"{self.name}_{self.op.list_outputs()[index]}"


def topological_order(outputs: Iterable[Entry]) -> list[Node]:
    """Every node that `outputs` need, each after its inputs, in depth-first order.

    The order is MXNet's, so argument lists come out the same.

    Raises:
        GraphError: The graph has a cycle.
    """
    return depth_first(outputs, requirements)


def requirements(node: Node) -> list[Node]:
    """The nodes that must run before `node`."""
    needed = [entry[0] for entry in node.inputs]
    if node.control_deps:
        needed += node.control_deps
    return needed


def rebuilt(node: Node, inputs: list[Entry], renewed: Mapping[Node, Node] = _NONE) -> Node:
    """The node with other inputs, and on the new nodes that stand for old ones; itself if nothing differs."""
    assert isinstance(node, OpNode)
    control_deps = [renewed.get(other, other) for other in node.control_deps]
    companion = node.companion
    if companion is not None:
        other = renewed.get(companion, companion)
        # One that computes something else is no companion; without one a gradient has an operator of its own.
        if isinstance(other, OpNode) and other.signature == companion.signature:
            companion = other
    if (inputs, control_deps, companion) == (node.inputs, node.control_deps, node.companion):
        return node
    made = OpNode(node.op, node.name, inputs, node.attrs, companion, node.adds_to)
    made.control_deps = control_deps
    return made


def renamed(graph: Graph, name_of: Callable[[Node], str]) -> Graph:
    """The graph with other names of nodes, and of those outside of it that these are the gradients of."""
    new: dict[Node | None, Any] = {None: None}
    for node in (*[node.companion for node in graph.op_nodes if node.companion], *graph.nodes):
        made = new[node] = copy(node)
        made.name, made.attrs = name_of(node), node.attrs.copy()
        made.inputs = [Entry(new.get(source, source), index) for source, index in node.inputs]
        made.control_deps = [new.get(other, other) for other in node.control_deps]
        if isinstance(made, OpNode):
            made.companion = new.get(made.companion, made.companion)
    return Graph([Entry(new[node], index) for node, index in graph.outputs])


def depth_first(outputs: Iterable[Entry], required: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes of `outputs` and what they require, each after its requirements.

    Raises:
        GraphError: Nodes require each other.
    """
    order: list[Node] = []
    is_done: dict[Node, bool] = {}  # False while the nodes it requires are being visited
    for root, _ in outputs:
        if root in is_done:
            continue
        is_done[root] = False
        stack: list[tuple[Node, Iterator[Node]]] = [(root, iter(required(root)))]
        while stack:
            node, pending = stack[-1]
            for following in pending:
                done = is_done.get(following)
                if done is None:
                    is_done[following] = False
                    stack.append((following, iter(required(following))))
                    break
                if not done:
                    raise GraphError(f"the graph has a cycle through node {following.name!r}")
            else:
                stack.pop()
                is_done[node] = True
                order.append(node)
    return order


@final
class Graph:
    """Nodes that a list of output entries needs, with their order and their variables.

    Attributes:
        outputs: The entries asked for, in the caller's order.
        computed: Operators that have run before the graph does, as those of a tape have. Passes leave them
            as they are, and new nodes may read those of their values that gradients read anyhow.
        memo: What was found out about it that holds for all shapes, by who asks.
    """

    def __init__(self, outputs: Iterable[Entry], computed: Collection[Node] = frozenset()) -> None:
        self.outputs = tuple(outputs)
        self.computed = computed
        self.memo: dict[Hashable, Any] = {}

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in topological order; a node's number is its place here."""
        return tuple(topological_order(self.outputs))

    @cached_property
    def node_ids(self) -> dict[Node, int]:
        """The number of each node."""
        return {node: number for number, node in enumerate(self.nodes)}

    @cached_property
    def first_entries(self) -> list[int]:
        """The number of each node's first entry, and at the end how many entries there are."""
        return list(accumulate([node.num_outputs for node in self.nodes], initial=0))

    @cached_property
    def input_ids(self) -> list[list[int]]:
        """For each node, the numbers of its inputs."""
        ids, first = self.node_ids, self.first_entries
        return [[first[ids[node]] + index for node, index in each.inputs] for each in self.nodes]

    def entry_id(self, entry: Entry) -> int:
        """The number of an entry: tables of what is known about entries are lists by these."""
        return self.first_entries[self.node_ids[entry[0]]] + entry[1]

    @cached_property
    def entries(self) -> list[Entry]:
        """All entries, by number."""
        return [Entry(node, index) for node in self.nodes for index in range(node.num_outputs)]

    @cached_property
    def op_nodes(self) -> tuple[OpNode, ...]:
        """The nodes that apply an operator, in order."""
        return tuple(node for node in self.nodes if isinstance(node, OpNode))

    @property
    def arguments(self) -> tuple[Variable, ...]:
        """Variables that are not auxiliary states, in order of first use.

        Raises:
            GraphError: Two variables have one name.
        """
        return self._variables[False]

    @property
    def auxiliary_states(self) -> tuple[Variable, ...]:
        """Variables that operators update, in order of first use.

        Raises:
            GraphError: Two variables have one name.
        """
        return self._variables[True]

    @cached_property
    def _variables(self) -> dict[bool, tuple[Variable, ...]]:
        """The variables, apart by whether they are auxiliary states."""
        states = {entry.node for node in self.op_nodes for entry in node.aux}
        found: dict[str, Variable] = {}
        for node in self.nodes:
            if isinstance(node, Variable) and found.setdefault(node.name, node) is not node:
                raise GraphError(f"two variables are called {node.name!r}; rename one of them")
        return {
            is_state: tuple(x for x in found.values() if (x in states) is is_state)
            for is_state in (False, True)
        }

    def list_arguments(self) -> list[str]:
        """Names of the arguments."""
        return [node.name for node in self.arguments]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the auxiliary states."""
        return [node.name for node in self.auxiliary_states]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return [entry.name for entry in self.outputs]


def rewrite(graph: Graph, visit: Callable[[Node, Node], Sequence[Entry] | None]) -> Graph:
    """A graph in which other entries stand for those of some nodes.

    Args:
        graph: Is left as it is. Its `computed` nodes are neither visited nor replaced.
        visit: Called as `visit(old, new)` with every other node that is no variable, after its inputs: the
            node of `graph`, of which facts speak, and that node with its inputs replaced, the same one where
            none was. Gives the entries that stand for the node's from now on, or None to keep `new`.
    Returns:
        The new graph; the same one if nothing was replaced.
    Raises:
        Exception: What `visit` raises, with a note that names the node.
    """
    renewed: dict[Node, Node] = {}
    instead: dict[Entry, Entry] = {}

    def now(entry: Entry) -> Entry:
        found = instead.get(entry)
        if found is None:
            node = renewed.get(entry[0])
            found = entry if node is None else Entry(node, entry[1])
        return found

    for node in graph.nodes:
        if isinstance(node, Variable) or node in graph.computed:
            continue
        made = node
        if renewed or instead:
            made = rebuilt(node, [now(entry) for entry in node.inputs], renewed)
            if made is not node:
                renewed[node] = made
        try:
            found = visit(node, made)
        except Exception as error:
            error.add_note(f"at node {node.name!r}")
            raise
        if found is not None:
            instead.update((Entry(node, i), entry) for i, entry in enumerate(found))
            if found[0].node.__class__ is node.__class__:
                renewed[node] = found[0].node
    outputs = tuple(now(entry) for entry in graph.outputs)
    return graph if outputs == graph.outputs else Graph(outputs, graph.computed)
