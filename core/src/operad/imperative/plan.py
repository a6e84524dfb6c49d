"""What is worked out once for a kind of imperative call, and kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, final

from operad import resource
from operad.config import settings
from operad.context import Context
from operad.engine import Var
from operad.errors import ShapeError
from operad.imperative.array import Array
from operad.imperative.run import distinct, execute
from operad.imperative.spec import Spec, spec_of
from operad.operator import BackwardEntry, OpContext, OperatorProperty, OpReq, Shape, is_known


class Recordable:
    """What the tape knows of a call.

    Attributes:
        name: What errors call it.
        prop: The operator's property.
        out_specs: Specifications of all outputs.
    """

    __slots__ = ("name", "out_specs", "prop")

    def __init__(self, name: str, prop: OperatorProperty, out_specs: Sequence[Spec]) -> None:
        self.name = name
        self.prop = prop
        self.out_specs = out_specs


@final
class Plan(Recordable):
    """One operator, with given parameters, on inputs of given specifications, in one mode.

    Attributes:
        operator: Computes it.
        in_specs: Specifications of arguments and auxiliary states.
        in_shapes: Shapes of the arguments.
        inline: Whether it is small enough for the calling thread.
        is_parallel: Whether it is worth several threads inside.
        num_args: How many of the inputs are arguments.
        num_visible: How many of the outputs a caller sees.
    """

    __slots__ = (
        "_backward_calls", "_backward_reads", "_direct", "_in_types", "_inplace", "_is_simple", "_op_ctx",
        "_req", "_resource_vars", "backward_name", "ctx", "in_shapes", "in_specs", "inline", "is_parallel",
        "num_args", "num_visible", "operator",
    )  # fmt: skip

    def __init__(self, prop: OperatorProperty, specs: Sequence[Spec], ctx: Context, is_train: bool) -> None:
        num_args = len(prop.list_arguments())
        self._in_types, out_specs = _inferred(prop, specs, num_args, ctx)
        super().__init__(prop.name, prop, out_specs)
        self.backward_name = f"_backward_{prop.name}"
        self.ctx = ctx
        self.in_specs = tuple(specs)
        self.num_args = num_args
        self.num_visible = prop.num_visible_outputs
        self.in_shapes: list[Shape] = [spec.shape for spec in specs[: self.num_args]]
        self.operator = prop.create_operator(ctx, self.in_shapes, self._in_types)
        requested = resource.get().request_all(ctx, prop.forward_resource(self.in_shapes))
        self._resource_vars = resource.mutable_vars_of(requested)
        self._op_ctx = OpContext(ctx, is_train, requested)
        self._req = (OpReq.WRITE,) * len(self.out_specs)
        cost = prop.cost(self.in_shapes, [spec.shape for spec in self.out_specs])
        self.inline = not ctx.is_gpu and cost <= settings().inline_cost
        self.is_parallel = cost >= settings().parallel_cost
        self._direct = self.operator.direct if len(specs) == self.num_args else None
        args, outs = list(range(self.num_args)), list(range(len(self.out_specs)))
        self._inplace = frozenset(prop.forward_inplace_option(args, outs))
        self._is_simple = (
            self.inline
            and self._direct is not None
            and len(self.out_specs) == 1
            and self.num_args in (1, 2)
            and not requested
        )
        self._backward_reads: dict[tuple[bool, ...], list[BackwardEntry] | None] = {}
        self._backward_calls: dict[Any, BackwardCall] = {}

    def rebound(self, prop: OperatorProperty) -> Plan:
        """The same plan for `prop`, which differs in run-time parameters alone."""
        made = copy(self)
        made.prop = prop
        made.operator = self.operator.rebound(prop) or prop.create_operator(
            self.ctx, self.in_shapes, self._in_types
        )
        made._direct = made.operator.direct if self._direct is not None else None
        made._backward_calls = {}
        return made

    def run_new(self, inputs: Sequence[Array], cls: type[Array]) -> list[Array]:
        """Compute into new arrays of the class `cls`; returns all outputs."""
        direct = self._direct
        if direct is None or not self._is_simple:
            outputs = [cls._new(spec) for spec in self.out_specs]
            self.run(inputs, outputs)
            return outputs
        # The same by the shortest way, for small operators whose cost is the call.
        output = cls._new(self.out_specs[0])
        first = inputs[0]
        const: tuple[Var, ...] = (first._chunk.var,)
        args: tuple[Any, ...] = (first._data, output._data)
        if self.num_args == 2:
            second = inputs[1]
            args = (first._data, second._data, output._data)
            if second._chunk is not first._chunk:
                const = (first._chunk.var, second._chunk.var)
        execute(direct, args, self.ctx, const, (output._chunk.var,), self.name, inline=True)
        return [output]

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array], into_given: bool = False) -> None:
        """Compute into `outputs`, which share no memory with an input unless the operator says so.

        Args:
            inputs: The arguments and then the auxiliary states.
            outputs: One array an output.
            into_given: Whether `outputs` are the caller's, and so perhaps inputs too, or parts of arrays.
        """
        num_args = self.num_args
        mutable: Sequence[Var] = [out._chunk.var for out in outputs]
        const: Sequence[Var]
        updated: Sequence[Var] = ()
        if len(inputs) > num_args or self._resource_vars or into_given:
            updated = [x._chunk.var for x in inputs[num_args:]]
            if into_given:
                updated += [out._chunk.var for out in outputs if out._is_part]
            read = [x._chunk.var for x in inputs[:num_args]]
            const, mutable, updated = distinct(read, updated, [*mutable, *self._resource_vars])
        elif num_args == 1:
            const = (inputs[0]._chunk.var,)
        else:
            const = list({x._chunk.var: None for x in inputs})
        out_data = [out._data for out in outputs]
        if self._direct is not None:
            function: Callable[..., object] = self._direct
            args: tuple[Any, ...] = (*[x._data for x in inputs], *out_data)
        else:
            data = [x._data for x in inputs]
            function = self.operator.forward
            args = (self._op_ctx, data[:num_args], self._req, out_data, data[num_args:])
        execute(function, args, self.ctx, const, mutable, self.name, self.inline, updated, self.is_parallel)

    def may_overwrite(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> bool:
        """Whether every output that shares memory with an input does so in a way the operator declared."""
        return all(
            x._data is out._data and (i, j) in self._inplace
            for j, out in enumerate(outputs)
            for i, x in enumerate(inputs[: self.num_args])
            if x._chunk is out._chunk
        )

    def backward_reads(self, wanted: tuple[bool, ...]) -> list[BackwardEntry] | None:
        """What the gradients marked in `wanted` read; None if none of them exists."""
        try:
            return self._backward_reads[wanted]
        except KeyError:
            flows = [w and d for w, d in zip(wanted, self.prop.differentiable_inputs(), strict=True)]
            reads = self.prop.backward_dependency(flows) if any(flows) else None
            self._backward_reads[wanted] = reads
            return reads

    def saved_entries(self, wanted: tuple[bool, ...]) -> list[BackwardEntry]:
        """What of arguments and outputs a recorded call keeps for the gradients marked in `wanted`."""
        return [read for read in self.backward_reads(wanted) or () if read.kind != "out_grad"]

    def backward_call(
        self, reads: tuple[BackwardEntry, ...], req: tuple[OpReq, ...], is_train: bool
    ) -> BackwardCall:
        """The gradient computation that reads these arrays and meets these requests; cached."""
        key = (reads, req, is_train)
        found = self._backward_calls.get(key)
        if found is None:
            found = self._backward_calls[key] = BackwardCall(self, reads, req, is_train)
        return found


@final
class BackwardCall:
    """The gradients of one kind of call, for given requests."""

    __slots__ = ("_op_ctx", "_places", "_plan", "_req", "_resource_vars")

    def __init__(
        self, plan: Plan, reads: tuple[BackwardEntry, ...], req: tuple[OpReq, ...], is_train: bool
    ) -> None:
        requested = resource.get().request_all(plan.ctx, plan.prop.backward_resource(plan.in_shapes))
        self._plan = plan
        self._req = req
        self._op_ctx = OpContext(plan.ctx, is_train, requested)
        self._resource_vars = resource.mutable_vars_of(requested)
        count = len(plan.out_specs)
        first = {"out_grad": 0, "in_data": count, "out_data": count + plan.num_args}
        self._places = [first[kind] + index for kind, index in reads]

    def run(self, reads: Sequence[Array], in_grad: Sequence[Array | None], aux: Sequence[Array] = ()) -> None:
        """Compute gradients.

        Args:
            reads: The arrays read, in the order this call was made for.
            in_grad: One array an argument; None where the request is NULL.
            aux: The auxiliary states.
        """
        plan = self._plan
        outs, args = len(plan.out_specs), plan.num_args
        slots: list[Any] = [None] * (2 * outs + args)
        for place, array in zip(self._places, reads, strict=True):
            slots[place] = array._data
        updated = [x._chunk.var for x in aux]
        written = list(self._resource_vars)
        for grad, req in zip(in_grad, self._req, strict=True):
            if grad is not None:
                (updated if req is OpReq.ADD or grad._is_part else written).append(grad._chunk.var)
        const, mutable, updated = distinct([x._chunk.var for x in reads], updated, written)
        call_args = (
            self._op_ctx,
            slots[:outs],
            slots[outs : outs + args],
            slots[outs + args :],
            self._req,
            [None if grad is None else grad._data for grad in in_grad],
            [x._data for x in aux],
        )
        name = plan.backward_name
        execute(
            plan.operator.backward,
            call_args,
            plan.ctx,
            const,
            mutable,
            name,
            plan.inline,
            updated,
            plan.is_parallel,
        )


def _inferred(
    prop: OperatorProperty, specs: Sequence[Spec], num_args: int, ctx: Context
) -> tuple[list[Any], tuple[Spec, ...]]:
    _, out_shapes, aux_shapes = prop.infer_shape([spec.shape for spec in specs[:num_args]])
    in_types, out_types, _ = prop.infer_type([spec.dtype for spec in specs[:num_args]])
    for name, shape, dtype in zip(prop.list_outputs(), out_shapes, out_types, strict=True):
        if not is_known(shape) or dtype is None:
            raise ShapeError(
                f"{prop.name}: shape and type of {name} do not follow from the arguments, "
                f"got {shape} of {dtype}"
            )
    for name, shape, spec in zip(prop.list_auxiliary_states(), aux_shapes, specs[num_args:], strict=True):
        if shape is not None and shape != spec.shape:
            raise ShapeError(f"{prop.name}: {name} has shape {spec.shape}, expected {shape}")
    outs = tuple(
        spec_of(shape, dtype, ctx)  # type: ignore[arg-type]  # checked above
        for shape, dtype in zip(out_shapes, out_types, strict=True)
    )
    return in_types, outs
