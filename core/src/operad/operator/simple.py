"""Operators that are one function: the SimpleOp contract.

A unary or binary operator whose meaning is "apply this function" is declared by one `SimpleOp`
record. `simple_property` turns it into an `OperatorProperty`, the only kind the rest of the system
knows. What MXNet calls the T0, T1 and T2 gradient forms (a gradient that reads out_grad only, also
the output value, also the inputs) is here the list of arrays a gradient names.

Source: SimpleOpRegEntry, include/mxnet/operator_util.h. Differs: one gradient may serve all
arguments or each argument may have its own, so that only buffers of requested gradients are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final, final

import numpy as np

from operad.context import Context
from operad.dtypes import DType
from operad.errors import ShapeError
from operad.operator.context import OpContext
from operad.operator.kernel import Kernel
from operad.operator.params import Param
from operad.operator.property import (
    Array,
    BackwardEntry,
    InferredShapes,
    InferredTypes,
    Operator,
    OperatorProperty,
    PartialShape,
    Shape,
    is_known,
    unify_shapes,
)
from operad.operator.req import OpReq, assign
from operad.resource import ResourceRequest

OGRAD: Final = "ograd"
"""Name by which a gradient function asks for the gradient of the output."""
OUT: Final = "out_value"
"""Name by which a gradient function asks for the value of the output."""

_WITHOUT_POSITIONAL_OUT: Final = (np.maximum, np.minimum)
"""Ufuncs for which NumPy deprecates an output given by position."""


@final
class Gradient:
    """The gradient of a simple operator with respect to one argument.

    Attributes:
        function: Called with the arrays in `reads`, then the parameters, then `out=` if
            `takes_out`; returns the gradient, or writes it into `out`.
        reads: Names among `ograd`, `out_value` and the operator's arguments: exactly the backward
            dependency.
        takes_out: Whether `function` writes into an array given as `out`.
        inplace: Which of `reads` the result may share its memory with.
    """

    __slots__ = ("function", "inplace", "reads", "takes_out")

    def __init__(
        self,
        function: Callable[..., Any],
        reads: Sequence[str],
        *,
        takes_out: bool = False,
        inplace: Sequence[str] = (),
    ) -> None:
        self.function = function
        self.reads = tuple(reads)
        self.takes_out = takes_out
        self.inplace = tuple(inplace)

    @property
    def form(self) -> str:
        """MXNet's label: T0, T1 or T2."""
        if set(self.reads) <= {OGRAD}:
            return "T0"
        return "T1" if set(self.reads) <= {OGRAD, OUT} else "T2"


@final
class SimpleOp:
    """A unary or binary operator given by a function of its arrays.

    Attributes:
        name: MXNet 1.x's name.
        arguments: Names of the arguments, one or two.
        function: Called with the argument arrays, then the parameters in declared order, then
            `out=` if `takes_out`; returns the value, or writes it into `out`.
        takes_out: Whether `function` writes into an array given as `out`.
        gradients: One an argument; None: no gradient flows to it (zeros where one is asked for).
        params: Declared parameters. One named `scalar` is cast to the arguments' type.
        inplace: Arguments that the output may share its memory with.
        shape_function: Output shape from the argument shapes and the parameters; None: all alike.
        type_function: Output type from the argument type; None: the same.
        takes_context: Whether the functions take the `OpContext` as their first argument, as
            operators with resources do.
        forward_resource: Resources the function needs; `backward_resource` likewise.
        cost: Rough number of scalar operations an element.
        doc: What the operator computes, for documentation.
    """

    __slots__ = (
        "arguments", "backward_resource", "cost", "doc", "forward_resource", "function", "gradients",
        "inplace", "name", "params", "shape_function", "takes_context", "takes_out", "type_function",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        function: Callable[..., Any],
        *,
        takes_out: bool = False,
        gradients: Sequence[Gradient | None] | None = None,
        params: Mapping[str, Param] | None = None,
        inplace: Sequence[str] = (),
        shape_function: Callable[..., Shape] | None = None,
        type_function: Callable[[DType], DType] | None = None,
        takes_context: bool = False,
        forward_resource: Sequence[ResourceRequest] = (),
        backward_resource: Sequence[ResourceRequest] = (),
        cost: float = 1.0,
        doc: str = "",
    ) -> None:
        self.name = name
        self.arguments = tuple(arguments)
        self.function = function
        self.takes_out = takes_out
        self.gradients = tuple(gradients) if gradients is not None else (None,) * len(self.arguments)
        self.params = dict(params or {})
        self.inplace = tuple(inplace)
        self.shape_function = shape_function
        self.type_function = type_function
        self.takes_context = takes_context
        self.forward_resource = tuple(forward_resource)
        self.backward_resource = tuple(backward_resource)
        self.cost = cost
        self.doc = doc


class SimpleOpProperty(OperatorProperty):
    """The property of a `SimpleOp`; `simple_property` makes one subclass for each."""

    simple: ClassVar[SimpleOp]

    def list_arguments(self) -> list[str]:
        """Names of the input tensors."""
        return list(self.simple.arguments)

    def param_values(self) -> tuple[Any, ...]:
        """The parameters in declared order."""
        return tuple(getattr(self, name) for name in type(self).params)

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """All arguments and the output have one shape, unless there is a shape function."""
        function = self.simple.shape_function
        if function is not None:
            known = all(is_known(shape) for shape in in_shapes)
            out = function(*in_shapes, *self.param_values()) if known else None
            return list(in_shapes), [out], []
        shape = self._common_shape(in_shapes)
        return [shape] * len(in_shapes), [shape], []

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """Where all shapes are alike, the output's is the arguments'."""
        if self.simple.shape_function is not None:
            return list(in_shapes)
        shape = unify_shapes(self._common_shape(in_shapes), out_shapes[0], f"{self.name}: output")
        return [shape] * len(in_shapes)

    def _common_shape(self, in_shapes: Sequence[PartialShape]) -> PartialShape:
        shape: PartialShape = None
        for name, given in zip(self.simple.arguments, in_shapes, strict=True):
            try:
                shape = unify_shapes(given, shape, f"{self.name}: {name}")
            except ShapeError as error:
                raise ShapeError(f"{error} (the shape of {self.simple.arguments[0]})") from None
        return shape

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """One element type throughout, unless there is a type function."""
        ins, outs, aux = super().infer_type(in_types)
        if self.simple.type_function is not None and ins[0] is not None:
            outs = [self.simple.type_function(ins[0])]
        return ins, outs, aux

    def differentiable_inputs(self) -> list[bool]:
        """The arguments that have a gradient."""
        return [gradient is not None for gradient in self.simple.gradients]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """What all the gradients together read."""
        reads = {name for gradient in self.simple.gradients if gradient for name in gradient.reads}
        return self._named(reads, out_grad, in_data, out_data)

    def backward_dependency(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """What the requested gradients read."""
        pairs = zip(self.simple.gradients, wanted, strict=True)
        reads = {name for gradient, want in pairs if gradient and want for name in gradient.reads}
        data = [BackwardEntry("in_data", i) for i in range(len(self.simple.arguments))]
        return self._named(reads, [BackwardEntry("out_grad", 0)], data, [BackwardEntry("out_data", 0)])

    def _named(
        self, names: set[str], out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        every = [(OGRAD, out_grad[0]), *zip(self.simple.arguments, in_data, strict=True), (OUT, out_data[0])]
        return [entry for name, entry in every if name in names]

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The arguments that the output may overwrite."""
        named = zip(self.simple.arguments, in_data, strict=True)
        return [(entry, out_data[0]) for name, entry in named if name in self.simple.inplace]

    def backward_inplace_option(
        self,
        out_grad: Sequence[Any],
        in_data: Sequence[Any],
        out_data: Sequence[Any],
        in_grad: Sequence[Any],
    ) -> list[tuple[Any, Any]]:
        """The arrays that a gradient may overwrite."""
        arrays = {
            OGRAD: out_grad[0],
            OUT: out_data[0],
            **dict(zip(self.simple.arguments, in_data, strict=True)),
        }
        pairs = []
        read_later: set[str] = set()
        # invariant: gradients run in argument order, so only a later one can find its input overwritten
        for gradient, target in reversed(list(zip(self.simple.gradients, in_grad, strict=True))):
            if gradient is not None:
                pairs += [(arrays[name], target) for name in gradient.inplace if name not in read_later]
                read_later.update(gradient.reads)
        return pairs

    def forward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Resources the function needs."""
        return list(self.simple.forward_resource)

    def backward_resource(self, in_shapes: Sequence[Shape]) -> list[ResourceRequest]:
        """Resources the gradients need."""
        return list(self.simple.backward_resource)

    def cost(self, in_shapes: Sequence[Shape], out_shapes: Sequence[Shape]) -> float:
        """Arrays' sizes, weighted with the operator's cost an element."""
        return super().cost(in_shapes, out_shapes) * self.simple.cost

    def call_params(self, dtype: DType) -> tuple[Any, ...]:
        """The parameters as the functions get them: `scalar` has the arguments' type."""
        return tuple(
            dtype.type(value).item() if name == "scalar" and value is not None else value
            for name, value in zip(type(self).params, self.param_values(), strict=True)
        )


class SimpleOperator(Operator):
    """Runs the functions of a `SimpleOp`."""

    def __init__(
        self, prop: SimpleOpProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> None:
        self._simple = prop.simple
        self._params = prop.call_params(in_types[0])
        if self._simple.takes_out and not self._simple.takes_context:
            self.direct = self._direct()

    def _direct(self) -> Callable[..., object]:
        function, params = self._simple.function, self._params
        if isinstance(function, np.ufunc) and not params and function not in _WITHOUT_POSITIONAL_OUT:
            return function
        if len(self._simple.arguments) == 1:
            return lambda data, out: function(data, *params, out=out)
        return lambda lhs, rhs, out: function(lhs, rhs, *params, out=out)

    def forward(
        self,
        op_ctx: OpContext,
        in_data: Sequence[Array],
        req: Sequence[OpReq],
        out_data: Sequence[Array],
        aux_states: Sequence[Array],
    ) -> None:
        """Apply the function."""
        simple = self._simple
        self._run(op_ctx, simple.function, simple.takes_out, in_data, req[0], out_data[0])

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
        """Apply each requested gradient."""
        for call in self._gradient_calls(op_ctx, out_grad, in_data, out_data, req, in_grad):
            call()

    def prepare_backward(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
        aux_states: Sequence[Array],
    ) -> Callable[[], object]:
        """The one gradient call where there is only one."""
        calls = self._gradient_calls(op_ctx, out_grad, in_data, out_data, req, in_grad)
        if len(calls) == 1:
            return calls[0]
        return partial(_call_all, calls)

    def _gradient_calls(
        self,
        op_ctx: OpContext,
        out_grad: Sequence[Array | None],
        in_data: Sequence[Array | None],
        out_data: Sequence[Array | None],
        req: Sequence[OpReq],
        in_grad: Sequence[Array | None],
    ) -> list[Callable[[], object]]:
        simple = self._simple
        arrays = {OGRAD: out_grad[0], OUT: out_data[0], **dict(zip(simple.arguments, in_data, strict=True))}
        requested = [
            (gradient, r, target)
            for gradient, r, target in zip(simple.gradients, req, in_grad, strict=True)
            if r is not OpReq.NULL
        ]
        calls: list[Callable[[], object]] = []
        for gradient, r, target in requested:
            if gradient is None:
                calls.append(partial(assign, target, r, 0))
                continue
            reads = [arrays[name] for name in gradient.reads]
            calls.append(self._prepared(op_ctx, gradient.function, gradient.takes_out, reads, r, target))
        return calls

    def _prepared(
        self,
        op_ctx: OpContext,
        function: Callable[..., Any],
        takes_out: bool,
        reads: list[Array],
        r: OpReq,
        out: Array,
    ) -> Callable[[], object]:
        if takes_out and r is not OpReq.ADD and not self._simple.takes_context:
            return partial(function, *reads, *self._params, out=out)
        return partial(self._run, op_ctx, function, takes_out, reads, r, out)

    def _run(
        self,
        op_ctx: OpContext,
        function: Callable[..., Any],
        takes_out: bool,
        reads: Sequence[Array],
        req: OpReq,
        out: Array,
    ) -> None:
        if req is OpReq.NULL:
            return
        context = (op_ctx,) if self._simple.takes_context else ()
        if not takes_out:
            assign(out, req, function(*context, *reads, *self._params))
        elif req is OpReq.ADD:
            value = op_ctx.xp.empty_like(out)
            function(*context, *reads, *self._params, out=value)
            out += value
        else:
            function(*context, *reads, *self._params, out=out)


def _call_all(calls: Sequence[Callable[[], object]]) -> None:
    for call in calls:
        call()


def simple_property(simple: SimpleOp) -> type[SimpleOpProperty]:
    """The property class of `simple`, with one kernel that runs its functions on any device."""
    kernel = Kernel(name=f"{simple.name}.array", factory=SimpleOperator)
    return type(
        simple.name,
        (SimpleOpProperty,),
        {
            "__doc__": simple.doc,
            "name": simple.name,
            "simple": simple,
            "kernels": [kernel],
            "has_gradient": any(gradient is not None for gradient in simple.gradients),
            **simple.params,
        },
    )
