"""A whole program as one operator: it is planned, recorded and differentiated as any other.

So the tape, gradients, freeing, overwritten inputs and requests follow from the contracts of operators. Its
last output, hidden, is the arena of `layout`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any, Final, final

from operad import op
from operad.compiled.layout import Layout, Runner
from operad.device import Context
from operad.dtypes import DType, as_dtype
from operad.errors import GradientError
from operad.graph import Entry, Graph, Variable, gradient, head_names
from operad.imperative import ArraySpec, spec_of
from operad.resource import ResourceRequest

_numbers: Final = count(1)


@final
class CompiledProperty(op.OperatorProperty):
    """A graph for one signature of arrays.

    Args:
        title: What errors call it.
        graph: Its variables have distinct names.
        specs: Specification of each array of a call, by name; not all of them are variables of the graph.
        requests: For each argument whose gradient may be asked for, how that is written, usually.
        keeps_arguments: Whether a tape keeps all arguments, so that gradients can be differentiated.
        lasting: Variables that are the same array in every call. What kernels prepare of them alone is an
            argument, behind all others.
    """

    def __init__(
        self,
        title: str,
        graph: Graph,
        ctx: Context,
        specs: Mapping[str, ArraySpec],
        requests: Mapping[str, str],
        keeps_arguments: bool = False,
        lasting: Collection[str] = (),
    ) -> None:
        super().__init__()
        self.name = f"{title}#{next(_numbers)}"  # type: ignore[misc]  # each instance has its own
        self.graph, self.requests, self.keeps_arguments = graph, requests, keeps_arguments
        self.layout = Layout(graph, ctx, specs, requests, lasting)
        self.backward_cost = self.layout.cost("backward")
        program, entries = self.layout.program, self.layout.entries
        prepared = [program.graph.nodes[node_id].name for node_id in self.layout.preparations]
        self._specs = {**specs, **{name: program.spec(entries[name]) for name in prepared}}
        self.states = [name for name in graph.list_auxiliary_states() if name in specs]
        self.args = [name for name in self._specs if name not in self.states]
        self.is_stateful = any(node.op.is_stateful for node in program.graph.op_nodes)  # type: ignore[misc]
        moves = {node.op.states_move for node in program.graph.op_nodes if node.op.list_auxiliary_states()}
        self.states_move = "always" if "always" in moves else "training"
        arena = spec_of((self.layout.arena_bytes,), as_dtype("uint8"), ctx)
        self.out_specs = [*[program.spec(entry) for entry in program.outputs], arena]

    def list_arguments(self) -> list[str]:
        """Names of the arguments, in the order of a call."""
        return list(self.args)

    def list_auxiliary_states(self) -> list[str]:
        """Names of the states."""
        return list(self.states)

    def list_outputs(self) -> list[str]:
        """The results, and the arena."""
        return [*[f"output{i}" for i in range(self.num_visible_outputs)], "arena"]

    @property
    def num_visible_outputs(self) -> int:
        """All but the arena."""
        return len(self.out_specs) - 1

    def infer_shape(self, in_shapes: Sequence[op.PartialShape]) -> op.InferredShapes:
        """Those that it was compiled for."""
        args, states = ([self._specs[name].shape for name in names] for names in (self.args, self.states))
        return [*args], [spec.shape for spec in self.out_specs], [*states]

    def infer_type(self, in_types: Sequence[DType | None]) -> op.InferredTypes:
        """Those that it was compiled for."""
        args, states = ([self._specs[name].dtype for name in names] for names in (self.args, self.states))
        return [*args], [spec.dtype for spec in self.out_specs], [*states]

    def differentiable_inputs(self) -> list[bool]:
        """The arguments of which gradients may be asked for."""
        return [name in self.layout.program.gradients for name in self.args]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """Arrays that the nodes of backward read, and the arena."""
        layout, program = self.layout, self.layout.program
        is_read = [self.keeps_arguments or layout.entries.get(name) in layout.reads for name in self.args]
        is_read += [*[entry in layout.reads for entry in program.outputs], True]
        heads = [one for one, head in zip(out_grad, layout.heads, strict=True) if head is not None]
        return heads + [one for one, flag in zip((*in_data, *out_data), is_read, strict=True) if flag]

    def forward_resource(self, in_shapes: Sequence[op.Shape]) -> list[ResourceRequest]:
        """Those of its nodes, and scratch memory."""
        return list(self.layout.kinds["forward"])

    def backward_resource(self, in_shapes: Sequence[op.Shape]) -> list[ResourceRequest]:
        """Those of its nodes, and scratch memory."""
        return list(self.layout.kinds["backward"])

    def cost(self, in_shapes: Sequence[op.Shape], out_shapes: Sequence[op.Shape]) -> op.Cost:
        """All its nodes together."""
        return self.layout.cost("forward")

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[op.Shape], in_types: Sequence[DType]
    ) -> op.Operator:
        """One that runs the program."""
        return _CompiledOperator(self)

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[op.Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> op.OperatorProperty:
        """The gradients as a program of heads and arguments, which computes forward's values once more."""
        if not self.keeps_arguments:
            raise GradientError("compile it with create_graph=True, so that its arguments are kept")
        if self.states or {*self.layout.kinds["forward"]} - {ResourceRequest.TEMP_SPACE}:
            raise GradientError("it has states or draws random numbers, which a second run would change")
        variables = {node.name: node for node in self.graph.arguments}
        heads = [*map(Variable, head_names(self.graph))][: self.num_visible_outputs]
        sources = [Entry(variables[name]) for name, flag in zip(self.args, wanted, strict=True) if flag]
        graph = Graph(
            gradient(self.graph.outputs, [*map(Entry, heads)], sources, self.graph.nodes, adds_in_place=False)
        )
        named = {
            "out_grad": [(head.name, spec) for head, spec in zip(heads, self.out_specs, strict=False)],
            "in_data": [(name, self._specs[name]) for name in self.args],
            "out_data": [(f"{heads[0].name}_{i}", spec) for i, spec in enumerate(self.out_specs)],
        }
        specs = dict(named[kind][index] for kind, index in self.backward_dependency(wanted))
        requests = dict.fromkeys([*self.requests, *[head.name for head in heads]], "write")
        return CompiledProperty(f"{self.name}_grad", graph, ctx, specs, requests, keeps_arguments=True)


@final
class _CompiledOperator(op.TemplateOperator):
    def __init__(self, prop: CompiledProperty) -> None:
        self._prop = prop
        program = prop.layout.program
        self._operators = program.operators([*program.forward, *program.backward])

    def forward_templates(
        self, op_ctx: op.OpContext, req: op.Requests, num_inputs: int, num_states: int
    ) -> list[op.CallTemplate]:
        """Calls that run forward; a result that is another one, or an argument, is copied."""
        end, outputs = num_inputs + len(req), self._prop.layout.program.outputs
        slots = self._slots(num_inputs, end)
        arrays = [*map(op.ArgumentSlot, range(end + num_states))]
        run = self._run("forward", op_ctx, slots, num_inputs + len(outputs), arrays)
        pairs = [(arrays[i], arrays[slots[entry]]) for i, entry in enumerate(outputs, num_inputs)]
        return [run, *[op.CallTemplate(op_ctx.xp.copyto, pair) for pair in pairs if pair[0] != pair[1]]]

    def backward_templates(
        self, op_ctx: op.OpContext, req: op.Requests, num_outputs: int, num_states: int
    ) -> list[op.CallTemplate]:
        """Calls that run backward; what is not asked for as it was compiled goes into an array apart."""
        prop, layout, xp = self._prop, self._prop.layout, op_ctx.xp
        first_head, first_grad = len(req) + num_outputs, len(req) + 2 * num_outputs
        first_state = first_grad + len(req)
        slots, before, behind = self._slots(len(req), first_state), [], []
        slots.update({head: first_head + i for i, head in enumerate(layout.heads) if head is not None})
        arrays: list[Any] = [*map(op.ArgumentSlot, range(first_state + num_states))]
        for position, (name, request) in enumerate(zip(prop.args, req, strict=True), first_grad):
            entry = layout.program.gradients.get(name, -1)
            adds, slots[entry] = prop.requests.get(name) == "add", position
            if entry >= 0 and (request is op.OpReq.NULL or (request is op.OpReq.ADD) > adds):
                slots[entry], spec = len(arrays), layout.program.spec(entry)
                arrays.append(xp.empty(spec.shape, spec.dtype))
            if request is op.OpReq.ADD and not adds:
                target = arrays[position]
                behind.append(op.CallTemplate(xp.add, (target, arrays[-1], target)))
            elif request is not op.OpReq.ADD and adds:  # -0.0 leaves the bits of what is added to it
                before.append(op.CallTemplate(xp.copyto, (arrays[slots[entry]], -0.0)))
        return [*before, self._run("backward", op_ctx, slots, first_head - 1, arrays), *behind]

    def _slots(self, num_args: int, first_state: int) -> dict[int, int]:
        """Positions of arguments, outputs and states, by entry."""
        prop, entries = self._prop, self._prop.layout.entries
        named = [*enumerate(prop.args), *enumerate(prop.states, first_state)]
        slots = {entries[name]: i for i, name in named if name in entries}
        for i, entry in enumerate(prop.layout.program.outputs, num_args):
            slots.setdefault(entry, i)
        return slots

    def _run(
        self, name: str, op_ctx: op.OpContext, slots: dict[int, int], arena: int, arrays: Sequence[Any]
    ) -> op.CallTemplate:
        runner = Runner(self._prop.layout, name, op_ctx, self._operators, slots, arena)
        return op.CallTemplate(runner, tuple(arrays))
