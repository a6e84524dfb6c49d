"""A whole program as one operator: it is planned, recorded and differentiated as any other.

So the tape, gradients, freeing, overwritten inputs and requests follow from the contracts of operators. Its last
output, hidden, is the arena of `layout`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Final, final

from operad.device import Context
from operad.dtypes import DType, as_dtype
from operad.errors import GradientError
from operad.first_use import cached_property
from operad.graph import Entry, Graph, Variable, gradient
from operad.imperative import ArraySpec, spec_of
from operad.op import (
    BackwardEntry, CallTemplate, Cost, InferredShapes, InferredTypes, OpContext, Operator, OperatorProperty,
    OpReq, PartialShape, Requests, Shape, TemplateOperator, ArgumentSlot,
)
from operad.resource import ResourceRequest
from operad.compiled.layout import Layout, Runner

_numbers: Final = count(1)
_BYTES: Final = as_dtype("uint8")


@final
class CompiledProperty(OperatorProperty):
    """A graph for one signature of arrays.

    Args:
        title: What errors call it.
        graph: Its variables have distinct names.
        specs: Specification of each variable of a call, by name, in the order of a call but for states.
        wanted: Names of the arguments whose gradients may be asked for; none where nothing is recorded.
        keeps_arguments: Whether the tape keeps all arguments, so that gradients can be differentiated.
    """

    def __init__(
        self, title: str, graph: Graph, ctx: Context, specs: Mapping[str, ArraySpec], wanted: Sequence[str],
        keeps_arguments: bool = False,
    ) -> None:
        super().__init__()
        self.name = f"{title}#{next(_numbers)}"  # type: ignore[misc]  # each instance has its own
        states = graph.list_auxiliary_states()
        self.args = [name for name in specs if name not in states]
        self.states = [name for name in specs if name in states]
        self.wanted = [name in wanted for name in self.args]
        self._graph, self._ctx, self._specs = graph, ctx, specs
        self._keeps_arguments = keeps_arguments
        there = {node.name for node in (*graph.arguments, *graph.auxiliary_states)}
        known = {name: spec for name, spec in specs.items() if name in there}
        self.layout = Layout(
            graph, ctx, {name: "write" for name in known if name in wanted},
            {name: spec.shape for name, spec in known.items()}, {name: spec.dtype for name, spec in known.items()},
        )
        program = self.layout.program
        self.is_stateful = any(node.op.is_stateful for node in program.graph.op_nodes)  # type: ignore[misc]
        self.out_specs = [program.spec(entry) for entry in program.outputs]
        if self.layout.arena_bytes:
            self.out_specs.append(spec_of((self.layout.arena_bytes,), _BYTES, ctx))

    def list_arguments(self) -> list[str]:
        """Names of the graph's arguments, in the order of a call."""
        return list(self.args)

    def list_auxiliary_states(self) -> list[str]:
        """Names of the graph's states."""
        return list(self.states)

    def list_outputs(self) -> list[str]:
        """The results, and the arena where there is one."""
        return [f"output{i}" for i in range(self.num_visible_outputs)] + ["arena"] * bool(self.layout.arena_bytes)

    @property
    def num_visible_outputs(self) -> int:
        """All but the arena."""
        return len(self.layout.program.outputs)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """Those that it was compiled for."""
        ins, aux = ([self._specs[name].shape for name in names] for names in (self.args, self.states))
        return [*ins], [spec.shape for spec in self.out_specs], [*aux]

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """Those that it was compiled for."""
        ins, aux = ([self._specs[name].dtype for name in names] for names in (self.args, self.states))
        return [*ins], [spec.dtype for spec in self.out_specs], [*aux]

    def differentiable_inputs(self) -> list[bool]:
        """The arguments of which gradients were wanted when it was compiled."""
        return list(self.wanted)

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """What the nodes of backward read, and the arena."""
        layout = self.layout
        variables, outputs = layout.program.variables, layout.program.outputs
        return [
            *[one for one, head in zip(out_grad, layout.heads, strict=True) if head is not None],
            *[one for one, name in zip(in_data, self.args, strict=True)
              if self._keeps_arguments or variables.get(name) in layout.reads],
            *[one for one, entry in zip(out_data, outputs, strict=False) if entry in layout.reads],
            *out_data[len(outputs):],
        ]

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Those of its nodes, and scratch memory."""
        return list(self.layout.kinds["forward"])

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Those of its nodes, and scratch memory."""
        return list(self.layout.kinds["backward"])

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """All its nodes together."""
        return self.layout.cost("forward")

    def create_operator(self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> Operator:
        """One that runs the program."""
        return _CompiledOperator(self)

    @cached_property
    def operators(self) -> Mapping[int, Operator]:
        """Operators of the nodes, where none of them keeps anything."""
        return self.layout.operators()

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> OperatorProperty:
        """The gradients as a program of heads and arguments, which computes forward's values once more."""
        if self.states or any(kind is not ResourceRequest.TEMP_SPACE for kind in self.layout.kinds["forward"]):
            raise GradientError("it has states or draws random numbers, which a second computation would change")
        if not self._keeps_arguments:
            raise GradientError("compile it with create_graph=True, so that its arguments are kept")
        variables = {node.name: node for node in self._graph.arguments}
        prefix = "_" * (1 + max([len(name) - len(name.lstrip("_")) for name in variables], default=0))
        heads = [Variable(f"{prefix}head{i}") for i in range(self.num_visible_outputs)]
        sources = [Entry(variables[name]) for name, flag in zip(self.args, wanted, strict=True) if flag]
        found = gradient(self._graph.outputs, [*map(Entry, heads)], sources, self._graph.nodes)
        names = {
            "out_grad": [head.name for head in heads], "in_data": self.args,
            "out_data": [f"{prefix}{name}" for name in self.list_outputs()],
        }
        facts = {"out_grad": self.out_specs, "in_data": [self._specs[n] for n in self.args], "out_data": self.out_specs}
        reads = self.backward_dependency(wanted)
        specs = {names[kind][index]: facts[kind][index] for kind, index in reads}
        graph = Graph(found)
        there = set(graph.list_arguments())
        flags = [
            names[kind][index] for kind, index in reads
            if kind == "out_grad" or (kind == "in_data" and self.wanted[index])
        ]
        return CompiledProperty(
            f"{self.name}_grad", graph, ctx, specs, [name for name in flags if name in there], keeps_arguments=True
        )


@final
class _CompiledOperator(TemplateOperator):
    def __init__(self, prop: CompiledProperty) -> None:
        self._prop = prop
        self._operators = prop.layout.operators() if prop.is_stateful else prop.operators

    def forward_templates(
        self, op_ctx: OpContext, req: Requests, num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """One call that runs forward."""
        slots = self._slots(num_inputs, num_inputs + len(req))
        copies = self._note_outputs(slots, num_inputs)
        arena = num_inputs + len(req) - 1 if self._prop.layout.arena_bytes else None
        return self._template("forward", op_ctx, slots, copies, (), (), arena, num_inputs + len(req) + num_states)

    def backward_templates(
        self, op_ctx: OpContext, req: Requests, num_outputs: int, num_states: int
    ) -> list[CallTemplate]:
        """One call that runs backward; what is added, or not asked for, is computed apart."""
        prop, num_args = self._prop, len(req)
        layout, program = prop.layout, prop.layout.program
        first_head, first_grad = num_args + num_outputs, num_args + 2 * num_outputs
        end = first_grad + num_args + num_states
        slots = self._slots(num_args, first_grad + num_args)
        self._note_outputs(slots, num_args)
        slots |= {head: first_head + i for i, head in enumerate(layout.heads) if head is not None}
        sums: list[tuple[int, int]] = []
        temporary: list[int] = []
        for i, (name, request) in enumerate(zip(prop.args, req, strict=True)):
            entry = program.gradients.get(name)
            if entry is None:
                continue
            slots[entry] = first_grad + i
            if request is OpReq.NULL or request is OpReq.ADD:
                slots[entry] = end + len(temporary)
                temporary.append(entry)
                if request is OpReq.ADD:
                    sums.append((slots[entry], first_grad + i))
        arena = num_args + num_outputs - 1 if layout.arena_bytes else None
        return self._template("backward", op_ctx, slots, (), sums, temporary, arena, end)

    def _slots(self, num_args: int, first_state: int) -> dict[int, int]:
        """Positions of arguments and states, by entry."""
        prop = self._prop
        variables = prop.layout.program.variables
        named = [*zip(prop.args, range(num_args)), *zip(prop.states, range(first_state, 1 << 62))]
        return {variables[name]: position for name, position in named if name in variables}

    def _note_outputs(self, slots: dict[int, int], first: int) -> list[tuple[int, int]]:
        """Enter positions of the outputs; of an entry that has one, what is to be copied."""
        copies = []
        for position, entry in enumerate(self._prop.layout.program.outputs, first):
            if slots.setdefault(entry, position) != position:
                copies.append((slots[entry], position))
        return copies

    def _template(self, name, op_ctx, slots, copies, sums, temporary, arena, end) -> list[CallTemplate]:
        runner = Runner(
            self._prop.layout, name, op_ctx, self._operators, slots, copies, sums, temporary, arena
        )
        return [CallTemplate(runner, tuple(map(ArgumentSlot, range(end))))]
