"""Lengths of axes in a trace for forms.

A form is to hold for all lengths but 1, so a function may compute with lengths and may not decide by them.
What a signature knows is answered: which axes have length 1, and which are as long as one another.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, final

from operad_sdk.differentiate.errors import refusal

told_apart: Final[ContextVar[list[str]]] = ContextVar("told_apart")
"""Notes of a trace in which lengths that differ were distinguished, or became what is not followed: where
they are equal, it may not hold."""


class Length(int):
    """Number computed from lengths of axes; no decision may depend on it."""

    __slots__ = ()

    def _compared(self, other: Any, name: str) -> Any:
        raise refusal("the function decides by the lengths of axes, and a form is to hold for all of them")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (int, float)) and bool(self._compared(other, "__eq__"))

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, (int, float)) or bool(self._compared(other, "__ne__"))

    def __lt__(self, other: Any) -> bool:
        return bool(self._compared(other, "__lt__"))

    def __le__(self, other: Any) -> bool:
        return bool(self._compared(other, "__le__"))

    def __gt__(self, other: Any) -> bool:
        return bool(self._compared(other, "__gt__"))

    def __ge__(self, other: Any) -> bool:
        return bool(self._compared(other, "__ge__"))

    def __bool__(self) -> bool:
        return self != 0

    # Never the hash of an equal int: no key of a cache is compared with it.
    def __hash__(self) -> int:
        return hash((Length, int.__int__(self)))

    def __add__(self, other: Any) -> Any:
        return _derived(int.__add__(self, other))

    def __sub__(self, other: Any) -> Any:
        if type(other) is int and other == 0:  # as numpy.arange asks
            return self
        return _derived(int.__sub__(self, other))

    def __rsub__(self, other: Any) -> Any:
        return _derived(int.__rsub__(self, other))

    def __mul__(self, other: Any) -> Any:
        return _derived(int.__mul__(self, other))

    def __floordiv__(self, other: Any) -> Any:
        return _derived(int.__floordiv__(self, other))

    def __mod__(self, other: Any) -> Any:
        return _derived(int.__mod__(self, other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other


def note_apart(what: str) -> None:
    """Note that a length was told from another, or became a number that is not followed."""
    if (notes := told_apart.get(None)) is not None:
        notes.append(what)


def _noted(name: str) -> Any:
    """A method of integers that makes of a length what is not followed."""
    own = getattr(int, name)

    def method(self: Length, *args: Any) -> Any:
        note_apart(name)
        return own(self, *args)

    return method


for _name in (
    "__truediv__", "__rtruediv__", "__float__", "__pow__", "__rpow__", "__neg__", "__abs__", "__invert__",
    "__divmod__", "__rdivmod__", "__rfloordiv__", "__rmod__", "__and__", "__rand__", "__or__", "__ror__",
    "__xor__", "__rxor__", "__lshift__", "__rlshift__", "__rshift__", "__rrshift__", "__round__", "__trunc__",
    "__floor__", "__ceil__", "__repr__", "__str__", "__format__", "bit_length", "bit_count", "to_bytes",
    "as_integer_ratio",
):  # fmt: skip
    setattr(Length, _name, _noted(_name))


def _derived(number: Any) -> Any:
    return Length(number) if isinstance(number, int) else number


class Size(Length):
    """Product of lengths, of which is known whether it is above 1."""

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        is_size = type(other) is int or isinstance(other, Size)
        if is_size and int.__gt__(other, 0):
            return Size(int.__mul__(self, other))
        return super().__mul__(other)

    def _compared(self, other: Any, name: str) -> Any:
        if int.__le__(self, 1) or (type(other) is int and _is_same_above_one(name, other)):
            return getattr(int, name)(self, other)
        return super()._compared(other, name)


@final
class AxisLength(Size):
    """Length of one axis, which can also be compared with the length of another axis."""

    __slots__ = ()

    def __int__(self) -> int:
        note_apart("int")
        return super().__int__()

    def _compared(self, other: Any, name: str) -> Any:
        if isinstance(other, AxisLength):
            one, two = int.__int__(self), int.__int__(other)
            if one != two and 1 not in (one, two):
                note_apart(name)
            if name in ("__eq__", "__ne__") or one == two or 1 in (one, two):
                return getattr(int, name)(one, two)
        return super()._compared(other, name)


def _is_same_above_one(name: str, number: int) -> bool:
    """Return whether a comparison with `number` has the same result for all lengths above 1."""
    return number <= (2 if name in ("__ge__", "__lt__") else 1)
