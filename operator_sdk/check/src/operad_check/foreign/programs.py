"""Programs that show a finding in the words of a library alone, at most ten lines long.

A check says in words what it found. A program that shows it is chosen, not written by the check: for each
check there are a few forms, and the first one that fails on the case is the program. The last form of all
only prints what the function gives.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Final, final

import numpy as np

from operad_check.trials.case import Array, Case

_STEP: Final = "2.0**-16"
"""Distance of differences in programs: a part of 1e-5, exact in float64."""
_ROUNDINGS: Final = 256
"""Roundings of a type by which a program lets results differ."""
_MOST_LINES: Final = 10
"""Lines of a program, that with the message included, above which the arguments share one."""


class Syntax(ABC):
    """Words in which a library writes what programs need.

    Attributes:
        head: Imports of every program.
        copy: Copies an array, which the braces name; "": arrays never change.
        views: Views of an array with other strides.
        repeats: Views in which one element, row or column is repeated.
        forms: Lines of the library's own that may show what a check found, by its id, with `{arguments}`.
    """

    head: ClassVar[tuple[str, ...]]
    copy: ClassVar[str] = ""
    views: ClassVar[tuple[str, ...]] = ()
    repeats: ClassVar[tuple[str, ...]] = ()
    forms: ClassVar[Mapping[str, tuple[str, ...]]] = {}

    @abstractmethod
    def array(self, array: Array) -> str:
        """Expression of an array."""

    @abstractmethod
    def gradient(self, floating: Sequence[bool]) -> list[str]:
        """Lines that define `grad(arguments..., head=...)`, a tuple; empty where `f` has no gradient.

        Args:
            floating: Of each argument, whether its elements are.
        """

    @abstractmethod
    def cast(self, name: str, dtype: str) -> str:
        """Expression of an array in another type."""

    @abstractmethod
    def close(self, found: str, expected: str, tolerance: str) -> str:
        """Line that raises where arrays differ by more than a distance; NaN equals NaN."""

    @abstractmethod
    def put(self, name: str, place: tuple[int, ...], value: str) -> str:
        """Line that sets one element."""

    @abstractmethod
    def element(self, name: str, number: int) -> str:
        """Expression of an array of flags like another, of which one element counts."""

    @abstractmethod
    def call(self, function: str, argument: str) -> str:
        """Call of a function of the library: `isnan`, `isfinite`, `ones_like`, `zeros_like`."""


class NumpyLike(Syntax):
    """Words that NumPy and libraries after its model share.

    Attributes:
        module: Name of the module of array functions.
    """

    module: ClassVar[str] = "np"

    def array(self, array: Array) -> str:
        """NumPy's expression."""
        dtype, module = array.dtype.name, self.module
        return (
            f"{module}.array({array.tolist()!r}, {dtype!r})"
            if array.size
            else f"{module}.zeros({array.shape}, {dtype!r})"
        )

    def cast(self, name: str, dtype: str) -> str:
        """`astype`."""
        return f"{name}.astype({dtype!r})"

    def close(self, found: str, expected: str, tolerance: str) -> str:
        """`assert_allclose`."""
        return f"np.testing.assert_allclose({found}, {expected}, rtol=0, atol={tolerance})"

    def put(self, name: str, place: tuple[int, ...], value: str) -> str:
        """An assignment."""
        return f"{name}[{place}] = {value}"

    def element(self, name: str, number: int) -> str:
        """The element's number among all, compared."""
        return f"{self.module}.arange({name}.size).reshape({name}.shape) == {number}"

    def call(self, function: str, argument: str) -> str:
        """A function of the module."""
        return f"{self.module}.{function}({argument})"


@final
@dataclass(frozen=True, slots=True)
class Shown:
    """A finding that programs are to show.

    Attributes:
        syntax: The library's words.
        lines: Imports and definitions that the expression needs.
        expression: Call of the function, which gives one array.
        check_id: The check.
        case: What it failed on.
        message: What it said.
        heads: Gradient of the output, as the check had it; None: not floating.
        expected: Result of the reference; None: there is none.
    """

    syntax: Syntax
    lines: Sequence[str]
    expression: str
    check_id: str
    case: Case
    message: str
    heads: Array | None
    expected: Array | None

    @property
    def names(self) -> list[str]:
        """Names of the arguments."""
        return list(self.case.inputs)

    @property
    def place(self) -> tuple[str, tuple[int, ...]]:
        """Argument that the message speaks of, and element; the first one where it names none."""
        found = re.search(rf"\b({'|'.join(self.names)})\b", self.message)
        name = found[1] if found else self.names[0]
        return name, next(iter(self.places(name)), ())

    def places(self, name: str) -> list[tuple[int, ...]]:
        """Elements of an argument that the message names.

        Where a long axis was cut, the part that is left ends with that element.
        """
        shape = self.case.inputs[name].shape
        found = re.findall(rf"\b{name}\[([\d, ]+)\]", self.message)
        named = [tuple(map(int, text.split(","))) for text in dict.fromkeys(found)]
        return [
            tuple(min(k, n - 1) for k, n in zip(place, shape, strict=True))
            for place in named
            if len(place) == len(shape)
        ]

    def program(self, *body: str, needs_gradient: bool = False) -> str:
        """The program of these last lines."""
        syntax, inputs = self.syntax, self.case.inputs
        arrays = [f"{name} = {syntax.array(inputs[name])}" for name in self.names]
        text = "\n".join([*arrays, *body])
        head = [*syntax.head, *[line for line in self.lines if line not in syntax.head]]
        if re.search(r"\bnp\.", text) and "import numpy as np" not in head:
            head.append("import numpy as np")
        if re.search(r"\b(nan|inf)\b", text):
            head.append("from math import inf, nan")
        head.append(f"f = lambda {', '.join(self.names)}: {self.expression}")
        head += self.gradient() if needs_gradient else []
        comment = f"# {' '.join(self.message.split())[:300]}"
        if len([*head, *arrays, *body, comment]) > _MOST_LINES:
            arrays = [f"{', '.join(self.names)} = {', '.join(map(syntax.array, inputs.values()))}"]
        return "\n".join([*head, *arrays, *body, comment]) + "\n"

    def gradient(self) -> list[str]:
        """Lines that define the gradient, if there is one."""
        return self.syntax.gradient([array.dtype.kind == "f" for array in self.case.inputs.values()])


Form = Callable[[Shown], Iterator[tuple[str, ...]]]


def programs(shown: Shown) -> Iterator[str]:
    """Programs that may show the finding, the likeliest first; the last only prints."""
    arguments = ", ".join(shown.names)
    own = [(form.format(arguments=arguments),) for form in shown.syntax.forms.get(shown.check_id, ())]
    for body in [*own, *_FORMS.get(shown.check_id, _nothing)(shown)]:
        needs_gradient = any("grad(" in line and "autograd" not in line for line in body)
        if not needs_gradient or shown.gradient():
            yield shown.program(*body, needs_gradient=needs_gradient)
    yield shown.program(f"print({_f(shown)})")


def _nothing(shown: Shown) -> Iterator[tuple[str, ...]]:
    yield from ()


def _f(shown: Shown, **others: str) -> str:
    return f"f({', '.join(others.get(name, name) for name in shown.names)})"


def _grad(shown: Shown, head: str, **others: str) -> str:
    return f"grad({', '.join([*[others.get(name, name) for name in shown.names], f'head={head}'])})"


def _heads(shown: Shown) -> list[str]:
    """Gradients of the output: ones, and the check's own."""
    own = [shown.syntax.array(shown.heads)] if shown.heads is not None and shown.heads.size <= 32 else []
    return [shown.syntax.call("ones_like", _f(shown)), *own]


def _raises(shown: Shown) -> Iterator[tuple[str, ...]]:
    yield (f"print({_f(shown)})",)
    yield (f"print({_grad(shown, _heads(shown)[0])})",)


def _unmodified(shown: Shown) -> Iterator[tuple[str, ...]]:
    run = _f(shown) if shown.check_id == "F207" else _grad(shown, _heads(shown)[0])
    for name in shown.names if shown.syntax.copy else ():
        yield f"before = {shown.syntax.copy.format(name)}", run, shown.syntax.close(name, "before", "0")


def _repeatable(shown: Shown) -> Iterator[tuple[str, ...]]:
    yield (shown.syntax.close(_f(shown), _f(shown), "0"),)
    for i, _ in enumerate(shown.names):
        grad = _grad(shown, _heads(shown)[0]) + f"[{i}]"
        yield (shown.syntax.close(grad, grad, "0"),)


def _strides(shown: Shown) -> Iterator[tuple[str, ...]]:
    syntax = shown.syntax
    texts = syntax.repeats if shown.check_id == "M409" else syntax.views
    tolerance = _tolerance(shown)
    for name, text in product(shown.names, texts):
        view, copied = text.format(name), syntax.copy.format("view")
        found, expected = _f(shown, **{name: "view"}), _f(shown, **{name: copied})
        yield f"view = {view}", syntax.close(found, expected, tolerance)
        for head in _heads(shown):
            found, expected = (_grad(shown, head, **{name: each}) for each in ("view", copied))
            for i, _ in enumerate(shown.names):
                yield f"view = {view}", syntax.close(f"{found}[{i}]", f"{expected}[{i}]", tolerance)
    for one, other in product(shown.names, shown.names):
        if one != other and syntax.copy:
            found, expected = _f(shown, **{other: one}), _f(shown, **{other: syntax.copy.format(one)})
            yield (syntax.close(found, expected, tolerance),)


def _nonfinite(shown: Shown) -> Iterator[tuple[str, ...]]:
    name, place = shown.place
    value = "inf" if re.search(r"= -?inf", shown.message) else "nan"
    put = shown.syntax.put(name, place, value)
    yield put, f"assert {shown.syntax.call('isnan', _f(shown))}.any()" if value == "nan" else _f(shown)


def _nonfinite_head(shown: Shown) -> Iterator[tuple[str, ...]]:
    head = f"head = {_heads(shown)[0]}"
    found = re.search(r"\[([\d, ]+)\]", shown.message)
    place = tuple(map(int, found[1].split(","))) if found else ()
    shows = shown.syntax.call("isnan", "g")
    put = shown.syntax.put("head", place, "nan")
    yield head, put, f"assert any({shows}.any() for g in {_grad(shown, 'head')})"


def _reference(shown: Shown) -> Iterator[tuple[str, ...]]:
    if shown.expected is not None:
        wanted = shown.syntax.array(shown.expected)
        yield (shown.syntax.close(_f(shown), wanted, _tolerance(shown)),)


def _finite(shown: Shown) -> Iterator[tuple[str, ...]]:
    yield (f"assert {shown.syntax.call('isfinite', _f(shown))}.all()",)
    for head in _heads(shown):
        finite = shown.syntax.call("isfinite", "g")
        yield (f"assert all({finite}.all() for g in {_grad(shown, head)})",)


def _derivative(shown: Shown) -> Iterator[tuple[str, ...]]:
    """Differences on both sides and the gradient, of elements that the message names, or of all."""
    syntax, (name, _) = shown.syntax, shown.place
    here = _f(shown)
    low, high = (_f(shown, **{name: f"{name} {sign} e"}) for sign in "-+")
    shape = shown.case.inputs[name].shape
    flags = [f"({syntax.element(name, int(np.ravel_multi_index(k, shape)))})" for k in shown.places(name)]
    moved = " | ".join(flags) or syntax.call("ones_like", name)
    moved = f"({moved})" if len(flags) > 1 else moved
    grad = f"{_grad(shown, 'head')}[{shown.names.index(name)}][e != 0].sum()"
    for head in _heads(shown):
        yield (
            f"e, head = {_STEP} * {moved}, {head}",
            f"left, right = ((y * head).sum() / {_STEP} for y in ({here} - {low}, {high} - {here}))",
            f"assert min(left, right) - 1e-3 <= (g := {grad}) <= max(left, right) + 1e-3, (left, g, right)",
        )


def _linear(shown: Shown) -> Iterator[tuple[str, ...]]:
    for head, i in product(_heads(shown), range(len(shown.names))):
        for factor in ("2.0**-20", "2.0**12", "-0.5"):
            found, expected = _grad(shown, f"{factor} * head"), _grad(shown, "head")
            close = shown.syntax.close(
                f"{found}[{i}]", f"{factor} * {expected}[{i}]", f"1e-12 * abs({factor})"
            )
            yield f"head = {head}", close


def _digits(shown: Shown) -> Iterator[tuple[str, ...]]:
    syntax = shown.syntax
    said = re.search(r"\bin (\w*float\d+)", shown.message)
    floating = [name for name, array in shown.case.inputs.items() if array.dtype.kind == "f"]
    dtype = said[1] if said else "float32"
    narrow = [syntax.cast(name, dtype) for name in floating]
    wide = {name: syntax.cast(name, "float64") for name in floating}
    tolerance = _allowed(shown) or _tolerance(shown)
    if shown.check_id in ("D602", "L908"):
        close = syntax.close(syntax.cast(_f(shown), "float64"), _f(shown, **wide), tolerance)
        yield f"{', '.join(floating)} = {', '.join(narrow)}", close
        return
    for head, i in product(_heads(shown), range(len(shown.names))):
        found = syntax.cast(_grad(shown, "head") + f"[{i}]", "float64")
        expected = _grad(shown, syntax.cast("head", "float64"), **wide) + f"[{i}]"
        casts = ", ".join([*narrow, syntax.cast(head, dtype)])
        yield f"{', '.join([*floating, 'head'])} = {casts}", syntax.close(found, expected, tolerance)


def _allowed(shown: Shown) -> str:
    """Distance that the check allows, as it said; "" if it said none."""
    found = re.search(r"allowed ([\d.e+-]+)", shown.message)
    return found[1] if found else ""


def _tolerance(shown: Shown) -> str:
    types = [array.dtype for array in shown.case.inputs.values() if array.dtype.kind == "f"]
    return repr(_ROUNDINGS * max([float(np.finfo(dtype).eps) for dtype in types], default=0.0))


_FORMS: Final[dict[str, Form]] = {
    "F201": _raises, "F202": _raises, "F210": _raises, "D601": _raises, "B306": _raises,
    "F207": _unmodified, "B309": _unmodified, "F209": _repeatable, "B310": _repeatable,
    "F211": _strides, "M409": _strides, "F212": _nonfinite, "B311": _nonfinite_head,
    "F213": _reference, "F219": _finite, "B301": _derivative, "B302": _derivative, "B313": _derivative,
    "B303": _linear, "D602": _digits, "D603": _digits,
    "L908": _digits, "L909": _digits,
}  # fmt: skip
