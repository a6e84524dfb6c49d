"""A compiled graph: what runs where and in which memory, worked out before there are arrays.

Everything is by number: nodes and entries are indices into the tables (see `Graph`).
"""

from __future__ import annotations

import gc
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from operator import attrgetter
from typing import Any, ClassVar, Final, NamedTuple, final

from operad.device import Context
from operad.errors import GradientError
from operad.first_use import cached_property
from operad.graph import (
    Compilation,
    Entry,
    Facts,
    Graph,
    Memo,
    MemoryPlan,
    OpNode,
    Pass,
    Variable,
    compile_passes,
    prepared_entries,
    renamed,
)
from operad.imperative import ArraySpec, spec_of
from operad.op import Choice, Cost, Gradient, Operator, OpReq
from operad.resource import ResourceRequest
from operad.scopes import Ending, Exit


def compile_graph(
    graph: Graph, passes: Sequence[Pass], given: Facts, analyses: Mapping[str, Pass] | None = None,
    names: Sequence[str] = (),
) -> Program:  # fmt: skip
    """Run the passes over a graph; `given` are the facts that `operad.graph.passes` lists.

    Args:
        names: Those that the graph's names number; see `Program`.
    Raises:
        ShapeError: Shapes contradict each other, or do not follow from those given.
        GraphError: A plugin's pass failed.
    """
    with collector_paused():
        return Program(compile_passes(graph, passes, given, analyses), names)


@final
class _CollectorPaused:
    """Compiling makes many objects and no garbage, so looking for garbage would be time lost."""

    _ending: ClassVar = Ending(gc.enable)

    def __enter__(self) -> None:
        try:
            gc.disable()
        except BaseException:  # from outside, behind the call
            gc.enable()
            raise

    __exit__ = Exit(attrgetter("_ending"))


def collector_paused() -> AbstractContextManager[None]:
    """Inside `with`, garbage is not looked for, where it was before."""
    return _CollectorPaused() if gc.isenabled() else nullcontext()


_NUMBER: Final = re.compile(r"<(\d+)>")


@final
class Call(NamedTuple):
    """One call of a node, but for its arrays. Arrays are named by their entries, None where there is none.

    Attributes:
        operator: The node whose operator runs it: its own, or that of its companion.
        slots: All that the operator is given, in the order of its templates' slots.
        reads: The entries whose values are read, sums that gradients are added to among them.
        outs: The entries written.
        req: One request per output.
        aux: The auxiliary states.
    """

    operator: int
    slots: tuple[int | None, ...]
    reads: tuple[int, ...]
    outs: tuple[int | None, ...]
    req: tuple[OpReq, ...]
    aux: tuple[int, ...]


@final
class Program:
    """A graph with everything that is known about it.

    Attributes:
        compilation: How it was made.
        numbered: The training graph: what computes the outputs, then what computes the gradients. Names of
            nodes are made of `<0>`, `<1>`, ..., which stand for `names`.
        names: Those of the graph that is bound, by number. () where its names are in `numbered` themselves.
        plan: Memory of every entry that no array of the caller holds.
        contexts: Where each node runs and each variable lives.
        costs: What each node computes, roughly.
        kernels: Which kernels compute each node; None where its operator has none.
        outputs: The entries the caller sees.
        gradients: By argument name, the entry of its gradient.
        updates: Entries of new values of arguments; see `operad.graph.updates`.
        variables: By name, the entry of every variable.
        forward: Nodes that compute the outputs, in order.
        backward: Nodes that compute the gradients, in order.
        preparations: Those of either that fill prepared arrays, which need not run where these are filled.
    """

    def __init__(self, compilation: Compilation, names: Sequence[str] = ()) -> None:
        self.compilation, self.names = compilation, names
        graph, facts = compilation.graph, compilation.facts
        self.numbered = graph
        self._calls: Memo[Call] = Memo()
        self._resources: Memo[list[ResourceRequest]] = Memo()
        self.plan: MemoryPlan = facts["plan"]
        self.contexts: Sequence[Context] = facts["contexts"]
        self.costs: Sequence[Cost] = facts["costs"]
        self.kernels: Sequence[Choice | None] = facts["kernels"]
        self._shapes = facts["shapes"].values
        self._types = facts["types"].values
        ids = [graph.entry_id(entry) for entry in graph.outputs]
        count = facts["num_outputs"]
        self.outputs = ids[:count]
        first = len(ids) - len(facts["wanted"])
        self.gradients = dict(zip(map(self.named, facts["wanted"]), ids[first:], strict=True))
        self.updates = ids[count:first]
        pairs = zip(graph.nodes, graph.first_entries, strict=False)
        self.variables = {self.named(node.name): first for node, first in pairs if isinstance(node, Variable)}
        # The graph is in depth-first order, so what the outputs need stands before the rest.
        end = max([graph.node_ids[entry.node] + 1 for entry in graph.outputs[:count]], default=0)
        self.forward = range(end)
        self.backward = range(end, len(graph.nodes))
        self.preparations = [graph.node_ids[entry.node] for entry in prepared_entries(graph)]

    def named(self, text: str) -> str:
        """A text with the names of the graph that is bound."""
        return _NUMBER.sub(lambda found: self.names[int(found[1])], text) if self.names else text

    @cached_property
    def graph(self) -> Graph:
        """The training graph, with names."""
        return renamed(self.numbered, lambda node: self.named(node.name)) if self.names else self.numbered

    def spec(self, entry: int) -> ArraySpec:
        """Shape, type and context of an entry."""
        node = self.numbered.node_ids[self.numbered.entries[entry].node]
        return spec_of(self._shapes[entry], self._types[entry], self.contexts[node])

    @cached_property
    def sizes(self) -> list[int]:
        """Elements of each entry."""
        return list(map(prod, self._shapes))

    @cached_property
    def blocks(self) -> list[int]:
        """For each entry what is the same for those in one block."""
        return [e if p is None else -1 - p.block for e, p in enumerate(self.plan.placements)]

    @cached_property
    def places(self) -> list[Hashable]:
        """For each entry what is the same for those that are one view of the same memory."""
        every = zip(self.plan.placements, self._shapes, self._types, strict=True)
        return [e if view[0] is None else view for e, view in enumerate(every)]

    @cached_property
    def aliased_entries(self) -> list[tuple[int, int]]:
        """Entries that lie in an array bound to another entry, with that one."""
        return [(entry, home) for entry, home in self.plan.bound.items() if entry != home]

    @cached_property
    def labels(self) -> list[str]:
        """Names of all nodes that tell them apart: the second of a name has `#2` behind it."""
        seen: Counter[str] = Counter()
        found = []
        for name in [self.named(node.name) for node in self.numbered.nodes]:
            seen[name] += 1
            found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
        return found

    @cached_property
    def specs(self) -> dict[str, ArraySpec]:
        """Shape, type and context of every variable of the graph as it was given, by name."""
        facts = self.compilation.facts
        shapes, types = facts["arg_shapes"], facts["arg_types"]
        return {self.named(n): spec_of(shapes[n], types[n], ctx) for n, ctx in facts["arg_contexts"].items()}

    def entry_range(self, node_id: int) -> range:
        """The entries that a node makes."""
        return range(self.numbered.first_entries[node_id], self.numbered.first_entries[node_id + 1])

    def operator_id(self, node_id: int) -> int:
        """The node whose operator runs this one."""
        node = self.numbered.nodes[node_id]
        assert isinstance(node, OpNode)
        if node.companion is None or type(node.companion.op) is Gradient:
            return node_id
        return self.numbered.node_ids.get(node.companion, node_id)

    def call(self, node_id: int) -> Call:
        """Call of a node, which is no variable."""
        return self._calls.get(node_id, self._make_call, node_id)

    def _make_call(self, node_id: int) -> Call:
        node, inputs = self.numbered.nodes[node_id], self.numbered.input_ids[node_id]
        outputs = self.entry_range(node_id)
        assert isinstance(node, OpNode)
        # What is not read may be gone: its memory serves others by now.
        ins, aux = tuple(inputs[: node.num_read]), tuple(node.of_states(inputs))
        req: tuple[Any, ...] = tuple(self.plan.requests[outputs.start : outputs.stop])
        outs = tuple([None if r is OpReq.NULL else e for e, r in zip(outputs, req, strict=True)])
        reads = (*ins, *node.of_sums(inputs))
        return Call(self.operator_id(node_id), (*ins, *outs, *aux), reads, outs, req, aux)

    @cached_property
    def made_at_bind(self) -> list[int]:
        """Nodes whose operators are made with each binding: those that keep a state, or may not be there."""
        return [
            number
            for number, node in enumerate(self.numbered.nodes)
            if isinstance(node, OpNode)
            and (node.op.is_stateful or type(getattr(node.op, "of", None)) is Gradient)
        ]

    def operators(self, node_ids: Iterable[int]) -> Operators:
        """Operators for the nodes that have their own, made at once."""
        found = Operators(self)
        for node_id in node_ids:
            if isinstance(self.numbered.nodes[node_id], OpNode) and self.operator_id(node_id) == node_id:
                found[node_id]
        return found

    def operator(self, node_id: int, alike: Memo[Operator]) -> Operator:
        """Operator of a node that has its own: one for all that are alike and keep no state."""
        node, choice = self.numbered.nodes[node_id], self.kernels[node_id]
        assert isinstance(node, OpNode)
        if choice is not None and type(node.op) is not Gradient:
            # Nodes that are alike share one choice.
            return alike.get(node_id if node.op.is_stateful else choice, choice.operator)
        args = self.numbered.input_ids[node_id][: node.num_args]
        shapes, types = [self._shapes[e] for e in args], [self._types[e] for e in args]
        ctx = self.contexts[node_id]
        key: Hashable = node_id if node.op.is_stateful else (node.signature, ctx, *shapes, *types)
        try:
            return alike.get(key, node.op.create_operator, ctx, shapes, types)
        except GradientError as error:
            raise GradientError(f"bind: {self.named(node.name)!r}: {error}") from error

    def resources(self, node_id: int) -> list[ResourceRequest]:
        """Resources that the node's operator asks the resource manager for."""
        node = self.numbered.nodes[node_id]
        assert isinstance(node, OpNode)
        shapes = [self._shapes[entry] for entry in self.numbered.input_ids[node_id][: node.num_args]]
        return self._resources.get((node.signature, *shapes), node.op.forward_resource, shapes)

    @cached_property
    def read_by_backward(self) -> dict[int, str]:
        """The arguments and outputs whose values backward reads, and what errors call them.

        Auxiliary states are none of them: they belong to the operators, which update them in every
        training run, also that of another executor over the same states.
        """
        outputs = set(self.outputs)
        found: dict[int, str] = {}
        for entry in self._read(self.backward):
            number = self.numbered.entry_id(entry)
            if isinstance(entry.node, Variable) and self.numbered.node_ids[entry.node] in self.forward:
                found[number] = f"argument {self.named(entry.name)!r}"
            elif number in outputs:
                found[number] = f"output {self.named(entry.name)!r}"
        return found

    def _read(self, node_ids: Iterable[int]) -> Iterator[Entry]:
        """The entries whose values nodes read, but for auxiliary states."""
        for node in map(self.numbered.nodes.__getitem__, node_ids):
            if isinstance(node, OpNode):
                yield from node.inputs[: node.num_read]

    @cached_property
    def train_only_read_by_backward(self) -> str | None:
        """The first output of a forward node that backward reads and prediction may not write."""
        return self._first_read(self.backward, lambda node, i: i in node.op.train_only_outputs)

    @cached_property
    def train_only_read_by_forward(self) -> str | None:
        """The same of gradients among what computes the outputs."""
        nodes = self.numbered.nodes
        gradients = [i for i in self.forward if isinstance(getattr(nodes[i], "op", None), Gradient)]
        return self._first_read(gradients, lambda node, i: i in node.op.train_only_outputs)

    @cached_property
    def visible_read_by_backward(self) -> str | None:
        """The first output of a forward node that backward reads, but for those that operators hide."""
        own = {*self.numbered.nodes[: len(self.forward)]}
        return self._first_read(self.backward, lambda n, i: n in own and i < n.op.num_visible_outputs)

    def _first_read(self, node_ids: Iterable[int], is_meant: Callable[[OpNode, int], bool]) -> str | None:
        for entry in self._read(node_ids):
            if isinstance(entry.node, OpNode) and is_meant(entry.node, entry.index):
                return self.named(entry.name)
        return None

    @cached_property
    def is_backward_repeatable(self) -> bool:
        """Return whether backward leaves what it reads of forward as it was, and so may run again."""
        placements, forward = self.plan.placements, self.numbered.first_entries[len(self.forward)]
        written = [placements[entry] for node_id in self.backward for entry in self.entry_range(node_id)]
        read = {
            placements[entry]
            for node_id in self.backward
            for entry in self.numbered.input_ids[node_id]
            if entry < forward
        }
        return not any(one.overlaps(other) for one in read if one for other in set(written) if other)


@final
class Operators(dict[int, Operator]):
    """Operators of a program's nodes, by number, each made when it is first read."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._alike: Memo[Operator] = Memo()

    def __missing__(self, node_id: int) -> Operator:
        found = self[node_id] = self._program.operator(node_id, self._alike)
        return found
