"""Operators that are a class: `@operator`.

A class says what it takes and returns by one line, `spec`, and computes in methods that name what
they want (see `operad_sdk.methods`)::

    @operator("FullyConnected")
    class FullyConnected(OperatorProperty):
        num_hidden = param(int, ge=1)
        no_bias = param(bool, False)
        spec = (
            "data:(N, D), weight:(num_hidden, D), bias:(num_hidden) if not no_bias"
            " -> output:(N, num_hidden)"
        )

        def forward(self, data, weight, bias, output):
            output.assign(data @ weight.T + (0 if bias is None else bias))

Everything of the contract that is not written follows from these; everything can be written out
instead, and then counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from types import MethodType
from typing import Any, ClassVar, TypeVar

from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    BackwardEntry,
    InferredShapes,
    InferredTypes,
    Kernel,
    Operator,
    Param,
    ParamSet,
    PartialShape,
    Shape,
)
from operad.operator import OperatorProperty as CoreProperty
from operad.operator.kernel import KernelPredicate
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.element_types import Accepts, check_accepted
from operad_sdk.errors import DeclarationError
from operad_sdk.kernels import kernel
from operad_sdk.method_operator import MethodOperator
from operad_sdk.methods import (
    IN_DATA,
    IS_TRAIN,
    OUT_DATA,
    OUT_GRAD,
    Layout,
    Method,
    bound_gradients,
    gradient_methods,
    read_method,
)
from operad_sdk.shapes import BoundSpec, Spec, bind, parse
from operad_sdk.signature import OP_CTX, Signature, check_names

C = TypeVar("C", bound=type)
F = TypeVar("F", bound=Callable[..., Any])


class OperatorProperty(CoreProperty):
    """The core's `OperatorProperty`, with the contract read off the class.

    Attributes:
        spec: A line of the shape language, or a method that returns one.
        device: Where `forward` and the gradients run: `"any"` for code that uses only functions
            which dispatch on their arrays, else `"cpu"` or `"gpu"`.
        accepts: Element types that the first argument may have: any, number, integer, floating.
        forward_inplace: Pairs (argument, output) by name that may share memory in `forward`.
        backward_inplace: Pairs (array read, gradient) that may share memory in `backward`;
            `@gradient(inplace=...)` says it for other gradients.
        contract: Declarations for the contract checks.
    """

    spec: Any = None
    device: ClassVar[str] = "any"
    accepts: ClassVar[Accepts] = "any"
    forward_inplace: ClassVar[Sequence[tuple[str, str]]] = ()
    backward_inplace: ClassVar[Sequence[tuple[str, str]]] = ()
    contract: ClassVar[Contract] = NO_DECLARATIONS
    operad_property: ClassVar[type[CoreProperty]]

    _gradient_functions: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        lists_kernels = "kernels" in vars(cls)
        super().__init_subclass__(**kwargs)
        cls.operad_property = cls
        inherited = [dict(getattr(base, "params", {})) for base in reversed(cls.__mro__[1:])]
        cls.params = ParamSet(
            {name: own for params in [*inherited, cls.params] for name, own in params.items()}
        )
        for base in cls.__mro__:
            if isinstance(vars(base).get("kernel"), Param):
                # MXNet's convolutions have a parameter `kernel`; on the class the name is the decorator's.
                delattr(base, "kernel")
        cls._gradient_functions = gradient_methods(cls)
        if hasattr(cls, "forward") and "has_gradient" not in vars(cls):
            cls.has_gradient = bool(cls._gradient_functions)
        if isinstance(cls.spec, str):
            parse(cls.spec)
        if hasattr(cls, "forward") and not lists_kernels:
            cls.kernels.append(Kernel(f"{cls.name}.forward", _own_operator, cls.device))

    @classmethod
    def kernel(
        cls,
        device: str = "any",
        *,
        priority: int = 0,
        when: KernelPredicate | None = None,
        name: str | None = None,
    ) -> Callable[[F], F]:
        """Add another way to compute this operator. See `operad_sdk.kernel`."""
        return kernel(cls, device, priority=priority, when=when, name=name)

    def list_arguments(self) -> list[str]:
        """The arguments of `spec`."""
        return (
            [tensor.name for tensor in self._bound.arguments] if self._has_spec else super().list_arguments()
        )

    def list_outputs(self) -> list[str]:
        """The outputs of `spec`."""
        return [tensor.name for tensor in self._bound.outputs] if self._has_spec else super().list_outputs()

    def list_auxiliary_states(self) -> list[str]:
        """The auxiliary states of `spec`."""
        return [tensor.name for tensor in self._bound.auxiliary] if self._has_spec else []

    @property
    def num_visible_outputs(self) -> int:
        """The outputs of `spec` that are not hidden."""
        return self._bound.num_visible_outputs if self._has_spec else super().num_visible_outputs

    def infer_shape(self, in_shapes: Sequence[PartialShape]) -> InferredShapes:
        """What follows from `spec`."""
        return self._bound.infer_shape(in_shapes)

    def infer_shape_backward(
        self, in_shapes: Sequence[PartialShape], out_shapes: Sequence[PartialShape]
    ) -> list[PartialShape]:
        """What follows from `spec` when the outputs are known as well."""
        if not self._has_spec:
            return super().infer_shape_backward(in_shapes, out_shapes)
        return self._bound.infer_shape_backward(in_shapes, out_shapes)

    def infer_type(self, in_types: Sequence[DType | None]) -> InferredTypes:
        """What follows from the types in `spec`, where `accepts` admits the first argument's."""
        inferred = self._bound.infer_type(in_types) if self._has_spec else super().infer_type(in_types)
        if inferred[0] and inferred[0][0] is not None:
            check_accepted(self.name, self.list_arguments()[0], inferred[0][0], self.accepts)
        return inferred

    def differentiable_inputs(self) -> list[bool]:
        """The arguments whose gradients are computed."""
        if self.has_gradient and not self._gradient_functions:
            return super().differentiable_inputs()
        filled = {index for method in self._gradient_calls for index in method.fills}
        return [index in filled for index in range(len(self.list_arguments()))]

    def declare_backward_dependency(
        self, out_grad: Sequence[Any], in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[Any]:
        """What the gradients together read."""
        if self.has_gradient and not self._gradient_functions:
            return super().declare_backward_dependency(out_grad, in_data, out_data)
        reads = frozenset[BackwardEntry]().union(*(method.reads for method in self._gradient_calls))
        groups = {OUT_GRAD: out_grad, IN_DATA: in_data, OUT_DATA: out_data}
        return [groups[kind][index] for kind, index in _in_order(reads)]

    def backward_dependency(self, wanted: Sequence[bool]) -> list[BackwardEntry]:
        """What the gradients of which something is wanted read."""
        if self.has_gradient and not self._gradient_functions:
            return super().backward_dependency(wanted)
        used = [method for method in self._gradient_calls if any(wanted[i] for i in method.fills)]
        return _in_order(frozenset[BackwardEntry]().union(*(method.reads for method in used)))

    def forward_inplace_option(
        self, in_data: Sequence[Any], out_data: Sequence[Any]
    ) -> list[tuple[Any, Any]]:
        """The pairs of `forward_inplace` that are there."""
        inputs = dict(zip(self.list_arguments(), in_data, strict=True))
        outputs = dict(zip(self.list_outputs(), out_data, strict=True))
        return [(inputs[a], outputs[b]) for a, b in self.forward_inplace if a in inputs and b in outputs]

    def backward_inplace_option(
        self,
        out_grad: Sequence[Any],
        in_data: Sequence[Any],
        out_data: Sequence[Any],
        in_grad: Sequence[Any],
    ) -> list[tuple[Any, Any]]:
        """The pairs that the gradients declare, where no later gradient reads the array."""
        groups = {OUT_GRAD: out_grad, IN_DATA: in_data, OUT_DATA: out_data}
        pairs = []
        read_later: set[BackwardEntry] = set()
        # invariant: gradients run in this order, so only a later one can find its input overwritten
        for method in reversed(self._gradient_calls):
            pairs += [
                (groups[entry.kind][entry.index], in_grad[target])
                for entry, target in method.inplace
                if entry not in read_later
            ]
            read_later |= method.reads
        return pairs

    @cached_property
    def _forward_call(self) -> Method:
        """`forward` with what it names found."""
        function = type(self).forward  # type: ignore[attr-defined]
        signature = read_method(function, f"{self.name}.forward")
        return Method(MethodType(function, self), signature, self._layout.forward)

    @cached_property
    def _gradient_calls(self) -> list[Method]:
        """The gradients that count for these parameters, in the order they run."""
        return bound_gradients(self, self._gradient_functions, self, self._layout, self.backward_inplace)

    @cached_property
    def _layout(self) -> Layout:
        """The names that this property's methods can use."""
        if not self._has_spec:
            return Layout(self)
        spec = self._parsed
        inputs = {item.name for item in spec.arguments + spec.auxiliary if item.condition is not None}
        outputs = {item.name for item in spec.outputs if item.condition is not None}
        present = {*self.list_arguments(), *self.list_auxiliary_states(), *self.list_outputs()}
        return Layout(self, inputs - present, outputs - present)

    @property
    def _has_spec(self) -> bool:
        return self.spec is not None

    @cached_property
    def _parsed(self) -> Spec:
        if self.spec is None:
            raise DeclarationError(f"{self.name}: there is no spec and no method in its place; give a spec")
        return parse(self.spec() if callable(self.spec) else self.spec)

    @cached_property
    def _bound(self) -> BoundSpec:
        spec = self._parsed
        values = {name: getattr(self, name) for name in spec.names if self._is_own_value(name)}
        return bind(spec, self.name, values)

    def _is_own_value(self, name: str) -> bool:
        if name in type(self).params:
            return True
        added = hasattr(type(self), name) and not hasattr(OperatorProperty, name)
        return added and not callable(getattr(type(self), name))


def operator(name: str) -> Callable[[C], C]:
    """Declare a class as the operator `name`, MXNet 1.x's name.

    A class that is no `OperatorProperty` becomes one.

    Raises:
        DeclarationError: It says nothing about shapes, or nothing that computes.
    """

    def declare(cls: C) -> C:
        made: Any = cls
        if not issubclass(cls, OperatorProperty):
            members = {key: getattr(cls, key) for key in ("__doc__", "__module__", "__qualname__")}
            made = type(cls.__name__, (cls, OperatorProperty), members)
        made.name = name
        made.kernels = [own._replace(name=f"{name}.{own.name.partition('.')[2]}") for own in made.kernels]
        if made.spec is None and made.infer_shape is OperatorProperty.infer_shape:
            raise DeclarationError(f"operator {name!r} has neither a spec nor infer_shape; give it a spec")
        if not made.kernels and made.create_operator is CoreProperty.create_operator:
            raise DeclarationError(f"operator {name!r} computes nothing; give it a method forward(self, ...)")
        if isinstance(made.spec, str):
            _check_methods(made, parse(made.spec))
        result: C = made
        return result

    return declare


def _own_operator(
    prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
) -> Operator:
    forward, gradients = prop._forward_call, prop._gradient_calls
    return MethodOperator(prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients)


def _in_order(entries: frozenset[BackwardEntry]) -> list[BackwardEntry]:
    """Gradients of outputs, then arguments, then output values, as `declare_backward_dependency` has them."""
    kinds = (OUT_GRAD, IN_DATA, OUT_DATA)
    return sorted(entries, key=lambda entry: (kinds.index(entry.kind), entry.index))


def _check_methods(cls: type[OperatorProperty], spec: Spec) -> None:
    """Refuse a method that names what no parameters would give; the rest is found when it is used."""
    arguments = {item.name for item in spec.arguments}
    outputs = {item: f"out_{item.name}" if item.name in arguments else item.name for item in spec.outputs}
    both = {*arguments, *(item.name for item in spec.auxiliary), *outputs.values(), OP_CTX, IS_TRAIN}
    gradients = {f"{name}_grad" for name in arguments}
    gradients |= {f"{name}_grad" for item, name in outputs.items() if not item.is_hidden}
    if any(item.repeat for item in spec.items):
        return  # the names of numbered arguments are known when they are counted
    if hasattr(cls, "forward"):
        _check_method(read_method(cls.forward, f"{cls.name}.forward"), both)
    for name, function in cls._gradient_functions.items():
        _check_method(read_method(function, f"{cls.name}.{name}"), both | gradients)


def _check_method(signature: Signature, known: set[str]) -> None:
    names = [name for name in signature.names if signature.parameters[name].default is not None]
    check_names(signature.what, names, sorted(known))
