"""Further implementations of an operator or of parts of it, from its own distribution or another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import FORWARD, Cost, Kernel, KernelCall, KernelFactory, KernelPredicate, Operator, Shape
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.function import Bound, Declared
from operad_sdk.declare.marks import is_gradient, mark_of
from operad_sdk.errors import DeclarationError

if TYPE_CHECKING:
    from operad_sdk.declare.property import OperatorProperty

F = TypeVar("F", bound=Callable[..., Any])

_DEVICES: Final = ("any", "cpu", "gpu")


def kernel(
    operator: str | type[OperatorProperty],
    *of: str,
    device: str = "any",
    priority: int = 0,
    when: KernelPredicate | None = None,
    name: str | None = None,
    accumulate: bool = False,
    cost: Callable[[KernelCall], float | Cost] | None = None,
    scratch_bytes: Callable[[KernelCall], int] | None = None,
) -> Callable[[F], F]:
    """Declare another way to compute an operator, or parts of it.

    What is decorated is one of

    * a function that names what it wants as the operator's own `forward` does, and computes the outputs;
      the gradients stay;
    * with parts given, a function that computes these gradients, and names what it wants as the operator's
      own gradients do; it may read what they read, and nothing else;
    * a class made with `(prop, ctx, in_shapes, in_types)` that has a `forward` and, if it brings its
      own, gradients, all naming what they want; gradients that it does not bring are the next kernel's;
    * a subclass of `Operator`.

    Args:
        operator: The operator, which gets the kernel at once; or the name of one that another
            distribution provides, to which an `operad.kernels` entry point adds it.
        of: The parts: `"forward"`, or `"<argument>_grad"` for each gradient. None: what is described above. A
            device may stand here, in place of `device`.
        device: `"cpu"`, `"gpu"` or `"any"`.
        priority: Larger is preferred; the operator's own functions have 0.
        when: `when(call)` is True, or False or a reason to reject; see `KernelCall`.
        name: What `operad why` calls it; the name of what is decorated if left out.
        accumulate: Whether a gradient's function adds to its targets itself, which then begin as zeros.
        cost: Gives, for a call, what it computes: a number of loop operations, or a `Cost`. None: what the
            operator's own functions are estimated at.
        scratch_bytes: Gives, for a call, the memory that it takes for itself, for `operad why`.
    """
    devices = [word for word in of if word in _DEVICES]
    parts = tuple(word for word in of if word not in _DEVICES)

    def declare(implementation: F) -> F:
        operator_name = operator if isinstance(operator, str) else operator.name
        label = f"{operator_name}.{name or implementation.__name__}"
        if len(devices) > 1 or (devices and device != "any"):
            raise DeclarationError(f"kernel {label!r} names {[*devices, device]}, expected one device")
        factory = _factory(implementation, label, parts, accumulate)
        computes = getattr(factory, "parts", None)
        if inspect.isclass(implementation) and issubclass(implementation, Operator):
            computes = None if _has_gradients(implementation) else _only_forward
        made = Kernel(
            label,
            factory,
            devices[0] if devices else device,
            priority,
            when,
            parts=computes,
            cost=cost,
            scratch_bytes=scratch_bytes,
        )
        if not isinstance(operator, str):
            operator.kernels.append(made)
        implementation.operad_kernel = made  # type: ignore[attr-defined]
        return implementation

    return declare


def _has_gradients(cls: type[Operator]) -> bool:
    return cls.backward is not Operator.backward or cls.backward_templates is not Operator.backward_templates


def _only_forward(_: Any) -> Collection[str]:
    return (FORWARD,)


def _factory(
    implementation: Callable[..., Any], label: str, parts: tuple[str, ...], accumulate: bool
) -> KernelFactory:
    if not inspect.isclass(implementation):
        return _FunctionKernel(implementation, label, parts, accumulate)
    if parts or accumulate:
        raise DeclarationError(
            f"kernel {label!r} is a class, which brings its own parts; expected none beside it, got "
            f"{', '.join(parts) or 'accumulate=True'}"
        )
    if issubclass(implementation, Operator):
        return implementation
    if not hasattr(implementation, "forward"):
        raise DeclarationError(
            f"kernel {label!r} has no function forward; give it one, or derive it from Operator"
        )
    return _ClassKernel(implementation, label)


@final
class _FunctionKernel:
    """Makes operators that compute the outputs, or some gradients, by one function."""

    def __init__(
        self, function: Callable[..., Any], label: str, parts: tuple[str, ...], accumulate: bool
    ) -> None:
        self._function = function
        self._what = f"kernel {label!r}"
        self._is_forward = parts in ((), (FORWARD,))
        wrong = [part for part in parts if not part.endswith("_grad")]
        if wrong and not self._is_forward:
            raise DeclarationError(
                f"{self._what} computes {', '.join(parts)}; expected 'forward' alone, or '<argument>_grad' "
                "for each gradient"
            )
        if accumulate and self._is_forward:
            raise DeclarationError(
                f"{self._what} computes the outputs; expected accumulate=True for gradients"
            )
        self._targets = () if self._is_forward else parts
        self._accumulate = accumulate
        self._found: dict[Any, Bound] = {}

    def parts(self, prop: OperatorProperty) -> Collection[str]:
        """Parts that the kernel computes for these parameters."""
        return (FORWARD,) if self._is_forward else _parts_of(prop, [self._bound(prop)])

    def __call__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        bound = self._bound(prop)
        forward, gradients = (bound, None) if self._is_forward else (None, [bound])
        return BoundOperator(prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients)

    def _bound(self, prop: OperatorProperty) -> Bound:
        names = prop.binding.names
        found = self._found.get(names)  # of which there is one for each set of tensors
        if found is None:
            aliases = tuple(prop.aliases.items())
            public = dict(aliases)
            targets = tuple(public.get(target, target) for target in self._targets)
            declared = Declared(
                self._function, self._what, targets, accumulate=self._accumulate, aliases=aliases
            )
            found = _bound(prop, declared, is_forward=self._is_forward)
            self._found[names] = found
        return found


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
        self._parts: dict[Any, Collection[str]] = {}

    def parts(self, prop: OperatorProperty) -> Collection[str]:
        """The outputs, and the gradients that it brings."""
        names = prop.binding.names  # of which there is one for each set of tensors
        found = self._parts.get(names)
        if found is None:
            unmade: Any = object.__new__(self._class)  # names alone are looked at
            bound = [self._gradient(prop, unmade, name) for name in self._gradients]
            found = self._parts[names] = (FORWARD, *_parts_of(prop, bound))
        return found

    def __call__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        owner = self._class(prop, ctx, in_shapes, in_types)
        declared = Declared(owner.forward, f"{self._label}.forward", aliases=tuple(prop.aliases.items()))
        forward = _bound(prop, declared, is_forward=True)
        found = [self._gradient(prop, owner, name) for name in self._gradients]
        # Without targets: of an argument that these parameters leave out.
        gradients = [bound for bound in found if bound.targets]
        return BoundOperator(prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients)

    def _gradient(self, prop: OperatorProperty, owner: Any, name: str) -> Bound:
        mark = mark_of(name, getattr(self._class, name))
        declared = Declared(getattr(owner, name), f"{self._label}.{name}", *mark, tuple(prop.aliases.items()))
        return _bound(prop, declared, is_forward=False)


def _parts_of(prop: OperatorProperty, gradients: Sequence[Bound]) -> list[str]:
    names = prop.list_arguments()
    return [f"{names[position]}_grad" for bound in gradients for position in bound.targets]


def _bound(prop: OperatorProperty, declared: Declared, *, is_forward: bool) -> Bound:
    """A kernel's function with its names found.

    Raises:
        DeclarationError: A name means nothing, or a gradient reads what the operator does not keep for it.
    """
    names = prop.binding.names
    if is_forward:
        return Bound(declared, names.forward, names.forward_targets, True)
    bound = Bound(declared, names.backward, names.backward_targets, False)
    wanted = [position in bound.targets for position in range(len(prop.list_arguments()))]
    undeclared = sorted(bound.reads - set(prop.backward_dependency(wanted))) if bound.targets else []
    if undeclared:
        kind, position = undeclared[0]
        kept = prop.list_arguments() if kind == "in_data" else prop.list_outputs()
        raise DeclarationError(
            f"{bound.what} reads {kind} {kept[position]!r}, which {prop.name} does not keep for its "
            "gradient; compute without it, or declare it in the operator"
        )
    return bound
