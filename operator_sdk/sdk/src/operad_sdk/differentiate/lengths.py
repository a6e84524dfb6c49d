"""Lengths of axes in a trace for forms.

A form is to hold for all lengths but 1, so a function may compute with lengths and may not decide by them.
What a signature knows is answered: which axes have length 1, and which are as long as one another.
"""

from __future__ import annotations

from typing import Any, final

from operad_sdk.differentiate.errors import refusal


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
        return hash((Length, int(self)))

    def __add__(self, other: Any) -> Any:
        return _derived(int(self).__add__(other))

    def __sub__(self, other: Any) -> Any:
        if type(other) is int and other == 0:  # as numpy.arange asks
            return self
        return _derived(int(self).__sub__(other))

    def __rsub__(self, other: Any) -> Any:
        return _derived(int(self).__rsub__(other))

    def __mul__(self, other: Any) -> Any:
        return _derived(int(self).__mul__(other))

    def __floordiv__(self, other: Any) -> Any:
        return _derived(int(self).__floordiv__(other))

    def __mod__(self, other: Any) -> Any:
        return _derived(int(self).__mod__(other))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __rmul__(self, other: Any) -> Any:
        return self * other


def _derived(number: Any) -> Any:
    return Length(number) if isinstance(number, int) else number


class Size(Length):
    """Product of lengths, of which is known whether it is above 1."""

    __slots__ = ()

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, int) and int(other) > 0 and (type(other) is int or isinstance(other, Size)):
            return Size(int(self) * int(other))
        return super().__mul__(other)

    def _compared(self, other: Any, name: str) -> Any:
        if int(self) <= 1 or (type(other) is int and _is_same_above_one(name, other)):
            return getattr(int, name)(int(self), other)
        return super()._compared(other, name)


@final
class AxisLength(Size):
    """Length of one axis, which can also be compared with the length of another axis."""

    __slots__ = ()

    def _compared(self, other: Any, name: str) -> Any:
        if isinstance(other, AxisLength):
            one, two = int(self), int(other)
            if name in ("__eq__", "__ne__") or one == two or 1 in (one, two):
                return getattr(int, name)(one, two)
        return super()._compared(other, name)


def _is_same_above_one(name: str, number: int) -> bool:
    """Return whether a comparison with `number` has the same result for all lengths above 1."""
    return number <= (2 if name in ("__ge__", "__lt__") else 1)
