"""The backward pass of a tape as a compiled program, worked out once for each structure of tape.

Two tapes have the same structure if their nodes, in the order of recording, were run by the same plans
on inputs that come from the same positions, and if the same gradients are wanted. The tape becomes a graph,
and that goes through the passes of bound graphs, but for three that know what is already there: the
forward nodes have run, on contexts that stand, and their values lie in arrays. What then runs are the
same segments as an executor's, on new arrays each time.

Passes of plugins that see a graph with its gradients see this one, too. What was recorded has run already
(`Graph.computed`), so they rewrite what is left to do, from the values that the tape keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, final

from operad import graph as graphs
from operad import imperative, registry
from operad.device import Context
from operad.errors import GraphError
from operad.graph import Entry, Graph, Node, OpNode, Pass, Variable
from operad.imperative import Array, ArraySpec, Marked, Plan, TapeEntry, TapeNode, version_of
from operad.op import OpReq
from operad.program import Binding, KeptCalls, SegmentCode, codes, compile_graph, run_kept, segments
from operad.resource import mutable_vars_of

_MAX_CACHED: Final = 256
_KEPT_BYTES: Final = 1 << 16
"""Memory of its own that a pass keeps."""

_var_of: Final = attrgetter("_chunk.var")

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
        self._specs: dict[str, ArraySpec] = {}  # of the variables
        self._out_specs: dict[Node, Sequence[ArraySpec]] = {}  # of what operators made
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

    def _variable(self, spec: ArraySpec) -> Variable:
        name = f"v{len(self._specs)}"
        self._specs[name] = spec
        return Variable(name)

    def _entry(self, entry: TapeEntry) -> Entry:
        return Entry(self.nodes[entry[0]], entry[1])

    def _operator(self, node: TapeNode) -> OpNode:
        plan = node.plan
        assert isinstance(plan, Plan)
        positions = [*node.inputs, *[None] * len(node.aux)]
        inputs = [
            Entry(self._variable(spec)) if position is None else self._entry(position)
            for position, spec in zip(positions, plan.signature.in_specs, strict=True)
        ]
        return OpNode(plan.prop, plan.name, inputs)

    def passes(self) -> list[Pass]:
        """In the order in which they run."""
        return [
            Pass("gradient", self._gradient),
            Pass("infer", self._infer, (), ("shapes", "types")),
            *graphs.passes_of(graphs.TRAINING, graphs.KNOWN),
            Pass("position", self._place, (), ("contexts",)),
            graphs.CHOOSE_KERNELS,
            graphs.SCHEDULE,
            Pass("memory", self._memory, ("shapes", "types", "schedule"), ("plan",)),
        ]

    def analyses(self) -> dict[str, Pass]:
        """Return passes that give facts which only passes of plugins may require as early as they run."""
        estimate = Pass("estimate", self._estimate, ("shapes", "types", "contexts"), ("planned_bytes",))
        contexts = Pass("contexts", self._find_contexts, (), ("contexts",))
        return {
            "contexts": contexts,
            "costs": graphs.COSTS,
            "kernels": graphs.KERNELS,
            "planned_bytes": estimate,
        }

    def _gradient(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        head_grads = [Entry(node) for node in self.head_grads]
        found = graphs.gradient(self.heads, head_grads, self.wanted, graph.nodes)
        return Graph([*graph.outputs, *found], graph.computed), {}

    def _infer(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        """Nothing is left to find out about what was recorded, and the rest follows from it."""
        known: dict[Node, Sequence[ArraySpec]] = {**self._out_specs}
        for node in graph.nodes:
            if isinstance(node, Variable):
                known[node] = (self._specs[node.name],)
        return graph, graphs.extended(
            graph, {node: [(spec.shape, spec.dtype) for spec in specs] for node, specs in known.items()}
        )

    def _find_contexts(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        return graph, {"contexts": list(self._contexts_of(graph).values())}

    def _contexts_of(self, graph: Graph) -> dict[Node, Context]:
        contexts: dict[Node, Context] = {}
        for node in graph.nodes:
            contexts[node] = self._context(node, contexts)
        return contexts

    def _place(self, graph: Graph, _: Facts) -> tuple[Graph, Facts]:
        contexts = self._contexts_of(graph)
        if len(set(contexts.values())) == 1:
            return graph, {"contexts": list(contexts.values())}
        targets = [*[None] * (len(graph.outputs) - len(self._targets)), *self._targets]
        placed, found = graphs.insert_copies(graph, contexts, targets)
        return placed, {"contexts": found}

    def _context(self, node: Node, contexts: Mapping[Node, Context]) -> Context:
        if isinstance(node, Variable):
            return self._specs[node.name].ctx
        if isinstance(node, OpNode) and node.companion is not None:
            return contexts[node.companion]
        specs = self._out_specs.get(node)
        return specs[0].ctx if specs else contexts[node.inputs[0].node]

    def _estimate(self, graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
        return graph, {"planned_bytes": graphs.estimated_bytes(graph, facts, self._bound(graph))}

    def _memory(self, graph: Graph, facts: Facts) -> tuple[Graph, Facts]:
        """Plan the memory of gradients; recorded values have arrays."""
        return graph, {"plan": graphs.planned(graph, facts, self._bound(graph))}

    def _bound(self, graph: Graph) -> dict[Entry, OpReq]:
        """The entries that have arrays, and their requests."""
        count = len(self.heads) + len(self.wanted)
        # In depth-first order what the outputs need, which is what was recorded, comes first.
        recorded = graph.nodes[: 1 + max(graph.node_ids[entry.node] for entry in graph.outputs[:count])]
        apart = [Entry(node, index) for node in recorded for index in range(node.num_outputs)]
        requests = {entry: OpReq.WRITE for entry in apart if not isinstance(entry.node, Variable)}
        for entry, request in zip(graph.outputs[count:], self._requests, strict=True):
            requests[entry] = graphs.REQUESTS[request]
        return requests


def _spec_of(entry: TapeEntry) -> ArraySpec:
    node, index = entry
    return node.grad._spec if isinstance(node, Marked) else node.plan.out_specs[index]


@final
class BackwardProgram:
    """The gradients of one structure of tape.

    Attributes:
        plans: The calls whose run-time values are in nodes that a pass made; empty where none is.
    """

    def __init__(
        self, tape: Tape, heads: Sequence[TapeEntry], wanted: Sequence[TapeEntry], requests: Sequence[str]
    ) -> None:
        recorded = _Recorded(tape, heads, wanted, requests)
        operators = frozenset(node for node in recorded.nodes.values() if isinstance(node, OpNode))
        graph = Graph([*recorded.heads, *recorded.wanted], operators)
        wishes = dict(enumerate(requests))
        given = {"wanted": range(len(wanted)), "grad_req": wishes, "num_outputs": len(graph.outputs)}
        passes = recorded.passes()
        self._program = program = compile_graph(graph, passes, given, recorded.analyses())
        self._heads = [program.variables.get(head.name) for head in recorded.head_grads]
        self._primitives = program.operators(program.backward)
        # Recorded nodes are on the contexts of what they read, so no pass made new ones of them.
        node_ids = [program.graph.node_ids.get(recorded.nodes[node], -1) for node in tape]
        self._codes = codes(program, program.backward)
        made = [program.graph.nodes[s] for s in program.backward]
        bakes = any(isinstance(node, OpNode) and not _asks_the_tape(node) for node in made)
        self.plans = _plans_of(tape) if bakes else []
        nodes, inputs = program.graph.nodes, program.graph.input_ids
        operators_read = {program.operator_id(s) for s in program.backward if isinstance(nodes[s], OpNode)}
        values = {entry for s in program.backward for entry in nodes[s].of_read(inputs[s])}
        self._read: list[int] = []  # numbers of the tape's nodes of which backward reads something
        self._node_ids: list[int] = []
        self._saved: list[int] = []  # the entries of what these kept
        self._aux: list[int] = []  # the entries of their states
        self._train_only: list[int] = []  # numbers of those of which it reads what only training computes
        for number, (node, node_id) in enumerate(zip(tape, node_ids, strict=True)):
            if isinstance(node, TapeNode) and node_id >= 0:
                saved = self._saved_entries(node, node_id)
                if node_id in operators_read or not values.isdisjoint(saved):
                    self._note_read(number, node_id, saved)
                    if isinstance(node.plan, Plan) and node.plan.prop.train_only_outputs:
                        self._train_only.append(number)
        # By mode: plans of the last pass, and the kept one, if it is again that of these. Tuples, replaced
        # whole, so that threads agree on what they see.
        self._last: dict[bool, tuple[list[Any], _KeptPass | None]] = {}
        recorded.nodes.clear()  # what passes ran stays with the program, which is cached; the tape must not
        if names := [node_id.title for node_id in passes if node_id.distribution]:
            self._check_kept(names)

    def _check_kept(self, passes: Sequence[str]) -> None:
        """Refuse what reads a recorded value that no gradient reads, and so has no array any more."""
        program = self._program
        first = program.graph.first_entries[len(program.forward)]
        kept = {*self._saved, *self._aux, *self._heads}
        for node_id in program.backward:
            node = program.graph.nodes[node_id]
            numbers = node.of_read(program.graph.input_ids[node_id])
            for entry, number in zip(graphs.values_read(node), numbers, strict=True):
                if number < first and number not in kept:
                    raise GraphError(
                        f"backward: {node.name!r} reads {entry.name!r}, of which the tape "
                        f"keeps no value; {', '.join(passes)} may only read what gradients already read"
                    )

    def _saved_entries(self, node: TapeNode, node_id: int) -> list[int]:
        assert isinstance(node.plan, Plan)
        graph = self._program.graph
        saved = node.plan.saved_tensors(node.wanted).entries
        first, inputs = graph.first_entries[node_id], graph.input_ids[node_id]
        return [inputs[index] if kind == "in_data" else first + index for kind, index in saved]

    def _note_read(self, number: int, node_id: int, saved: Sequence[int]) -> None:
        graph = self._program.graph
        self._read.append(number)
        self._node_ids.append(node_id)
        self._saved += saved
        applied = graph.nodes[node_id]
        assert isinstance(applied, OpNode)
        self._aux += applied.of_states(graph.input_ids[node_id])

    def run(
        self, tape: Tape, head_grads: Sequence[Array], results: Sequence[Array], train_mode: bool
    ) -> None:
        """Compute the gradients into `results`, from what the nodes of `tape` keep.

        Raises:
            GradientError: An array that is read was overwritten since it was recorded, or never written.
        """
        program = self._program
        trained: list[Any] = [tape[number] for number in self._train_only] if train_mode else []
        for node in trained:
            node.plan.check_trained(node.wanted)
        nodes: list[Any] = [tape[number] for number in self._read]
        saved = _kept(nodes)
        given = [*results, *saved, *[x for node in nodes for x in node.aux], *head_grads]
        plans = [node.plan for node in nodes]
        last, kept = self._last.get(train_mode, ((), None))
        if kept is not None and plans == last:
            kept.run(given)
            return
        entries = [*program.gradients.values(), *self._saved, *self._aux, *self._heads]
        pairs, named = zip(entries, given, strict=True), [*zip(self._node_ids, plans, strict=True)]
        arrays: dict[int, Array] = {entry: array for entry, array in pairs if entry is not None}
        operators = {**self._primitives, **{node_id: plan.operator for node_id, plan in named}}
        state_vars = {i: plan.run.state_var for i, plan in named if plan.run.state_var is not None}
        binding = Binding(program, arrays, operators, state_vars=state_vars)
        made = segments(binding, self._codes)
        for segment in made:
            segment.push(train_mode, len(made) == 1, program.plan.planned_bytes if segment is made[-1] else 0)
        code, is_small = self._codes[0], program.plan.planned_bytes <= _KEPT_BYTES and not state_vars
        if len(made) == 1 and code.is_light and is_small and {*code.reads} <= arrays.keys():
            again = plans == last and not program.aliased_entries
            self._last[train_mode] = plans, _KeptPass(binding, code, entries, train_mode) if again else None


@final
class _KeptPass:
    """Light pass of one segment, whose calls and memory are kept for further runs.

    Args:
        binding: What is run, with memory of its own.
        entries: Of the arrays of a run, in order.
    """

    def __init__(
        self, binding: Binding, code: SegmentCode, entries: Sequence[int | None], is_train: bool
    ) -> None:
        self._code, self._is_train = code, is_train
        self._calls = KeptCalls(code, binding.operators, is_train, binding.data_of(code.entries))
        self._slots = [(i, entries.index(entry)) for i, entry in enumerate(code.entries) if entry in entries]
        read = (code.reads, code.states[is_train])
        self._reads, self._states = [[*map(entries.index, some)] for some in read]
        self._writes = [(entries.index(entry), adds) for entry, adds in code.writes if entry in entries]
        # invariant: runs write this, so no two of them use the calls at once.
        self._chunks = [imperative.new_chunk(code.ctx, 1), *binding.chunks.values()]
        self._own = [chunk.var for chunk in self._chunks]
        self._own += [var for some in code.resources.values() for var in mutable_vars_of(some)]

    def run(self, arrays: Sequence[Array]) -> None:
        """Compute with these; which variables are read and written follows as for any segment."""
        code, names = self._code, [*map(_var_of, arrays)]
        read = [names[i] for i in self._reads]
        updated, written = dict.fromkeys([names[i] for i in self._states]), dict.fromkeys(self._own)
        before = frozenset(read)
        for i, adds in self._writes:
            is_kept = arrays[i]._is_part or names[i] in before or (adds and names[i] not in written)
            (updated if is_kept else written)[names[i]] = None
        const, mutable, old = imperative.distinct(read, updated, written)
        args, given = (code.ctx, const, mutable, code.label, True, old), tuple([x._data for x in arrays])
        imperative.execute(self._compute, given, *args, code.is_parallel, uses_blas=code.uses_blas)

    def _compute(self, *data: Any) -> None:
        self._calls.exchange(self._slots, data)
        run_kept(self._code, self._calls, self._is_train)


def _asks_the_tape(node: OpNode) -> bool:
    """Return whether a node computes by an operator of the tape's, or is the graph's own."""
    return node.companion is not None or isinstance(node.op, graphs.GraphPrimitive)


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


_programs: Final[dict[Any, BackwardProgram]] = registry.follow({})


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
    found = _programs.get(key)
    if found is not None and found.plans and found.plans != (plans := _plans_of(tape)):
        values = _values_of(plans)
        if values != _values_of(found.plans):  # other calls with the same values count as the same
            key = (key, *values)
            found = _programs.get(key)
    if found is None:
        if len(_programs) >= _MAX_CACHED:
            _programs.clear()
        found = _programs[key] = BackwardProgram(tape, heads, wanted, requests)
    return found


def _plans_of(tape: Tape) -> list[Any]:
    return [node.plan for node in tape if node.__class__ is TapeNode]


def _values_of(plans: Sequence[Any]) -> list[str]:
    """Run-time values that calls were made with."""
    return [repr(getattr(plan.declared, name)) for plan in plans for name in plan.declared.params.run_time]


def _structure(
    tape: Tape, heads: Sequence[TapeEntry], wanted: Sequence[TapeEntry], requests: Sequence[str]
) -> Any:
    """Key that two tapes which share a program have in common."""
    number = {node: i for i, node in enumerate(tape)}
    parts: list[Any] = []
    for node in tape:
        if node.__class__ is TapeNode:
            parts.append(node.plan.structure)  # type: ignore[attr-defined]  # it is an operator's
            for entry in node.inputs:
                if entry is None:
                    parts.append(None)
                else:
                    parts += (number[entry[0]], entry[1])
        else:
            parts.append(node.grad._spec)  # type: ignore[union-attr]  # it is marked
    ends = [(number[node], index) for node, index in (*heads, *wanted)]
    return (len(heads), *ends, *requests, *parts)
