"""The gradient of an operator, as an operator.

`Gradient` says of the backward part of an operator what a property says of any operator: what it reads and
computes, how shapes follow, what may share memory, what it costs. It is made of the contract alone
(`backward_dependency`, `backward_inplace_option`, `backward_resource`, `Operator.backward`), so it serves
every operator, in whatever style that is written. Passes, plans and programs need not know that a node is
a gradient.

A gradient often reads neither the arguments nor the outputs of its operator, yet what it computes is like
those arguments. So arguments that it does not read are inputs all the same, of which only shape and type
count.

The gradient of a gradient is that of what `gradient_operator` gives, which is asked when shapes are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, final

from operad.device import Context
from operad.dtypes import DType
from operad.errors import GradientError, OperadError
from operad.first_use import cached_property
from operad.op.context import OpContext
from operad.op.cost import Cost, as_cost, gradient_cost
from operad.op.entry import BackwardEntry, inplace_pairs
from operad.op.operator import BackwardArrays, ForwardArrays, Operator, Requests, TemplateOperator
from operad.op.property import InferredShapes, InferredTypes, OperatorProperty
from operad.op.req import OpReq
from operad.op.shapes import PartialShape, Shape
from operad.op.template import ArgumentSlot, CallTemplate, moved
from operad.resource import ResourceRequest

T = TypeVar("T")


@final
class Gradient(OperatorProperty):
    """Computes the gradients of some arguments of an operator.

    Its arguments are what `backward_dependency` names and then those arguments of the operator that are not
    among that; its outputs the gradients; its states the operator's.

    Args:
        of: The operator that is differentiated.
        wanted: One flag for each argument of it: whether its gradient is an output.
    """

    name = "_backward"

    def __init__(self, of: OperatorProperty, wanted: Sequence[bool]) -> None:
        super().__init__()
        self.name = f"_backward_{of.name}"  # type: ignore[misc]  # each instance has its own
        self.is_stateful = of.is_stateful  # type: ignore[misc]
        self.states_move = "always" if of.states_move == "always" else "never"
        self.of = of
        self.wanted = tuple(wanted)

    @cached_property
    def reads(self) -> tuple[BackwardEntry, ...]:
        """Roles of the arguments whose values are read."""
        return tuple(self.of.backward_dependency(self.wanted))

    @property
    def reads_heads(self) -> bool:
        """Return whether it reads gradients of the outputs, as all but those of losses do."""
        return any(kind == "out_grad" for kind, _ in self.reads)

    @cached_property
    def entries(self) -> tuple[BackwardEntry, ...]:
        """Roles of all arguments."""
        return (
            *self.reads,
            *[entry for entry in _roles("in_data", len(self.wanted)) if entry not in self.reads],
        )

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """For each output, the argument of the operator that it is the gradient of."""
        return tuple([position for position, flag in enumerate(self.wanted) if flag])

    @cached_property
    def _positions(self) -> list[int]:
        """Positions of the operator's arguments among the arguments."""
        return list(map(self.entries.index, _roles("in_data", len(self.wanted))))

    def of_operator(self, values: Sequence[T]) -> list[T]:
        """Facts of the operator's own arguments, from those of the arguments."""
        return [values[position] for position in self._positions] if values else []

    def gradients_of(self, values: Sequence[T]) -> list[T]:
        """Facts of the gradients, which are like what they are the gradients of."""
        return [values[self._positions[target]] for target in self.targets]

    @property
    def num_unread(self) -> int:
        """The arguments that only say what the gradients are like."""
        return len(self.entries) - len(self.reads)

    @cached_property
    def _names(self) -> tuple[list[str], list[str]]:
        arguments, outputs = self.of.list_arguments(), self.of.list_outputs()
        names = {
            "in_data": arguments,
            "out_data": [f"out_{name}" if name in arguments else name for name in outputs],
            "out_grad": [f"{name}_grad" for name in outputs],
        }
        grads = [f"{arguments[position]}_grad" for position in self.targets]
        return [names[kind][index] for kind, index in self.entries], grads

    def list_arguments(self) -> list[str]:
        """The names that they have in the operator; of the gradient of `output`, `output_grad`."""
        return self._names[0]

    def list_outputs(self) -> list[str]:
        """`data_grad` for the gradient of `data`."""
        return self._names[1]

    def list_auxiliary_states(self) -> list[str]:
        """The operator's."""
        return self.of.list_auxiliary_states()

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """A gradient is like its argument, and a head gradient like its output."""
        return self._inferred(in_shapes, *self.of.infer_shape(self.of_operator(in_shapes)))

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """A gradient is like its argument, and a head gradient like its output."""
        return self._inferred(in_types, *self.of.infer_type(self.of_operator(in_types)))

    def _inferred(
        self,
        given: Sequence[T | None],
        args: Sequence[T | None],
        outs: Sequence[T | None],
        aux: list[T | None],
    ) -> tuple[list[T | None], list[T | None], list[T | None]]:
        found = {"in_data": args, "out_data": outs, "out_grad": outs}
        ins = [
            own if (value := found[kind][index]) is None else value
            for own, (kind, index) in zip(given, self.entries, strict=True)
        ]
        return ins, [args[position] for position in self.targets], aux

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Facts of its arguments that the operator learns from its outputs, and from the gradients."""
        args: list[PartialShape] = self.of_operator(in_shapes)
        for position, shape in zip(self.targets, out_shapes, strict=True):
            args[position] = shape if args[position] is None else args[position]
        outs: list[PartialShape] = [None] * len(self.of.list_outputs())
        for shape, (kind, index) in zip(in_shapes, self.entries, strict=True):
            if kind != "in_data" and shape is not None:
                outs[index] = shape
        args = self.of.infer_shape_backward(args, outs)
        return [
            args[index] if kind == "in_data" else shape
            for shape, (kind, index) in zip(in_shapes, self.entries, strict=True)
        ]

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The operator's `backward_inplace_option`."""
        return [(in_data[read], out_data[written]) for read, written in self._inplace]

    @cached_property
    def _inplace(self) -> list[tuple[int, int]]:
        return [
            (self.reads.index(read), self.targets.index(target))
            for read, target in inplace_pairs(self.of)
            if read in self.reads and target in self.targets
        ]

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """The operator's `backward_resource`."""
        return self.of.backward_resource(self.of_operator(in_shapes))

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> Cost:
        """Two loops of the operator, and its product once for each factor whose gradient is wanted.

        Two products, where the operator does not say what it multiplies.
        """
        args: list[Shape] = self.of_operator(in_shapes)
        given = dict(zip(self.entries, in_shapes, strict=True))
        numbers = range(len(self.of.list_outputs()))
        entries = [(BackwardEntry("out_grad", i), BackwardEntry("out_data", i)) for i in numbers]
        outs: Any = [given.get(grad, given.get(data)) for grad, data in entries]
        if None in outs:
            outs = self.of.infer_shape(args)[1]
        wanted = [*map(self.of.list_arguments().__getitem__, self.targets)]
        forward = as_cost(self.of.cost(args, outs))
        return self.of.backward_cost or gradient_cost(forward, self.of.multiplies, wanted)

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """One that computes as the operator's kernel for these arguments does."""
        shapes, types = self.of_operator(in_shapes), self.of_operator(in_types)
        if isinstance(self.of, Gradient):
            return self.sharing(self.of._differentiated(ctx, shapes, types))
        return self.sharing(self.of.create_operator(ctx, shapes, types))

    def sharing(self, operator: Operator) -> Operator:
        """Operator that computes the gradients by `backward` of another, and so from what that keeps."""
        return _Backward(self, operator)

    def differentiable_inputs(self) -> list[bool]:
        """Head gradients, outputs, and the arguments that the operator calls so."""
        flags = self.of.differentiable_inputs()
        found = [kind != "in_data" or flags[index] for kind, index in self.reads]
        return found + [False] * self.num_unread

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """All that is read; the gradients themselves are computed once more where they are."""
        return [*out_grad, *in_data[: len(self.reads)]]

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> OperatorProperty:
        """The gradients of these gradients."""
        count = len(self.reads)
        whole = self._with_gradient(ctx, in_shapes, in_types)
        return whole.gradient_operator(ctx, in_shapes[:count], in_types[:count], wanted[:count])

    def _with_gradient(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> OperatorProperty:
        """Operator that computes the same of the arguments that are read, and has gradients."""
        try:
            if self.is_stateful:
                raise GradientError("it has states, which change between calls")
            shapes, types = self.of_operator(in_shapes), self.of_operator(in_types)
            return self.of.gradient_operator(ctx, shapes, types, self.wanted)
        except OperadError as error:
            raise GradientError(
                f"the gradient of {self.of.name} cannot be differentiated: {error}; where only its values "
                "are wanted, bind with grad_req='null'; its author can find out how to change that in "
                "docs/authoring/gradients-of-gradients.md"
            ) from error

    def _differentiated(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        count = len(self.reads)
        prop = self._with_gradient(ctx, in_shapes, in_types)
        return _Differentiated(prop, prop.create_operator(ctx, in_shapes[:count], in_types[:count]), count)


@final
class _Backward(TemplateOperator):
    """Another operator's `backward` as `forward`."""

    def __init__(self, prop: Gradient, operator: Operator) -> None:
        self._prop = prop
        self._operator = operator

    def forward_templates(
        self, op_ctx: OpContext, req: Requests, num_inputs: int, num_states: int
    ) -> list[CallTemplate]:
        """The calls of `backward`, with what they name in other positions."""
        prop = self._prop
        num_args, num_outputs = len(prop.wanted), len(prop.of.list_outputs())
        firsts = {"in_data": 0, "out_data": num_args, "out_grad": num_args + num_outputs}
        first_grad = num_args + 2 * num_outputs
        slots: list[ArgumentSlot | None] = [None] * (first_grad + num_args)
        for position, (kind, index) in enumerate(prop.reads):
            slots[firsts[kind] + index] = ArgumentSlot(position)
        requests = [OpReq.NULL] * num_args
        for position, (target, request) in enumerate(zip(prop.targets, req, strict=True), num_inputs):
            slots[first_grad + target], requests[target] = ArgumentSlot(position), request
        slots += map(ArgumentSlot, range(num_inputs + len(req), num_inputs + len(req) + num_states))
        found = self._operator.backward_templates(op_ctx, tuple(requests), num_outputs, num_states)
        return moved(found, slots)


@final
class _Differentiated(Operator):
    """Computes gradients by an operator that has gradients itself.

    Args:
        prop: What the operator is of.
        count: How many of the arguments it takes.
    """

    def __init__(self, prop: OperatorProperty, operator: Operator, count: int) -> None:
        self._prop = prop
        self._operator = operator
        self._count = count

    def forward(self, op_ctx: OpContext, arrays: ForwardArrays) -> None:
        """The gradients."""
        self._operator.forward(op_ctx, arrays._replace(in_data=arrays.in_data[: self._count]))

    def backward(self, op_ctx: OpContext, arrays: BackwardArrays) -> None:
        """The gradients of the gradients; these are computed once more where they are read."""
        count = self._count
        heads, ins, outs, req, grads, aux = arrays
        ins, requests = ins[:count], req[:count]
        reads = self._prop.backward_dependency([request is not OpReq.NULL for request in requests])
        if any(kind == "out_data" for kind, _ in reads):
            outs = [op_ctx.xp.empty_like(head) for head in heads]
            self._operator.forward(op_ctx, ForwardArrays(ins, [OpReq.WRITE] * len(outs), outs, aux))
        self._operator.backward(op_ctx, BackwardArrays(heads, ins, outs, requests, grads[:count], aux))


def _roles(kind: str, count: int) -> list[BackwardEntry]:
    return [BackwardEntry(kind, index) for index in range(count)]
