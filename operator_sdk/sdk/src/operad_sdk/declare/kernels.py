"""Further implementations of an operator or of parts of it, from its own distribution or another."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from operad.context import Context
from operad.dtypes import DType
from operad.operator import (
    FORWARD,
    BackwardEntry,
    Cost,
    Kernel,
    KernelCall,
    KernelFactory,
    KernelPredicate,
    Operator,
    Prepared,
    Shape,
)
from operad.resource import ResourceRequest
from operad_sdk.declare.binder import BoundOperator
from operad_sdk.declare.function import Bound, Declared, split_pairs
from operad_sdk.declare.kernel_arrays import KernelArrays
from operad_sdk.declare.marks import is_gradient, mark_of
from operad_sdk.declare.names import IN_DATA, OUT_DATA
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
    prepares: Mapping[str, Prepared] | None = None,
    inplace: str | Sequence[str] | None = None,
    resources: Callable[[KernelCall, str], Sequence[ResourceRequest]] | None = None,
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
        prepares: Arrays made of arguments that rarely change, by name. The functions name them, and get None
            where no program has made them.
        inplace: Pairs of names, as `inplace` of operators and gradients; given, it replaces the operator's
            for what this kernel computes. `""`: nothing may share memory.
        resources: `resources(call, part)` gives what it requests, in place of what the operator does; `part`
            is `"forward"`, or `""` for all its gradients.
    Raises:
        DeclarationError: What is said contradicts itself or the function.
    """
    devices = [word for word in of if word in _DEVICES]
    parts = tuple(word for word in of if word not in _DEVICES)

    def declare(implementation: F) -> F:
        operator_name = operator if isinstance(operator, str) else operator.name
        label = f"{operator_name}.{name or implementation.__name__}"
        if len(devices) > 1 or (devices and device != "any"):
            raise DeclarationError(f"kernel {label!r} names {[*devices, device]}, expected one device")
        own = KernelArrays(
            label,
            dict(prepares or {}),
            None if inplace is None else split_pairs(inplace),
        )
        factory = _factory(implementation, label, parts, accumulate, own)
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
            prepares=own.prepares,
            reads=getattr(factory, "reads", None),
            inplace=None if own.inplace is None else _pairs_of(factory, label),
            resources=resources,
        )
        if not isinstance(operator, str):
            operator.kernels.append(made)
        implementation.operad_kernel = made  # type: ignore[attr-defined]
        return implementation

    return declare


_Pairs = Callable[[Any, str], Collection[tuple[BackwardEntry, int]]]


def _pairs_of(factory: KernelFactory, label: str) -> _Pairs:
    found = getattr(factory, "inplace", None)
    if found is None:
        raise DeclarationError(
            f"kernel {label!r} is an Operator; expected operad.operator.Kernel with inplace for it"
        )
    pairs: _Pairs = found
    return pairs


def _has_gradients(cls: type[Operator]) -> bool:
    return cls.backward is not Operator.backward or cls.backward_templates is not Operator.backward_templates


def _only_forward(_: Any) -> Collection[str]:
    return (FORWARD,)


def _factory(
    implementation: Callable[..., Any],
    label: str,
    parts: tuple[str, ...],
    accumulate: bool,
    own: KernelArrays,
) -> KernelFactory:
    if not inspect.isclass(implementation):
        return _FunctionKernel(implementation, label, parts, accumulate, own)
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
    return _ClassKernel(implementation, label, own)


@final
class _FunctionKernel:
    """Makes operators that compute the outputs, or some gradients, by one function."""

    def __init__(
        self,
        function: Callable[..., Any],
        label: str,
        parts: tuple[str, ...],
        accumulate: bool,
        own: KernelArrays,
    ) -> None:
        self._function = function
        self._what = f"kernel {label!r}"
        self._own = own
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
        count = len(self._own.prepares)
        return BoundOperator(
            prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients, num_prepared=count
        )

    def reads(self, prop: OperatorProperty, part: str) -> Collection[BackwardEntry]:
        """Entries of the operator's arrays that the function reads."""
        return _reads_of(prop, self._bound(prop))

    def inplace(self, prop: OperatorProperty, part: str) -> Collection[tuple[BackwardEntry, int]]:
        """Pairs in place of the function."""
        return self._bound(prop).inplace

    def _bound(self, prop: OperatorProperty) -> Bound:
        names = prop.binding.names
        found = self._found.get(names)  # of which there is one for each set of tensors
        if found is None:
            aliases = tuple(prop.aliases.items())
            public = dict(aliases)
            targets = tuple(public.get(target, target) for target in self._targets)
            pairs = self._own.pairs(is_forward=self._is_forward)
            declared = Declared(
                self._function, self._what, targets, pairs, accumulate=self._accumulate, aliases=aliases
            )
            found = _bound(prop, declared, self._own, is_forward=self._is_forward)
            self._found[names] = found
        return found


@final
class _ClassKernel:
    """Makes operators whose passes are the methods of a class."""

    def __init__(self, cls: type, label: str, own: KernelArrays) -> None:
        self._class = cls
        self._label = label
        self._own = own
        self._gradients = [
            name
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if is_gradient(name, value)
        ]
        self._functions: dict[Any, Bound] = {}

    def parts(self, prop: OperatorProperty) -> Collection[str]:
        """The outputs, and the gradients that it brings."""
        return FORWARD, *_parts_of(prop, [self._known(prop, name) for name in self._gradients])

    def __call__(
        self, prop: OperatorProperty, ctx: Context, in_shapes: Sequence[Shape], in_types: Sequence[DType]
    ) -> Operator:
        owner = self._class(prop, ctx, in_shapes, in_types)
        known = {name: self._known(prop, name) for name in (FORWARD, *self._gradients)}
        methods = {name: getattr(owner, name) for name in known}
        if all(getattr(method, "__func__", None) is known[name].method for name, method in methods.items()):
            found = {name: known[name].called(method) for name, method in methods.items()}
        else:  # the instance has functions of its own
            found = {name: self._bound(prop, owner, name) for name in known}
        forward = found.pop(FORWARD)
        # Without targets: of an argument that these parameters leave out.
        gradients = [bound for bound in found.values() if bound.targets]
        count = len(self._own.prepares)
        return BoundOperator(
            prop, ctx, in_shapes, in_types, forward=forward, gradients=gradients, num_prepared=count
        )

    def _known(self, prop: OperatorProperty, name: str) -> Bound:
        """A function of the class with its names found, by its own name."""
        key = (prop.binding.names, name)  # of which there is one for each set of tensors
        found = self._functions.get(key)
        if found is None:
            unmade: Any = object.__new__(self._class)  # names alone are looked at
            found = self._functions[key] = self._bound(prop, unmade, name)
        return found

    def _bound(self, prop: OperatorProperty, owner: Any, name: str) -> Bound:
        """The same of an instance."""
        return self._forward(prop, owner) if name == FORWARD else self._gradient(prop, owner, name)

    def reads(self, prop: OperatorProperty, part: str) -> Collection[BackwardEntry]:
        """Entries of the operator's arrays that a gradient reads."""
        return {entry for bound in self._of(prop, part) for entry in _reads_of(prop, bound)}

    def inplace(self, prop: OperatorProperty, part: str) -> Collection[tuple[BackwardEntry, int]]:
        """The pairs in place of a part."""
        return {pair for bound in self._of(prop, part) for pair in bound.inplace if pair[1] in bound.targets}

    def _of(self, prop: OperatorProperty, part: str) -> list[Bound]:
        """Functions that compute a part."""
        if part == FORWARD:
            return [self._known(prop, FORWARD)]
        position = prop.list_arguments().index(part.removesuffix("_grad"))
        gradients = (self._known(prop, name) for name in self._gradients)
        return [bound for bound in gradients if position in bound.targets]

    def _forward(self, prop: OperatorProperty, owner: Any) -> Bound:
        aliases, pairs = tuple(prop.aliases.items()), self._own.pairs(is_forward=True)
        declared = Declared(owner.forward, f"{self._label}.forward", inplace=pairs, aliases=aliases)
        return _bound(prop, declared, self._own, is_forward=True)

    def _gradient(self, prop: OperatorProperty, owner: Any, name: str) -> Bound:
        mark = mark_of(name, getattr(self._class, name))
        declared = Declared(getattr(owner, name), f"{self._label}.{name}", *mark, tuple(prop.aliases.items()))
        if self._own.inplace is not None:
            declared = declared._replace(inplace=self._own.pairs(is_forward=False))
        return _bound(prop, declared, self._own, is_forward=False)


def _parts_of(prop: OperatorProperty, gradients: Sequence[Bound]) -> list[str]:
    names = prop.list_arguments()
    return [f"{names[position]}_grad" for bound in gradients for position in bound.targets]


def _reads_of(prop: OperatorProperty, bound: Bound) -> Collection[BackwardEntry]:
    """Entries that a function reads of the operator's own arrays."""
    counts = {IN_DATA: len(prop.list_arguments()), OUT_DATA: len(prop.list_outputs())}
    return {entry for entry in bound.reads if entry.index < counts.get(entry.kind, entry.index + 1)}


def _bound(prop: OperatorProperty, declared: Declared, own: KernelArrays, *, is_forward: bool) -> Bound:
    """A kernel's function with its names looked up.

    Raises:
        DeclarationError: A name means nothing, or a gradient reads what the operator does not keep for it.
    """
    names = prop.binding.names
    slots = own.slots(prop) if own.prepares else {}
    if is_forward:
        return Bound(declared, names.forward | slots, names.forward_targets, True)
    bound = Bound(declared, names.backward | slots, names.backward_targets, False)
    wanted = [position in bound.targets for position in range(len(prop.list_arguments()))]
    reads = set(_reads_of(prop, bound)) if bound.targets else set()
    undeclared = sorted(reads - set(prop.backward_dependency(wanted))) if reads else []
    if undeclared:
        kind, position = undeclared[0]
        kept = prop.list_arguments() if kind == "in_data" else prop.list_outputs()
        raise DeclarationError(
            f"{bound.what} reads {kind} {kept[position]!r}, which {prop.name} does not keep for its "
            "gradient; compute without it, or declare it in the operator"
        )
    return bound
