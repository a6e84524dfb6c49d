"""The graph: nodes, the entries between them, and their order.

Three kinds of node. A `Variable` stands for an array given at bind time. An `OpNode` applies an
operator; its inputs are the operator's arguments and then its auxiliary states. A `BackwardNode`
computes the gradients of one `OpNode`; its inputs are exactly the entries that the operator
declared to read, and it has one output for each argument, of which only the wanted ones are
computed.

Nodes are mutable while a graph is being built and left alone afterwards; passes build new nodes.

Source: nnvm::Node, NodeEntry and Graph, nnvm/include/nnvm. Differs: backward nodes are a kind of
their own and point at the node they differentiate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, Final, NamedTuple, final

from operad.errors import GraphError
from operad.operator import BackwardEntry, OperatorProperty

KNOWN_ATTRIBUTES: Final = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")
"""The user's attributes that mean something; nodes keep them as `__ctx_group__` and so on."""


def hidden_key(key: str) -> str:
    """The key under which a node keeps an attribute: `lr_mult` -> `__lr_mult__`."""
    return f"__{key}__" if key in KNOWN_ATTRIBUTES else key


class Node(ABC):
    """A step of a graph.

    Attributes:
        name: Unique among a graph's variables; for other nodes a label for people.
        attrs: What was said of it, as strings: the operator's parameters that were given, and the user's
            attributes (`__lr_mult__`, `__ctx_group__`, ...).
        inputs: What it reads.
        control_deps: Nodes that must run before it although it reads none of their outputs.
        saved: What imperative recording keeps with the node; None in symbolic graphs.
    """

    __slots__ = ("__weakref__", "attrs", "control_deps", "inputs", "name", "saved")

    def __init__(self, name: str, inputs: Iterable[Entry] = (), attrs: dict[str, str] | None = None) -> None:
        self.name = name
        self.inputs: list[Entry] = list(inputs)
        self.attrs: dict[str, str] = dict(attrs or {})
        self.control_deps: list[Node] = []
        self.saved: Any = None

    @property
    @abstractmethod
    def num_outputs(self) -> int:
        """How many entries the node produces, hidden ones included."""

    @abstractmethod
    def output_name(self, index: int) -> str:
        """The name of output `index`, as in `list_outputs`."""

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

    @property
    def num_outputs(self) -> int:
        """One."""
        return 1

    def output_name(self, index: int) -> str:
        """The variable's own name."""
        return self.name


@final
class OpNode(Node):
    """An operator applied to entries.

    Attributes:
        op: The operator's property, with its parameters.
    """

    __slots__ = ("num_args", "op")

    def __init__(
        self,
        op: OperatorProperty,
        name: str,
        inputs: Iterable[Entry] = (),
        attrs: dict[str, str] | None = None,
    ) -> None:
        super().__init__(name, inputs, attrs)
        self.op = op
        self.num_args = len(op.list_arguments())

    @property
    def num_outputs(self) -> int:
        """All outputs of the operator."""
        return len(self.op.list_outputs())

    @property
    def args(self) -> list[Entry]:
        """The inputs that are arguments."""
        return self.inputs[: self.num_args]

    @property
    def aux(self) -> list[Entry]:
        """The inputs that are auxiliary states, which the node updates."""
        return self.inputs[self.num_args :]

    def output_name(self, index: int) -> str:
        """The node's name and the operator's name of the output: `fc1_output`."""
        return f"{self.name}_{self.op.list_outputs()[index]}"


@final
class BackwardNode(Node):
    """The gradients of an `OpNode`.

    Attributes:
        forward: The node that is differentiated.
        reads: What each input is: which out_grad, argument or output of `forward`.
        wanted: One flag an argument of `forward`: whether its gradient is computed.
    """

    __slots__ = ("forward", "reads", "wanted")

    def __init__(
        self, forward: OpNode, reads: Sequence[BackwardEntry], wanted: Sequence[bool], inputs: Iterable[Entry]
    ) -> None:
        super().__init__(f"{forward.name}_backward", inputs, forward.attrs)
        self.forward = forward
        self.reads = tuple(reads)
        self.wanted = tuple(wanted)

    @property
    def op(self) -> OperatorProperty:
        """The property of the operator that is differentiated."""
        return self.forward.op

    @property
    def num_outputs(self) -> int:
        """One gradient an argument."""
        return len(self.wanted)

    def output_name(self, index: int) -> str:
        """The node's name and the argument's: `fc1_backward_weight_grad`."""
        return f"{self.name}_{self.op.list_arguments()[index]}_grad"


def topological_order(outputs: Iterable[Entry], with_forward: bool = False) -> list[Node]:
    """Every node that `outputs` need, each after its inputs, in depth-first order.

    The order is MXNet's, so argument lists come out the same.

    Args:
        with_forward: Let backward nodes need their forward nodes, whether or not they read them.

    Raises:
        GraphError: The graph has a cycle.
    """
    return depth_first(outputs, partial(_requirements, with_forward=with_forward))


def depth_first(outputs: Iterable[Entry], requirements: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """The nodes of `outputs` and what they require, each after its requirements.

    Raises:
        GraphError: Nodes require each other.
    """
    order: list[Node] = []
    done: set[Node] = set()
    open_nodes: set[Node] = set()
    for root, _ in outputs:
        stack: list[tuple[Node, Iterator[Node]]] = [] if root in done else [(root, iter(requirements(root)))]
        open_nodes.update(node for node, _ in stack)
        while stack:
            node, pending = stack[-1]
            following = next(pending, None)
            if following is None:
                stack.pop()
                open_nodes.discard(node)
                done.add(node)
                order.append(node)
            elif following in open_nodes:
                raise GraphError(f"the graph has a cycle through node {following.name!r}")
            elif following not in done:
                open_nodes.add(following)
                stack.append((following, iter(requirements(following))))
    return order


def _requirements(node: Node, with_forward: bool) -> Iterator[Node]:
    for entry in node.inputs:
        yield entry.node
    yield from node.control_deps
    if with_forward and isinstance(node, BackwardNode):
        yield node.forward


@final
class Graph:
    """What a list of output entries needs, with its order and its variables.

    Attributes:
        outputs: The entries asked for, in the caller's order.
    """

    def __init__(self, outputs: Iterable[Entry]) -> None:
        self.outputs = tuple(outputs)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes in topological order."""
        return tuple(topological_order(self.outputs))

    @cached_property
    def op_nodes(self) -> tuple[OpNode, ...]:
        """The nodes that apply an operator, in order."""
        return tuple(node for node in self.nodes if isinstance(node, OpNode))

    @cached_property
    def _auxiliary(self) -> frozenset[Node]:
        return frozenset(entry.node for node in self.op_nodes for entry in node.aux)

    @cached_property
    def arguments(self) -> tuple[Variable, ...]:
        """Variables that are not auxiliary states, in order of first use.

        Raises:
            GraphError: Two variables have one name.
        """
        return self._variables(auxiliary=False)

    @cached_property
    def auxiliary_states(self) -> tuple[Variable, ...]:
        """Variables that operators update, in order of first use.

        Raises:
            GraphError: Two variables have one name.
        """
        return self._variables(auxiliary=True)

    def _variables(self, auxiliary: bool) -> tuple[Variable, ...]:
        found: dict[str, Variable] = {}
        for node in self.nodes:
            if isinstance(node, Variable) and found.setdefault(node.name, node) is not node:
                raise GraphError(f"two variables are called {node.name!r}; rename one of them")
        return tuple(node for node in found.values() if (node in self._auxiliary) == auxiliary)

    def list_arguments(self) -> list[str]:
        """Names of the arguments."""
        return [node.name for node in self.arguments]

    def list_auxiliary_states(self) -> list[str]:
        """Names of the auxiliary states."""
        return [node.name for node in self.auxiliary_states]

    def list_outputs(self) -> list[str]:
        """Names of the outputs."""
        return [entry.name for entry in self.outputs]
