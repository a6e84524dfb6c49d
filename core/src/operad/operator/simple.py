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
from typing import Any, ClassVar, Final, final

from operad.dtypes import DType
from operad.errors import ParamError, ShapeError
from operad.operator.params import Param
from operad.operator.property import (
    BackwardEntry,
    InferredShapes,
    InferredTypes,
    OperatorProperty,
    PartialShape,
    Shape,
    is_known,
    unify_shapes,
)
from operad.resource import ResourceRequest

OGRAD: Final = "ograd"
"""Name by which a gradient function asks for the gradient of the output."""
OUT: Final = "out_value"
"""Name by which a gradient function asks for the value of the output."""


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
        """The parameters as the functions get them: `scalar` has the arguments' type.

        Raises:
            ParamError: The type cannot hold the scalar.
        """
        return tuple(
            self._typed(value, dtype) if name == "scalar" and value is not None else value
            for name, value in zip(type(self).params, self.param_values(), strict=True)
        )

    def _typed(self, value: Any, dtype: DType) -> Any:
        try:
            return dtype.type(value).item()
        except (OverflowError, ValueError) as error:
            raise ParamError(
                f"{self.name}: scalar is {value!r}, which {dtype} cannot hold; cast the array with astype"
            ) from error
