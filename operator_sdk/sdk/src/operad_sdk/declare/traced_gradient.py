"""Construction of the operator that computes an operator's gradients, from their declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, final

from operad.context import Context
from operad.dtypes import DType
from operad.errors import GradientError
from operad.operator import BackwardArrays, BackwardEntry, Gradient, OpReq, ResourceRequest, Shape
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.gradient_operator import GradientOperator, TensorSpec
from operad_sdk.declare.left_outputs import left_outputs, with_slopes
from operad_sdk.declare.linear_slopes import Slope, linear_slopes
from operad_sdk.declare.names import AUX, IN_DATA, OUT_DATA, OUT_GRAD
from operad_sdk.declare.trace_resources import TraceResources
from operad_sdk.differentiate import Namespace, Traced, constant

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


@final
class TracingContext(NamedTuple):
    """Class of `op_ctx` inside a trace."""

    ctx: Context
    is_train: bool
    xp: Namespace
    requested: Any = ()
    num_threads: int = 1

    def parallel(self, function: Callable[[int, int], object], count: int, width: int) -> None:
        """Call `function(part, 0)` for every part, one after another."""
        for part in range(count):
            function(part, 0)


@final
class Positions(NamedTuple):
    """Positions, in a call of `backward`, of the arrays that gradients read and of the gradients.

    Attributes:
        entries: One for each array that is read.
        targets: Positions of the arguments whose gradients are wanted.
        counts: How many arrays each group of the call has.
    """

    entries: Sequence[BackwardEntry]
    targets: Sequence[int]
    counts: Mapping[str, int]

    def filled(self, arrays: Sequence[Any]) -> dict[str, list[Any]]:
        """Groups of the call, with None for arrays that are not read."""
        groups: dict[str, list[Any]] = {kind: [None] * count for kind, count in self.counts.items()}
        for entry, array in zip(self.entries, arrays, strict=True):
            groups[entry.kind][entry.index] = array
        return groups


def gradient_operator(
    prop: OperatorProperty,
    ctx: Context,
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    wanted: Sequence[bool],
) -> CoreProperty:
    """The operator that computes gradients of `prop`; see `OperatorProperty.gradient_operator` of the core.

    Raises:
        GradientError: The gradient is not the derivative of the operator, as far as its declaration says.
        TraceError: A function that computes it cannot be traced.
    """
    _, out_shapes, _ = prop.infer_shape(in_shapes)
    _, out_types, _ = prop.infer_type(in_types)
    arguments, outputs = prop.list_arguments(), prop.list_outputs()
    entries = prop.backward_dependency(wanted)
    _check_declared(prop, entries)
    if any(in_types[position].kind != "f" for position, flag in enumerate(wanted) if flag):
        raise GradientError("gradients of integers are rounded, and have no slope")
    left = left_outputs(prop, entries, out_types)
    tensors: dict[str, list[TensorSpec]] = {
        IN_DATA: [
            TensorSpec(name, shape, dtype, not flag)
            for name, shape, dtype, flag in zip(
                arguments, in_shapes, in_types, prop.differentiable_inputs(), strict=True
            )
        ],
        OUT_DATA: [
            TensorSpec(name, shape, dtype, index in left or name in prop.constant_outputs)  # type: ignore[arg-type]
            for index, (name, shape, dtype) in enumerate(zip(outputs, out_shapes, out_types, strict=True))
        ],
    }
    tensors[OUT_GRAD] = [
        spec._replace(name=f"{spec.name}_grad", is_constant=False)
        for spec in tensors[OUT_DATA][: prop.num_visible_outputs]
    ]
    targets = [position for position, flag in enumerate(wanted) if flag]
    positions = Positions(entries, targets, {kind: len(group) for kind, group in tensors.items()})
    computes = [tensors[IN_DATA][position] for position in targets]
    reads = [tensors[kind][index] for kind, index in entries]
    ins = list(zip(in_shapes, in_types, strict=True))
    linear = linear_slopes(prop, ctx, ins) if prop.linear_in else {}
    # Indices stay plain arrays.
    is_cell = [
        spec.dtype.kind == "f" and not (kind == IN_DATA and spec.is_constant)
        for spec, (kind, _) in zip(reads, entries, strict=True)
    ]
    function = _Traceable(prop, ins, linear, positions, is_cell, left)
    made = GradientOperator(
        prop.name,
        reads,
        [spec._replace(name=f"{spec.name}_grad") for spec in computes],
        function,
        lambda on: Gradient(prop, wanted).sharing(prop.create_operator(on, in_shapes, in_types)),
        prop.backward_resource(in_shapes),
        len(prop.list_auxiliary_states()),
    )
    made.try_out(ctx)
    return made


def _check_declared(prop: OperatorProperty, entries: Sequence[BackwardEntry]) -> None:
    if not any(entry.kind == OUT_GRAD for entry in entries):
        raise GradientError("it does not read the gradient of the output, so it is not differentiable")
    if any(entry.kind == OUT_DATA for entry in entries) and not prop.gradient_is_derivative:
        raise GradientError("it reads an output, and is declared not to be the derivative of the outputs")
    if any(slot.group == AUX for bound in prop.binding.traced for slot in bound.slots):
        raise GradientError("it reads auxiliary states, which change between calls")


@final
@dataclass(frozen=True, slots=True)
class _Traceable:
    """The declared gradients as a function of arrays that are traced.

    Attributes:
        ins: Shapes and types of the operator's arguments.
        linear: Gradients that are not traced, as `linear_slopes` has them.
        is_cell: For each array that is read, whether it is an array of the trace, a constant too.
        left: Positions of the outputs whose slopes are those of forward.
    """

    prop: OperatorProperty
    ins: Sequence[tuple[Shape, DType]]
    linear: Mapping[int, tuple[Slope, Sequence[int]]]
    positions: Positions
    is_cell: Sequence[bool]
    left: Sequence[int]

    def __call__(self, op_ctx: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        prop, positions = self.prop, self.positions
        level = max(array.level for array in arrays if isinstance(array, Traced))
        ctx = op_ctx.ctx
        namespace = Namespace(ctx.xp, level)
        shapes, types = zip(*self.ins, strict=True)
        operator = BoundOperator(
            prop, ctx, shapes, types, forward=prop.binding.forward, gradients=prop.binding.traced
        )
        operator.xp = namespace  # type: ignore[assignment]
        context: Any = TracingContext(ctx, op_ctx.is_train, namespace, TraceResources(namespace))
        # Plain arrays of a device would take a traced one for a value of theirs.
        read = [
            constant(level, array) if flag and not isinstance(array, Traced) else array
            for array, flag in zip(arrays, self.is_cell, strict=True)
        ]
        groups = positions.filled(read)
        if self.left:
            left = {index: groups[OUT_DATA][index] for index in self.left}
            drawn: dict[int, Any] = {}
            if ResourceRequest.RANDOM in prop.forward_resource(shapes):
                hidden = [*enumerate(groups[OUT_DATA])][prop.num_visible_outputs :]
                drawn = {i: array for i, array in hidden if i not in left and array is not None}
            again = context._replace(requested=TraceResources(namespace, is_drawn=bool(drawn)))
            found = with_slopes(prop, operator, again, level, groups[IN_DATA], self.ins, left, drawn)
            groups[OUT_DATA] = [found.get(index, value) for index, value in enumerate(groups[OUT_DATA])]
        targets: list[Any] = [None] * len(shapes)
        requests = [OpReq.NULL] * len(shapes)
        for position in positions.targets:
            if position in self.linear:
                slope, factors = self.linear[position]
                given = [groups[IN_DATA][factor] for factor in factors]
                targets[position] = slope(groups[OUT_GRAD][0], *given, op_ctx=op_ctx)
            else:
                targets[position] = constant(level, ctx.xp.zeros(*self.ins[position]))
                requests[position] = OpReq.WRITE
        states = [None] * len(prop.list_auxiliary_states())  # which no gradient reads, as was checked
        operator.backward(context, BackwardArrays(**groups, req=requests, in_grad=targets, aux_states=states))
        return [targets[position] for position in positions.targets]
