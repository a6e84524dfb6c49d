"""The gradient of an operator as an operator, whose gradient is found by running it.

What an author declares as a gradient is a function of plain arrays. Called with traced arrays (see
`operad_sdk.differentiate`), the same function tells how its result changes with what it read: that is the
gradient of the gradient, and nobody had to write it. It is a function of plain arrays again, so the same
holds for its gradient, and so on.

First-order gradients are computed by the operator's own kernel, traced or not: to record them changes no
bit of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.errors import GradientError
from operad.operator import (
    Array,
    BackwardEntry,
    InferredShapes,
    InferredTypes,
    OpContext,
    Operator,
    OpReq,
    PartialShape,
    Shape,
    assign,
)
from operad.operator import OperatorProperty as CoreProperty
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.names import IN_DATA, OUT_DATA, OUT_GRAD
from operad_sdk.differentiate import Namespace, Traced, constant, vector_jacobian

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

ArrayFunction = Callable[[Any, Sequence[Any]], Sequence[Any]]
"""Of an `OpContext` and arrays; gives arrays."""

_COST: Final = 4.0  # times that of reading and writing everything once


class TensorSpec(NamedTuple):
    """What is known of an array before it is there."""

    name: str
    shape: Shape
    dtype: DType


@final
class TracingContext(NamedTuple):
    """What a function gets as `op_ctx` inside a trace."""

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
class GradientOperator(CoreProperty):
    """Computes gradients from what a backward pass reads.

    Args:
        of: Name of the operator whose gradients they are.
        reads: Its arguments.
        computes: Its outputs.
        function: Computes them, of traced arrays too.
        kernel: Makes an operator that computes them, for a context; None: the function will do.
    """

    name = "_backward"

    def __init__(
        self,
        of: str,
        reads: Sequence[TensorSpec],
        computes: Sequence[TensorSpec],
        function: ArrayFunction,
        kernel: Callable[[Context], Operator] | None = None,
    ) -> None:
        super().__init__()
        self.name = f"_backward_{of}"  # type: ignore[misc]  # each instance has its own
        self._reads = reads
        self._computes = computes
        self._function = function
        self._kernel = kernel

    def list_arguments(self) -> list[str]:
        """What the gradients read."""
        return [spec.name for spec in self._reads]

    def list_outputs(self) -> list[str]:
        """The gradients."""
        return [spec.name for spec in self._computes]

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """All shapes are known from the beginning."""
        return [spec.shape for spec in self._reads], [spec.shape for spec in self._computes], []

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """All types are known from the beginning."""
        return [spec.dtype for spec in self._reads], [spec.dtype for spec in self._computes], []

    def differentiable_inputs(self) -> list[bool]:
        """Whatever is floating."""
        return [spec.dtype.kind == "f" for spec in self._reads]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """All but the values of the gradients, which are computed once more."""
        return [*out_grad, *in_data]

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """A few passes over all arrays."""
        return _COST * float(sum(map(prod, in_shapes)) + sum(map(prod, out_shapes)))

    def create_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        """The kernel for first-order gradients, the function for others."""
        kernel = None if self._kernel is None else self._kernel(ctx)
        return _Gradient(self._function, self.differentiable_inputs(), kernel)

    def gradient_operator(
        self, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType], wanted: Sequence[bool]
    ) -> CoreProperty:
        """The gradients of these gradients."""
        count, inner = len(self._computes), self._function
        heads = [spec._replace(name=f"{spec.name}_grad") for spec in self._computes]
        computes = [
            spec._replace(name=f"{spec.name}_grad")
            for spec, flag in zip(self._reads, wanted, strict=True)
            if flag
        ]

        def function(op_ctx: Any, arrays: Sequence[Any]) -> Sequence[Any]:
            return vector_jacobian(lambda xs: inner(op_ctx, xs), arrays[count:], arrays[:count], wanted)

        made = GradientOperator(self.name, [*heads, *self._reads], computes, function)
        made.try_out(ctx)
        return made

    def try_out(self, ctx: Context) -> None:
        """Find out whether the function can be differentiated, on ones.

        Raises:
            TraceError: It cannot.
        """
        ones = [ctx.xp.broadcast_to(ctx.xp.ones((), spec.dtype), spec.shape) for spec in self._reads]
        heads = [ctx.xp.broadcast_to(ctx.xp.ones((), spec.dtype), spec.shape) for spec in self._computes]
        op_ctx = OpContext(ctx, True)
        with np.errstate(all="ignore"):
            vector_jacobian(
                lambda arrays: self._function(op_ctx, arrays), ones, heads, self.differentiable_inputs()
            )


@final
class _Gradient(Operator):
    def __init__(self, function: ArrayFunction, is_traced: Sequence[bool], kernel: Operator | None) -> None:
        self._function = function
        self._is_traced = is_traced
        self._kernel = kernel

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """The gradients."""
        if self._kernel is not None:
            self._kernel.forward(op_ctx, in_data, req, out_data, aux_states)
            return
        with np.errstate(all="ignore"):
            found = self._function(op_ctx, in_data)
        for target, request, value in zip(out_data, req, found, strict=True):
            assign(target, request, value)

    def backward(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
        aux_states: Sequence[Array],
    ) -> None:
        """The gradients of the gradients, by tracing the function."""
        wanted = [
            request is not OpReq.NULL and flag for request, flag in zip(req, self._is_traced, strict=True)
        ]
        with np.errstate(all="ignore"):
            found = iter(
                vector_jacobian(lambda xs: self._function(op_ctx, xs), in_data, out_grad, wanted)
            )
        for target, request, flag in zip(in_grad, req, wanted, strict=True):
            assign(target, request, next(found) if flag else 0)


@final
class _Kernel(Operator):
    """The gradients of an operator's kernel, as outputs."""

    def __init__(self, operator: Operator, places: Places) -> None:
        self._operator = operator
        self._places = places

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """What `backward` of the kernel computes."""
        groups = self._places.filled(in_data)
        requests = [OpReq.NULL] * self._places.counts[IN_DATA]
        targets: list[Array | None] = [None] * len(requests)
        for place, request, target in zip(self._places.targets, req, out_data, strict=True):
            requests[place], targets[place] = request, target
        self._operator.backward(
            op_ctx, groups[OUT_GRAD], groups[IN_DATA], groups[OUT_DATA], requests, targets, aux_states
        )


@final
class Places(NamedTuple):
    """Where the arrays that gradients read, and the gradients, stand in a call of `backward`.

    Attributes:
        entries: One for each array that is read.
        targets: Places of the arguments whose gradients are wanted.
        counts: How many arrays each group of the call has.
    """

    entries: Sequence[BackwardEntry]
    targets: Sequence[int]
    counts: Mapping[str, int]

    def filled(self, arrays: Sequence[Any]) -> dict[str, list[Any]]:
        """The groups of the call, None where nothing is read."""
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
    if any(in_types[place].kind != "f" for place, flag in enumerate(wanted) if flag):
        raise GradientError("gradients of integers are rounded, and have no slope")
    tensors: dict[str, list[TensorSpec]] = {
        IN_DATA: [TensorSpec(*all_) for all_ in zip(arguments, in_shapes, in_types, strict=True)],
        OUT_DATA: [TensorSpec(*all_) for all_ in zip(outputs, out_shapes, out_types, strict=True)],  # type: ignore[arg-type]
    }
    tensors[OUT_GRAD] = [
        spec._replace(name=f"{spec.name}_grad") for spec in tensors[OUT_DATA][: prop.num_visible_outputs]
    ]
    targets = [place for place, flag in enumerate(wanted) if flag]
    places = Places(entries, targets, {kind: len(group) for kind, group in tensors.items()})
    computes = [tensors[IN_DATA][place] for place in targets]
    function = _traceable(prop, in_shapes, in_types, places, computes)
    made = GradientOperator(
        prop.name,
        [tensors[kind][index] for kind, index in entries],
        [spec._replace(name=f"{spec.name}_grad") for spec in computes],
        function,
        lambda on: _Kernel(prop.create_operator(on, in_shapes, in_types), places),
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
    for kind, index in entries:
        if kind == OUT_DATA and index >= prop.num_visible_outputs and out_types[index].kind == "f":
            raise GradientError(
                f"it reads the hidden output {prop.list_outputs()[index]}, which depends on the arguments in a "
                "way that no gradient shows"
            )


def _traceable(
    prop: OperatorProperty,
    in_shapes: Sequence[Shape],
    in_types: Sequence[DType],
    places: Places,
    computes: Sequence[TensorSpec],
) -> ArrayFunction:
    """The declared gradients as a function of arrays that are traced."""
    binding = prop.binding
    requests = [OpReq.NULL] * len(in_shapes)
    for place in places.targets:
        requests[place] = OpReq.WRITE

    def function(op_ctx: Any, arrays: Sequence[Any]) -> Sequence[Any]:
        level = max(array.level for array in arrays if isinstance(array, Traced))
        ctx = op_ctx.ctx
        namespace = Namespace(ctx.xp, level)
        operator = BoundOperator(
            prop, ctx, in_shapes, in_types, forward=binding.forward, gradients=binding.gradients
        )
        operator.xp = namespace  # type: ignore[assignment]
        groups = places.filled(arrays)
        targets: list[Any] = [None] * len(in_shapes)
        for place, spec in zip(places.targets, computes, strict=True):
            targets[place] = constant(level, ctx.xp.zeros(spec.shape, spec.dtype))
        context: Any = TracingContext(ctx, op_ctx.is_train, namespace)
        operator.backward(
            context, groups[OUT_GRAD], groups[IN_DATA], groups[OUT_DATA], requests, targets, ()
        )
        return [targets[place] for place in places.targets]

    return function
