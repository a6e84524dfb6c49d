"""Further implementations of an operator, from its own distribution or another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import Kernel, Operator, Shape
from operad.operator.kernel import KernelFactory, KernelPredicate
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.function import Bound, Declared
from operad_sdk.declare.marks import is_gradient, mark_of
from operad_sdk.errors import DeclarationError

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

F = TypeVar("F", bound=Callable[..., Any])


def kernel(
    operator: str | type[OperatorProperty],
    device: str = "any",
    *,
    priority: int = 0,
    when: KernelPredicate | None = None,
    name: str | None = None,
) -> Callable[[F], F]:
    """Declare another way to compute an operator.

    What is decorated is one of

    * a function that names what it wants as the operator's own `forward` does; the gradients stay;
    * a class made with `(prop, ctx, in_shapes, in_types)` that has a `forward` and, if it brings its
      own, gradients, all naming what they want; gradients that it does not bring are the operator's;
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
        operator_name = operator if isinstance(operator, str) else operator.name
        label = f"{operator_name}.{name or implementation.__name__}"
        made = Kernel(label, _factory(implementation, label), device, priority, when)
        if not isinstance(operator, str):
            operator.kernels.append(made)
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
            f"kernel {label!r} has no function forward; give it one, or derive it from Operator"
        )
    return _ClassKernel(implementation, label)


@final
class _FunctionKernel:
    """Makes operators whose forward pass is one function."""

    def __init__(self, function: Callable[..., Any], label: str) -> None:
        self._function = function
        self._what = f"kernel {label!r}"

    def __call__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        forward = _bound_forward(prop, self._function, self._what)
        own = type(prop).kernels[0].factory(prop, ctx, in_shapes, in_types)
        return BoundOperator(prop, ctx, in_shapes, in_types, forward=forward, gradients=None, fallback=own)


@final
class _ClassKernel:
    """Makes operators whose passes are the methods of a class."""

    def __init__(self, cls: type, label: str) -> None:
        self._class = cls
        self._label = label
        self._gradients = [
            name
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if is_gradient(name, value)
        ]

    def __call__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        owner = self._class(prop, ctx, in_shapes, in_types)
        forward = _bound_forward(prop, owner.forward, f"{self._label}.forward")
        found = [self._gradient(prop, owner, name) for name in self._gradients]
        # Without targets: of an argument that these parameters leave out.
        gradients = [bound for bound in found if bound.targets]
        first = type(prop).kernels[0].factory  # this one, of an operator that has no `forward` of its own
        own = None if first is self else first(prop, ctx, in_shapes, in_types)
        return BoundOperator(
            prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients, fallback=own
        )

    def _gradient(self, prop: OperatorProperty, owner: Any, name: str) -> Bound:
        mark = mark_of(name, getattr(self._class, name))
        aliases = tuple(prop.aliases.items())
        declared = Declared(getattr(owner, name), f"{self._label}.{name}", *mark, aliases)
        names = prop.binding.names
        bound = Bound(declared, names.backward, names.backward_targets, False)
        if not bound.targets:
            return bound
        wanted = [place in bound.targets for place in range(len(prop.list_arguments()))]
        undeclared = sorted(bound.reads - set(prop.backward_dependency(wanted)))
        if undeclared:
            kind, place = undeclared[0]
            kept = prop.list_arguments() if kind == "in_data" else prop.list_outputs()
            raise DeclarationError(
                f"{bound.what} reads {kind} {kept[place]!r}, which {prop.name} does not keep for its "
                "gradient; compute without it, or declare it in the operator"
            )
        return bound


def _bound_forward(prop: OperatorProperty, function: Callable[..., Any], what: str) -> Bound:
    names = prop.binding.names
    declared = Declared(function, what, aliases=tuple(prop.aliases.items()))
    return Bound(declared, names.forward, names.forward_targets, True)
