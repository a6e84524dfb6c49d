"""Further implementations of an operator, from its own distribution or another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any, TypeVar, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import Kernel, Operator, OperatorProperty, Shape, SimpleOpProperty
from operad.operator.kernel import KernelFactory, KernelPredicate
from operad_sdk.errors import DeclarationError
from operad_sdk.method_operator import MethodOperator
from operad_sdk.methods import Layout, Method, bound_gradients, gradient_methods, read_method
from operad_sdk.simple_function import SimpleFunction, simple_kernel_factory

F = TypeVar("F", bound=Callable[..., Any])


def kernel(
    operator: str | type[OperatorProperty] | SimpleFunction,
    device: str = "any",
    *,
    priority: int = 0,
    when: KernelPredicate | None = None,
    name: str | None = None,
) -> Callable[[F], F]:
    """Declare another way to compute an operator.

    What is decorated is one of

    * a function `fast(prop, data, weight, output)` that names what it wants as `forward` does (of a
      one-function operator: its arrays, then its parameters by name, without `prop`); the gradients
      stay the operator's;
    * a class made with `(prop, ctx, in_shapes, in_types)` that has a `forward` and, if it brings its
      own, gradients, all naming what they want;
    * a subclass of `Operator`.

    Args:
        operator: The operator, which gets the kernel at once; or the name of one that another
            distribution provides, to which an `operad.kernels` entry point adds it.
        device: `"cpu"`, `"gpu"` or `"any"`.
        priority: Larger is preferred; the operator's own `forward` has 0.
        when: `when(prop, in_shapes, in_types)` is True, or False or a reason to reject.
        name: What `operad why` calls it; the name of what is decorated if left out.
    """

    def declare(implementation: F) -> F:
        prop = operator if isinstance(operator, str) else operator.operad_property  # type: ignore[union-attr]
        operator_name = prop if isinstance(prop, str) else prop.name
        label = f"{operator_name}.{name or implementation.__name__}"
        made = Kernel(label, _factory(implementation, label), device, priority, when)
        if not isinstance(prop, str):
            prop.kernels.append(made)
        implementation.operad_kernel = made  # type: ignore[attr-defined]
        return implementation

    return declare


def _factory(implementation: Callable[..., Any], label: str) -> KernelFactory:
    if not inspect.isclass(implementation):
        return _FunctionKernel(implementation, label)
    if issubclass(implementation, Operator):
        return implementation
    if not hasattr(implementation, "forward"):
        raise DeclarationError(
            f"kernel {label!r} has no method forward; give it one, or derive it from Operator"
        )
    return _ClassKernel(implementation, label)


@final
class _FunctionKernel:
    """Makes operators whose forward pass is one function."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self._function = function
        self._label = label

    def __call__(
        self, prop: Any, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        if isinstance(prop, SimpleOpProperty):
            return simple_kernel_factory(self._function, f"kernel {self._label!r}")(
                prop, ctx, in_shapes, in_types
            )
        layout = layout_of(prop)
        signature = read_method(self._function, f"kernel {self._label!r}")
        forward = Method(MethodType(self._function, prop), signature, layout.forward)
        own = type(prop).kernels[0].factory(prop, ctx, in_shapes, in_types)
        return MethodOperator(prop, ctx, in_shapes, in_types, forward=forward, gradients=None, fallback=own)


@final
class _ClassKernel:
    """Makes operators whose passes are the methods of a class."""

    def __init__(self, cls: type, label: str) -> None:
        self._class = cls
        self._gradients = gradient_methods(cls)
        self._label = label

    def __call__(
        self, prop: Any, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        owner = self._class(prop, ctx, in_shapes, in_types)
        layout = layout_of(prop)
        signature = read_method(self._class.forward, f"{self._label}.forward")  # type: ignore[attr-defined]
        forward = Method(owner.forward, signature, layout.forward)
        if not self._gradients:
            own = type(prop).kernels[0].factory(prop, ctx, in_shapes, in_types)
            return MethodOperator(
                prop, ctx, in_shapes, in_types, forward=forward, gradients=None, fallback=own
            )
        gradients = bound_gradients(owner, self._gradients, prop, layout)
        for method in gradients:
            _check_declared(prop, method)
        return MethodOperator(prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients)


def layout_of(prop: OperatorProperty) -> Layout:
    """The names that methods can use with `prop`, whether or not the toolkit made its class."""
    made: Layout = getattr(prop, "_layout", None) or Layout(prop)
    return made


def _check_declared(prop: OperatorProperty, method: Method) -> None:
    """A kernel can read only what its operator keeps for the backward pass."""
    wanted = [index in method.fills for index in range(len(prop.list_arguments()))]
    undeclared = sorted(method.reads - set(prop.backward_dependency(wanted)))
    if undeclared:
        names = {
            "in_data": prop.list_arguments(),
            "out_data": prop.list_outputs(),
            "out_grad": prop.list_outputs(),
        }
        kind, index = undeclared[0]
        raise DeclarationError(
            f"{method.name} reads {kind} {names[kind][index]!r}, which {prop.name} does not keep for its "
            "gradient; compute without it, or declare it in the operator"
        )
