"""The backward pass of a tape as a compiled program, worked out once for each structure of tape.

Two tapes have the same structure if their nodes, in the order of recording, were run by the same plans
on inputs that come from the same places, and if the same gradients are wanted. The tape becomes a graph,
and that goes through the passes of bound graphs, but for three that know what is already there: the
forward nodes have run, on contexts that stand, and their values lie in arrays. What then runs are the
same segments as an executor's, on new arrays each time.

Passes of plugins are left out: they rewrite graphs, and what was recorded has run already.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, final

from operad.autograd.function import FunctionProperty
from operad.context import Context
from operad.engine import Var
from operad.graph import (
    REQUESTS,
    SCHEDULE,
    BackwardNode,
    Entry,
    Graph,
    Node,
    OpNode,
    Pass,
    ShapeTable,
    TypeTable,
    Variable,
    gradient,
    insert_copies,
    planned,
)
from operad.imperative import Array, Marked, Plan, Spec, TapeEntry, TapeNode, copy_into, execute, version_of
from operad.operator import OpReq
from operad.program import Binding, SegmentCode, codes, compile_graph, segments

_MAX_CACHED: Final = 256

Tape = Sequence[TapeNode | Marked]
Facts = Mapping[str, Any]


@final
class _Recorded:
    """A tape as a graph, and the passes over it that differ from those of a bound graph.

    Attributes:
        nodes: The graph's node for each node of the tape.
        heads: What is differentiated.
        wanted: What gradients are wanted of.
        head_grads: The variables that stand for the gradients of `heads`.
    """

    def __init__(
        self, tape: Tape, heads: Sequence[TapeEntry], wanted: Sequence[TapeEntry], requests: Sequence[str]
    ) -> None:
        self._specs: dict[str, Spec] = {}  # of the variables
        self._out_specs: dict[Node, Sequence[Spec]] = {}  # of what operators made
        self.nodes: dict[TapeNode | Marked, Node] = {}
        for node in tape:
            if isinstance(node, TapeNode):
                made = self.nodes[node] = self._operator(node)
                self._out_specs[made] = node.plan.out_specs
            else:
                self.nodes[node] = self._variable(node.grad._spec)
        self.heads = [self._entry(entry) for entry in heads]
        self.wanted = [self._entry(entry) for entry in wanted]
        self.head_grads = [self._variable(_spec_of(entry)) for entry in heads]
        self._requests = requests
        self._targets = [_spec_of(entry).ctx for entry in wanted]

    def _variable(self, spec: Spec) -> Variable:
        name = f"v{len(self._specs)}"
        self._specs[name] = spec
        return Variable(name)

    def _entry(self, entry: TapeEntry) -> Entry:
        return Entry(self.nodes[entry[0]], entry[1])

    def _operator(self, node: TapeNode) -> OpNode:
        plan = node.plan
        specs = plan.in_specs if isinstance(plan, Plan) else plan.prop.in_specs  # type: ignore[attr-defined]
        places = [*node.inputs, *[None] * len(node.aux)]
        inputs = [
            Entry(self._variable(spec)) if place is None else self._entry(place)
            for place, spec in zip(places, specs, strict=True)
        ]
        return OpNode(plan.prop, plan.name, inputs)

    def passes(self) -> list[Pass]:
        """In the order in which they run."""
        return [
            Pass("gradient", self._gradient),
            Pass("infer", self._infer, (), ("shapes", "types")),
            Pass("place", self._place, (), ("contexts",)),
            SCHEDULE,
            Pass("memory", self._memory, ("shapes", "types", "schedule"), ("plan",)),
        ]

    def _gradient(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        head_grads = [Entry(node) for node in self.head_grads]
        found = gradient(self.heads, head_grads, self.wanted, graph.nodes)
        return Graph([*graph.outputs, *found]), {}

    def _infer(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        """Nothing is left to find out: gradients are like what they are the gradients of."""
        specs: list[Spec] = []
        for node, inputs in zip(graph.nodes, graph.input_ids, strict=True):
            if isinstance(node, BackwardNode):
                args = graph.input_ids[graph.node_ids[node.forward]]
                specs += [specs[entry] for entry in args[: node.num_outputs]]
            elif isinstance(node, Variable):
                specs.append(self._specs[node.name])
            else:
                specs += self._out_specs.get(node) or [specs[inputs[0]]]
        shapes = ShapeTable(graph, [spec.shape for spec in specs], is_complete=True)
        return graph, {
            "shapes": shapes,
            "types": TypeTable(graph, [spec.dtype for spec in specs], is_complete=True),
        }

    def _place(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        contexts: dict[Node, Context] = {}
        for node in graph.nodes:
            contexts[node] = self._context(node, contexts)
        if len(set(contexts.values())) == 1:
            return graph, {"contexts": list(contexts.values())}
        functions = [node for node in graph.nodes if _is_function(node)]
        targets = [*[None] * (len(graph.outputs) - len(self._targets)), *self._targets]
        placed, found = insert_copies(graph, contexts, targets, functions)
        return placed, {"contexts": found}

    def _context(self, node: Node, contexts: Mapping[Node, Context]) -> Context:
        if isinstance(node, Variable):
            return self._specs[node.name].ctx
        if isinstance(node, BackwardNode):
            is_function = isinstance(node.op, FunctionProperty)
            return node.op.in_specs[0].ctx if is_function else contexts[node.forward]  # type: ignore[attr-defined]
        specs = self._out_specs.get(node)
        return specs[0].ctx if specs else contexts[node.inputs[0].node]

    def _memory(self, graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
        """Plan the memory of gradients; recorded values, and what functions read, have arrays."""
        count = len(self.heads) + len(self.wanted)
        # In depth-first order what the outputs need, which is what was recorded, comes first.
        recorded = graph.nodes[: 1 + max(graph.node_ids[entry.node] for entry in graph.outputs[:count])]
        apart = [Entry(node, index) for node in recorded for index in range(node.num_outputs)]
        for node in graph.nodes:
            if isinstance(node, BackwardNode) and _is_function(node):
                apart += node.inputs[: len(node.reads)]
        requests = {entry: OpReq.WRITE for entry in apart if not isinstance(entry.node, Variable)}
        for entry, request in zip(graph.outputs[count:], self._requests, strict=True):
            requests[entry] = REQUESTS[request]
        return graph, {"plan": planned(graph, facts, requests)}


def _is_function(node: Node) -> bool:
    return isinstance(node, (OpNode, BackwardNode)) and isinstance(node.op, FunctionProperty)


def _spec_of(entry: TapeEntry) -> Spec:
    node, index = entry
    return node.grad._spec if isinstance(node, Marked) else node.plan.out_specs[index]


@final
class BackwardProgram:
    """The gradients of one structure of tape."""

    def __init__(
        self, tape: Tape, heads: Sequence[TapeEntry], wanted: Sequence[TapeEntry], requests: Sequence[str]
    ) -> None:
        recorded = _Recorded(tape, heads, wanted, requests)
        graph = Graph([*recorded.heads, *recorded.wanted])
        given = {"wanted": range(len(wanted)), "num_outputs": len(graph.outputs)}
        self._program = program = compile_graph(graph, recorded.passes(), given)
        self._heads = [program.variables.get(head.name) for head in recorded.head_grads]
        self._primitives = program.operators(program.backward)
        # Recorded nodes are on the contexts of what they read, so no pass made new ones of them.
        steps = [program.graph.node_ids.get(recorded.nodes[node], -1) for node in tape]
        self._parts = [*self._cut({step: number for number, step in enumerate(steps)})]
        read = {program.forward_step(s) for s in program.backward if _is_gradient(program.graph.nodes[s])}
        self._read = [number for number, step in enumerate(steps) if step in read]
        self._steps = [steps[number] for number in self._read]
        self._saved: list[int] = []  # the entries of what the nodes read kept
        self._aux: list[int] = []  # the entries of their states
        for number, step in zip(self._read, self._steps, strict=True):
            self._note_read(tape[number], step)
        self._apart = self._read_by_functions()

    def _cut(self, numbers: Mapping[int, int]) -> Iterator[tuple[list[SegmentCode], int, int]]:
        """Segments, -1 and -1; or none, the step of a function, and its number on the tape."""
        part: list[int] = []
        for step in self._program.backward:
            node = self._program.graph.nodes[step]
            if _is_function(node):
                yield codes(self._program, part), -1, -1
                yield [], step, numbers[self._program.forward_step(step)]
                part = []
            elif not isinstance(node, Variable):
                part.append(step)
        yield codes(self._program, part), -1, -1

    def _note_read(self, node: TapeNode | Marked, step: int) -> None:
        assert isinstance(node, TapeNode)
        graph = self._program.graph
        saved = node.plan.recipe(node.wanted).entries if isinstance(node.plan, Plan) else ()
        first, inputs = graph.first_entries[step], graph.input_ids[step]
        self._saved += [inputs[index] if kind == "in_data" else first + index for kind, index in saved]
        applied = graph.nodes[step]
        assert isinstance(applied, OpNode)
        self._aux += inputs[applied.num_args :]

    def _read_by_functions(self) -> list[int]:
        """The entries bound to arrays that this program makes, because functions read them."""
        graph, bound = self._program.graph, self._program.plan.bound
        known = {*self._program.gradients.values(), *self._heads}
        entries = [graph.input_ids[step] for _, step, _ in self._parts if step >= 0]
        return list(
            dict.fromkeys(bound[e] for ids in entries for e in ids if e in bound and bound[e] not in known)
        )

    def run(
        self, tape: Tape, head_grads: Sequence[Array], results: Sequence[Array], train_mode: bool
    ) -> None:
        """Compute the gradients into `results`, from what the nodes of `tape` keep.

        Raises:
            GradientError: An array that is read was overwritten since it was recorded.
        """
        program = self._program
        nodes: list[Any] = [tape[number] for number in self._read]
        saved = _kept(nodes)
        arrays: dict[int, Array] = dict(zip(program.gradients.values(), results, strict=True))
        arrays.update(zip(self._saved, saved, strict=True))
        arrays.update(zip(self._aux, [x for node in nodes for x in node.aux], strict=True))
        arrays.update((e, grad) for e, grad in zip(self._heads, head_grads, strict=True) if e is not None)
        arrays.update((entry, head_grads[0]._new(program.spec(entry))) for entry in self._apart)
        operators = dict(self._primitives)
        state_vars: dict[int, Var] = {}
        for step, plan in zip(self._steps, [node.plan for node in nodes], strict=True):
            if plan.__class__ is Plan:
                operators[step] = plan.operator
                if plan.state_var is not None:
                    state_vars[step] = plan.state_var
        binding = Binding(program, arrays, operators, state_vars=state_vars)
        started: Collection[Var] = ()
        for part, step, number in self._parts:
            if step >= 0:
                _run_function(tape[number], step, binding, type(head_grads[0]))
            for segment in (made := segments(binding, part, started)):
                is_last = segment is made[-1]
                segment.push(train_mode, len(made) == 1, binding.size_bytes if is_last else 0)
                started = segment.started


def _kept(nodes: Sequence[TapeNode]) -> list[Array]:
    """The arrays that the nodes kept, all as they were when they were recorded.

    Raises:
        GradientError: One was overwritten since.
    """
    found = [x for node in nodes for x in node.saved or ()]
    if [*map(version_of, found)] != [version for node in nodes for version in node.versions]:
        for node in nodes:
            node.check_unchanged()
    return found


def _is_gradient(node: Node) -> bool:
    return isinstance(node, BackwardNode)


def _run_function(node: TapeNode | Marked, step: int, binding: Binding, kind: type[Array]) -> None:
    """Call a hand-written gradient, and put what it returns where the plan wants it."""
    program = binding.program
    backward = program.graph.nodes[step]
    assert isinstance(node, TapeNode)
    assert isinstance(node.plan.prop, FunctionProperty)
    assert isinstance(backward, BackwardNode)

    def array(entry: int) -> Array:
        bound = binding.array_of(entry)
        if bound is not None:
            return bound
        return kind(binding.chunk(entry), binding.data(entry), program.spec(entry))

    reads = program.graph.input_ids[step][: len(backward.reads)]
    grads = node.plan.prop.run_backward([array(entry) for entry in reads])
    for entry, grad in zip(program.entry_range(step), grads, strict=True):
        request = program.plan.requests[entry]
        if request is not OpReq.NULL:
            deliver(grad, array(entry), request)


def deliver(value: Array, target: Array, request: OpReq | None) -> None:
    """Put a gradient into an array."""
    if request is OpReq.ADD:
        args, const = (target._data, value._data), (value._chunk.var,)
        execute(_add_into, args, target.ctx, const, (target._chunk.var,), "_grad_add", reads_mutable=True)
    else:
        copy_into(target, value)


def _add_into(target: Any, value: Any) -> None:
    target += value


_programs: Final[dict[Any, BackwardProgram]] = {}


def backward_program(
    tape: Tape, heads: Sequence[TapeEntry], wanted: Sequence[TapeEntry], requests: Sequence[str]
) -> BackwardProgram:
    """The program for a tape.

    Args:
        tape: Its nodes in the order of recording.
        heads: The entries to differentiate.
        wanted: The entries whose gradients are wanted.
        requests: `write` or `add`, one for each of `wanted`.
    """
    key = _structure(tape, heads, wanted, requests)
    if key is None:
        return BackwardProgram(tape, heads, wanted, requests)
    found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MAX_CACHED:
            _programs.clear()
        found = _programs[key] = BackwardProgram(tape, heads, wanted, requests)
    return found


def forget() -> None:
    """Compile every structure anew when it next comes."""
    _programs.clear()


def _structure(
    tape: Tape, heads: Sequence[TapeEntry], wanted: Sequence[TapeEntry], requests: Sequence[str]
) -> Any:
    """What two tapes that share a program have in common; None for tapes with hand-written functions."""
    number = {node: i for i, node in enumerate(tape)}
    parts: list[Any] = []
    for node in tape:
        if node.__class__ is TapeNode:
            plan = node.plan
            if plan.__class__ is not Plan:
                return None
            parts.append(plan.structure)
            for entry in node.inputs:
                if entry is None:
                    parts.append(None)
                else:
                    parts += (number[entry[0]], entry[1])
        else:
            parts.append(node.grad._spec)  # type: ignore[union-attr]  # it is marked
    ends = [(number[node], index) for node, index in (*heads, *wanted)]
    return (len(heads), *ends, *requests, *parts)
