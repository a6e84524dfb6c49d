"""Methods that name what they want.

The parameters of an operator's `forward` and of its gradients are names of tensors:

============== ==================================================================================
in both        an argument (its array), an auxiliary state (its array), `op_ctx`, `is_train`
in forward     an output (an `Output` to fill)
in a gradient  `<output>_grad` (its array), an output (the array of its value), `<argument>_grad`
               (an `Output` to fill)
============== ==================================================================================

The stem of numbered arguments (`arg` for arg0, arg1, ...) stands for all of them, as a tuple. An
output that has an argument's name is `out_<name>`. An argument that is absent for the given
parameters is None, and an output that is absent is one to which nothing is written. A class in the
long form, whose names nobody can list beforehand, says `bias=None` for an argument that may be
absent.

What a gradient reads is its backward dependency, so nothing is declared twice. A class has one
`backward`, or several gradients under names of its choice, each marked `@gradient`: a gradient runs
only where one of its outputs is wanted, and what only it reads is kept only then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MethodType
from typing import Any, Final, NamedTuple, TypeVar, final, overload

from operad.operator import BackwardEntry, OperatorProperty
from operad_sdk.errors import DeclarationError
from operad_sdk.signature import OP_CTX, Signature, check_names, read_signature, unknown_name

F = TypeVar("F", bound=Callable[..., Any])

IS_TRAIN: Final = "is_train"

IN_DATA: Final = "in_data"
OUT_DATA: Final = "out_data"
OUT_GRAD: Final = "out_grad"
IN_GRAD: Final = "in_grad"
AUX: Final = "aux_states"
EXTRA: Final = "extra"

_MARK: Final = "_operad_gradient"


@final
class GradientMark(NamedTuple):
    """What `@gradient` says of a method."""

    inplace: tuple[tuple[str, str], ...] = ()
    when: Callable[[Any], bool] | None = None


@overload
def gradient(function: F, /) -> F: ...


@overload
def gradient(
    *, inplace: Sequence[tuple[str, str]] = (), when: Callable[[Any], bool] | None = None
) -> Callable[[F], F]: ...


def gradient(
    function: Any = None,
    *,
    inplace: Sequence[tuple[str, str]] = (),
    when: Callable[[Any], bool] | None = None,
) -> Any:
    """Mark a method as one that computes the gradients it names.

    Args:
        inplace: Pairs of an array read and a gradient that may share memory:
            `[("output_grad", "data_grad")]`.
        when: Called with the property; the method counts only where it is true. So a gradient that
            reads less for some parameters can say so.
    """

    def mark(method: Any) -> Any:
        setattr(method, _MARK, GradientMark(tuple(inplace), when))
        return method

    return mark if function is None else mark(function)


@final
class Slot(NamedTuple):
    """Where a parameter's value comes from: one of a group, or several."""

    group: str
    place: int | tuple[int, ...]


CONTEXT_SLOT: Final = Slot(EXTRA, 0)
IS_TRAIN_SLOT: Final = Slot(EXTRA, 1)
ABSENT: Final = Slot(EXTRA, 2)
"""An argument or state that is not there: None."""
UNWANTED: Final = Slot(EXTRA, 3)
"""An output that is not there: an `Output` that nothing is written to."""


@final
class Layout:
    """The names that methods of one property instance can use.

    Args:
        absent: Names of arguments and states that other parameters would give.
        absent_outputs: Names of outputs that other parameters would give.

    Attributes:
        forward: Slot of each name in `forward`; `backward` likewise in gradients.
    """

    __slots__ = ("backward", "forward")

    def __init__(
        self, prop: OperatorProperty, absent: Iterable[str] = (), absent_outputs: Iterable[str] = ()
    ) -> None:
        arguments, outputs = prop.list_arguments(), prop.list_outputs()
        shared = dict.fromkeys(absent, ABSENT)
        shared |= {OP_CTX: CONTEXT_SLOT, IS_TRAIN: IS_TRAIN_SLOT}
        shared |= _slots(AUX, prop.list_auxiliary_states())
        shared |= _slots(IN_DATA, arguments)
        out_names = [f"out_{name}" if name in arguments else name for name in outputs]
        values = _slots(OUT_DATA, out_names)
        self.forward = dict.fromkeys(absent_outputs, UNWANTED) | shared | values
        self.backward = (
            {f"{name}_grad": UNWANTED for name in absent}
            | {spelled: ABSENT for name in absent_outputs for spelled in (name, f"{name}_grad")}
            | shared
            | values
            | _slots(OUT_GRAD, out_names[: prop.num_visible_outputs], "_grad")
            | _slots(IN_GRAD, arguments, "_grad")
        )


@final
class Method:
    """A function whose parameters have been found in a layout.

    Attributes:
        function: To call with the values in the order of `slots`.
        reads: Arrays of a backward pass that it reads.
        fills: Indices of the arguments whose gradients it computes.
        inplace: Pairs (entry read, index of a gradient) that may share memory.
    """

    __slots__ = ("fills", "function", "inplace", "name", "reads", "slots")

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        known: dict[str, Slot],
        inplace: Iterable[tuple[str, str]] = (),
    ) -> None:
        self.function = function
        self.name = signature.what
        self.slots = [self._slot(signature, known, name) for name in signature.names]
        self.reads = frozenset(
            BackwardEntry(group, index)
            for group, indices in self.slots
            if group in (IN_DATA, OUT_DATA, OUT_GRAD)
            for index in _indices(indices)
        )
        self.fills = [i for group, indices in self.slots if group == IN_GRAD for i in _indices(indices)]
        self.inplace = list(self._pairs(known, inplace))

    @staticmethod
    def _slot(signature: Signature, known: dict[str, Slot], name: str) -> Slot:
        found = known.get(name)
        if found is not None:
            return found
        if signature.parameters[name].default is None:
            return UNWANTED if name.endswith("_grad") else ABSENT
        raise unknown_name(signature.what, name, known)

    def _pairs(
        self, known: dict[str, Slot], inplace: Iterable[tuple[str, str]]
    ) -> Iterator[tuple[BackwardEntry, int]]:
        for read, grad in inplace:
            check_names(f"inplace of {self.name}", (read, grad), known)
            entry, target = known[read], known[grad]
            if ABSENT in (entry, target) or UNWANTED in (entry, target):
                continue
            if (
                target.group != IN_GRAD
                or not isinstance(target.place, int)
                or not isinstance(entry.place, int)
            ):
                raise DeclarationError(
                    f"inplace of {self.name}: {(read, grad)!r}, expected an array it reads and a gradient"
                )
            yield BackwardEntry(entry.group, entry.place), target.place


@lru_cache(maxsize=1024)
def read_method(function: Callable[..., Any], what: str) -> Signature:
    """The signature of an operator's method, its first parameter (`self`) left out.

    Raises:
        DeclarationError: It cannot be called by position.
    """
    signature = read_signature(function, what)
    names = tuple(signature.parameters)[1:]
    if signature.keyword_only:
        raise DeclarationError(
            f"{what}: {sorted(signature.keyword_only)[0]!r} is keyword-only; expected none"
        )
    return signature._replace(names=names)


def _slots(group: str, names: Sequence[str], suffix: str = "") -> dict[str, Slot]:
    slots = {name + suffix: Slot(group, index) for index, name in enumerate(names)}
    stems: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        stem = name.rstrip("0123456789")
        if stem != name and name == f"{stem}{len(stems.get(stem, []))}":
            stems.setdefault(stem, []).append(index)
    for stem, indices in stems.items():
        slots.setdefault(stem + suffix, Slot(group, tuple(indices)))
    return slots


def _indices(index: int | tuple[int, ...]) -> tuple[int, ...]:
    return index if isinstance(index, tuple) else (index,)


def gradient_methods(cls: type) -> dict[str, Callable[..., Any]]:
    """The gradient methods of a class by name, in the order they were first declared."""
    found: dict[str, Callable[..., Any]] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(getattr(value, _MARK, None), GradientMark) or (
                name == "backward" and callable(value)
            ):
                found[name] = value
            else:
                found.pop(name, None)
    return found


def bound_gradients(
    owner: Any,
    functions: Mapping[str, Callable[..., Any]],
    prop: OperatorProperty,
    layout: Layout,
    inplace: Sequence[tuple[str, str]] = (),
) -> list[Method]:
    """Those of `functions`, methods of `owner`, that count for `prop`.

    Args:
        inplace: The in-place pairs of a method without a mark, which is `backward`.
    Raises:
        DeclarationError: A method names what is not there, or two compute the same gradient.
    """
    methods: list[Method] = []
    for name, function in functions.items():
        mark = getattr(function, _MARK, GradientMark(tuple(inplace)))
        if mark.when is not None and not mark.when(prop):
            continue
        signature = read_method(function, f"{prop.name}.{name}")
        made = Method(MethodType(function, owner), signature, layout.backward, mark.inplace)
        for other in methods:
            if set(other.fills) & set(made.fills):
                raise DeclarationError(
                    f"{made.name} and {other.name} compute the same gradient; expected one of them"
                )
        methods.append(made)
    return methods
