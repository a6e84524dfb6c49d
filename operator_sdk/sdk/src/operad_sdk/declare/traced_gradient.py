"""Construction of the operator that computes an operator's gradients, from their declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, final

from operad.context import Context
from operad.dtypes import DType
from operad.errors import GradientError
from operad.operator import BackwardArrays, BackwardEntry, Gradient, OpReq, Shape
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.gradient_operator import ArrayFunction, GradientOperator, TensorSpec
from operad_sdk.declare.names import IN_DATA, OUT_DATA, OUT_GRAD
from operad_sdk.differentiate import Namespace, Traced, constant

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty


@final
class TracingContext(NamedTuple):
    """Class of `op_ctx` inside a trace."""

    ctx: Context
    is_train: bool
    xp: Namespace
    requested: tuple[Any, ...] = ()
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
    _check_declared(prop, entries, [dtype for dtype in out_types if dtype is not None])
    if any(in_types[position].kind != "f" for position, flag in enumerate(wanted) if flag):
        raise GradientError("gradients of integers are rounded, and have no slope")
    tensors: dict[str, list[TensorSpec]] = {
        IN_DATA: [
            TensorSpec(name, shape, dtype, not flag)
            for name, shape, dtype, flag in zip(
                arguments, in_shapes, in_types, prop.differentiable_inputs(), strict=True
            )
        ],
        OUT_DATA: [TensorSpec(*all_) for all_ in zip(outputs, out_shapes, out_types, strict=True)],  # type: ignore[arg-type]
    }
    tensors[OUT_GRAD] = [
        spec._replace(name=f"{spec.name}_grad") for spec in tensors[OUT_DATA][: prop.num_visible_outputs]
    ]
    targets = [position for position, flag in enumerate(wanted) if flag]
    positions = Positions(entries, targets, {kind: len(group) for kind, group in tensors.items()})
    computes = [tensors[IN_DATA][position] for position in targets]
    reads = [tensors[kind][index] for kind, index in entries]
    is_traced = [spec.dtype.kind == "f" and not spec.is_constant for spec in reads]
    function = _traceable(prop, in_shapes, in_types, positions, computes, is_traced)
    made = GradientOperator(
        prop.name,
        reads,
        [spec._replace(name=f"{spec.name}_grad") for spec in computes],
        function,
        lambda on: Gradient(prop, wanted).sharing(prop.create_operator(on, in_shapes, in_types)),
    )
    made.try_out(ctx)
    return made


def _check_declared(
    prop: OperatorProperty, entries: Sequence[BackwardEntry], out_types: Sequence[DType]
) -> None:
    if not any(entry.kind == OUT_GRAD for entry in entries):
        raise GradientError(
            "it does not read the gradient of the output, so it is no derivative that could have one"
        )
    reads = [index for kind, index in entries if kind == OUT_DATA]
    if reads and not prop.gradient_is_derivative:
        raise GradientError("it reads an output, and is declared not to be the derivative of the outputs")
    every = prop.backward_dependency(prop.differentiable_inputs())
    names = prop.list_outputs()
    for index in reads:
        if out_types[index].kind != "f" or names[index] in prop.constant_outputs:
            continue
        if index >= prop.num_visible_outputs:
            raise GradientError(
                f"it reads the hidden output {names[index]}, which may depend on the arguments in a way that "
                "no gradient shows; if its slope is 0, name it in constant_outputs"
            )
        if BackwardEntry(OUT_GRAD, index) not in every:
            raise GradientError(
                f"it reads the output {names[index]}, whose own gradient it ignores, so that how this "
                "depends on the arguments does not show; if its slope is 0, name it in constant_outputs"
            )


def _traceable(
    prop: OperatorProperty,
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    positions: Positions,
    computes: Sequence[TensorSpec],
    is_traced: Sequence[bool],
) -> ArrayFunction:
    """The declared gradients as a function of arrays that are traced."""
    binding = prop.binding
    requests = [OpReq.NULL] * len(in_shapes)
    for position in positions.targets:
        requests[position] = OpReq.WRITE

    def function(op_ctx: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        level = max(array.level for array in arrays if isinstance(array, Traced))
        ctx = op_ctx.ctx
        namespace = Namespace(ctx.xp, level)
        operator = BoundOperator(
            prop, ctx, in_shapes, in_types, forward=binding.forward, gradients=binding.traced
        )
        operator.xp = namespace  # type: ignore[assignment]
        # Plain arrays of a device would take a traced one for a value of theirs.
        read = [
            constant(level, array) if flag and not isinstance(array, Traced) else array
            for array, flag in zip(arrays, is_traced, strict=True)
        ]
        groups = positions.filled(read)
        targets: list[Any] = [None] * len(in_shapes)
        for position, spec in zip(positions.targets, computes, strict=True):
            targets[position] = constant(level, ctx.xp.zeros(spec.shape, spec.dtype))
        context: Any = TracingContext(ctx, op_ctx.is_train, namespace)
        operator.backward(context, BackwardArrays(**groups, req=requests, in_grad=targets))
        return [targets[position] for position in positions.targets]

    return function
