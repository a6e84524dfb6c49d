"""Functions of an operator, with the names in their signatures looked up.

A function's *targets* are what it computes: of forward the outputs, of a gradient the gradients of
arguments. A target that the function names is an array which it fills; the others it returns, several
as a tuple in declared order. Everything else that a gradient names is read, and nothing else is: that
is its dependency.
"""

from __future__ import annotations

import ast
import difflib
import dis
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.dtypes import DType
from operad.first_use import parse_source
from operad.operator import BackwardEntry, Shape
from operad_sdk.declare.names import ABSENT, EXTRA, IN_DATA, OUT_DATA, OUT_GRAD, WORDS, Slot
from operad_sdk.errors import DeclarationError, call_declared

ARROW: Final = "->"


_OUT_BY_NAME: Final[Mapping[Any, Callable[..., Any]]] = {
    np.maximum: lambda lhs, rhs, output: np.maximum(lhs, rhs, out=output),
    np.minimum: lambda lhs, rhs, output: np.minimum(lhs, rhs, out=output),
}
"""Ufuncs for which NumPy deprecates an output given by position."""


@final
class Declared(NamedTuple):
    """A function as its author wrote it, with what was said beside it.

    Attributes:
        function: The function.
        what: What messages call it.
        targets: What it computes, where that is said and not read off its signature.
        inplace: Pairs of names, read and target, that may share memory, as `"output_grad -> data_grad"`;
            the target may be left out where there is one. Of two groups, each with the one of its number.
        when: Called with the property; the function counts only where it is true.
        accumulate: Whether it adds to its targets itself, which then begin as zeros or as what is there.
        traced: What takes the place of a gradient where its own gradient is computed.
        aliases: The function's own names for tensors and parameters, each with the operator's.
        names: The names it takes, where no signature says so (a ufunc).
    """

    function: Callable[..., Any]
    what: str
    targets: tuple[str, ...] = ()
    inplace: tuple[str, ...] = ()
    when: Callable[[Any], bool] | None = None
    accumulate: bool = False
    traced: Callable[..., Any] | None = None
    aliases: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()

    def counts_for(self, prop: Any) -> bool:
        """Return whether the function counts for these parameters."""
        return self.when is None or bool(call_declared(f"`when` of {self.what}", self.when, prop))

    def renamed(self, old: str, new: str) -> Declared:
        """The same for an operator that is now called `new`."""
        return self._replace(what=f"{new}{self.what.removeprefix(old)}")

    def public_names(self) -> list[str]:
        """Names that the function takes, spelled as the operator spells them."""
        aliases = dict(self.aliases)
        return [aliases.get(name, name) for name in self.names or names_of(self.function, self.what)]


@final
class Bound:
    """A declared function whose names have been found.

    Attributes:
        function: What to call.
        slots: Where each of its values stands.
        filled: Positions of the targets that it fills; `returned` are the slots of those it returns.
        reads: The arrays of a backward pass that it reads.
        inplace: Pairs (entry read, position of a target) that may share memory; in forward, the entry's
            kind is always `in_data`.
        targets: Positions of all that it computes.
        positions: For each group of a call's values, positions of its arrays; see `FunctionRunner`.
        is_direct: Whether it can be called with inputs and outputs alone: it takes none of the words that
            differ between runs, and fills everything or returns the one output.
    """

    __slots__ = (
        "accumulate", "filled", "function", "inplace", "is_direct", "positions", "reads", "returned", "slots",
        "targets", "what",
    )  # fmt: skip

    def __init__(
        self, declared: Declared, names: Mapping[str, Slot], targets: Mapping[str, Slot], computes_all: bool
    ) -> None:
        """Find the names.

        Args:
            names: Every name that can be taken.
            targets: The targets in declared order.
            computes_all: Whether it computes all of them, as forward does; a gradient computes those that
                it names, or is declared for, and all where there are none.
        """
        aliases = dict(declared.aliases)
        own = declared.public_names()
        self.function = _OUT_BY_NAME.get(declared.function, declared.function)
        self.what = declared.what
        self.positions: dict[Any, Any] = {}
        self.accumulate = declared.accumulate
        for name in own:
            if name not in names:
                raise unknown_name(declared.what, name, names)
        self.slots = [names[name] for name in own]
        named = [name for name in own if _is_target(name, names, targets)]
        computed = [aliases.get(name, name) for name in declared.targets] or named
        computed = list(targets) if computes_all or not computed else computed
        for name in computed:
            if not _is_target(name, names, targets):
                raise unknown_name(declared.what, name, targets, "computes")
        order = {name: position for position, name in enumerate(targets)}
        computed = sorted({*computed, *named}, key=lambda name: order.get(name, -1))
        self.filled = _positions(names[name] for name in named)
        self.returned = tuple(names[name] for name in computed if name not in named)
        self.targets = _positions(names[name] for name in computed)
        self.reads = frozenset(
            BackwardEntry(slot.group, position)
            for slot in self.slots
            if slot.group in (IN_DATA, OUT_DATA, OUT_GRAD)
            for position in slot.positions
        )
        takes_no_word = all(slot.group != EXTRA or min(slot.positions) >= len(WORDS) for slot in self.slots)
        returns_one = not self.filled and self.returned == (Slot(OUT_DATA, 0),)
        self.is_direct = takes_no_word and not declared.accumulate and (not self.returned or returns_one)
        self.inplace = [
            pair for text in declared.inplace for pair in self._pairs(text, names, targets, computed)
        ]
        if named and not self.returned:
            _check_fills(
                declared, [name for name, slot in zip(own, self.slots, strict=True) if name in named]
            )

    def fitted(self, in_shapes: Sequence[Shape], in_types: Sequence[DType]) -> Bound:
        """Same function, specialised for arrays of these shapes and types if it offers that."""
        fit = getattr(self.function, "fitted", None)
        return self if fit is None else self.called(fit(in_shapes, in_types))

    def called(self, function: Callable[..., Any]) -> Bound:
        """The same, of another function with the same names."""
        made = copy(self)
        made.function = function
        return made

    @property
    def method(self) -> Callable[..., Any] | None:
        """The function of the class, where it is a method of an instance."""
        return getattr(self.function, "__func__", None)

    def _pairs(
        self, text: str, names: Mapping[str, Slot], targets: Mapping[str, Slot], computed: Sequence[str]
    ) -> list[tuple[BackwardEntry, int]]:
        read, arrow, target = (part.strip() for part in text.partition(ARROW))
        if not arrow:
            if len(computed) != 1:
                raise DeclarationError(
                    f"inplace of {self.what}: {text!r} names no target, expected '{ARROW}' and one of "
                    f"{', '.join(computed)}"
                )
            target = computed[0]
        for name in (read, target):
            if name not in names:
                raise unknown_name(f"inplace of {self.what}", name, names)
        source, written = names[read], names[target]
        if ABSENT in (source, written):
            return []
        are_alike = isinstance(written.position, int) == isinstance(source.position, int)
        are_as_many = len(source.positions) == len(written.positions)
        if not (are_alike and are_as_many and _is_target(target, names, targets)):
            raise DeclarationError(
                f"inplace of {self.what}: {text!r}, expected an array it reads and a target, or two groups"
            )
        entries = [BackwardEntry(source.group, index) for index in source.positions]
        return list(zip(entries, written.positions, strict=True))


def _positions(slots: Iterable[Slot]) -> tuple[int, ...]:
    return tuple(position for slot in slots if slot is not ABSENT for position in slot.positions)


def _is_target(name: str, names: Mapping[str, Slot], targets: Mapping[str, Slot]) -> bool:
    if name in targets:
        return True
    slot = names.get(name)
    groups = {target.group for target in targets.values()} - {EXTRA}
    return slot is not None and slot.group in groups


@lru_cache(maxsize=4096)
def names_of(function: Callable[..., Any], what: str) -> tuple[str, ...]:
    """Names that a function takes, in order, without those that a `partial` fixes.

    Raises:
        DeclarationError: It takes `*args`, `**kwargs` or a keyword-only name.
    """
    given = function.keywords if isinstance(function, partial) else {}
    signature = inspect.signature(function).parameters
    parameters = {name: parameter for name, parameter in signature.items() if name not in given}
    for name, parameter in parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            raise DeclarationError(
                f"{what} takes '{parameter}'; name every value, expected no star before {name}"
            )
    return tuple(parameters)


def split_pairs(text: str | Sequence[str]) -> tuple[str, ...]:
    """The pairs of an `inplace` declaration: `"a -> b, c -> d"`, or a sequence of such."""
    parts = text.split(",") if isinstance(text, str) else text
    return tuple(part.strip() for part in parts if part.strip())


def _check_fills(declared: Declared, filled: Sequence[str]) -> None:
    """Refuse a function that fills its targets by name and also returns another value."""
    code = getattr(declared.function, "__code__", None)
    if code is None or not _returns_a_value(declared.function):
        return
    try:
        tree = parse_source(textwrap.dedent(inspect.getsource(declared.function)))
    except (OSError, SyntaxError):  # no source to read, or a lambda inside an expression
        return
    function = next((node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)), None)
    aliases = dict(declared.aliases)
    for node in ast.walk(function) if function is not None else ():
        if not isinstance(node, ast.Return) or node.value is None:
            continue
        if isinstance(node.value, ast.Constant) and node.value.value is None:
            continue
        mentioned = {aliases.get(n.id, n.id) for n in ast.walk(node.value) if isinstance(n, ast.Name)}
        if not mentioned & set(filled) and not _in_inner_function(function, node):
            raise DeclarationError(
                f"{declared.what} takes {', '.join(filled)} to fill and returns "
                f"{ast.unparse(node.value)!r}, which would be lost; fill what it takes, or do not take it"
            )


def _returns_a_value(function: Callable[..., Any]) -> bool:
    """Return whether some return statement gives a value other than None."""
    before: Any = None
    for instruction in dis.get_instructions(function):
        if instruction.opname == "RETURN_VALUE" and not (
            before is not None and before.opname == "LOAD_CONST" and before.argval is None
        ):
            return True
        if instruction.opname == "RETURN_CONST" and instruction.argval is not None:
            return True
        before = instruction
    return False


def _in_inner_function(function: ast.AST | None, node: ast.Return) -> bool:
    inner = (f for f in ast.walk(function) if f is not function) if function is not None else ()
    functions = (f for f in inner if isinstance(f, (ast.FunctionDef, ast.Lambda)))
    return any(node in ast.walk(f) for f in functions)


def unknown_name(what: str, name: str, known: Collection[str], does: str = "takes") -> DeclarationError:
    """Error for a name that a function takes or returns (`does`) and the operator does not have."""
    close = difflib.get_close_matches(name, known, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"expected names among {', '.join(known)}"
    return DeclarationError(f"{what} {does} {name!r}, which this operator does not have; {advice}")
