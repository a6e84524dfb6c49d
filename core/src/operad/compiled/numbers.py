"""Floats that are arguments of a compiled function: values of a run, where the function only computes with them.

A traced number knows how it was computed. Where it meets an array of floats in arithmetic or a comparison, it
becomes an array of one element, which is filled before each run. Anything else that asks for its value (a
branch, `math.sqrt`, a parameter of an operator) gets it, and the function is traced anew for other values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, final

from operad.imperative import ArraySpec
from operad.ndarray import NDArray

_ARITHMETIC: Final = ("add", "sub", "mul", "truediv")
_ASKING: Final = (
    "bool", "float", "int", "index", "hash", "repr", "str", "round", "trunc", "floor", "ceil", "format",
    "eq", "ne", "lt", "le", "gt", "ge", "pow", "rpow", "mod", "rmod", "floordiv", "rfloordiv", "abs",
)  # fmt: skip
AS_ARRAYS: Final = frozenset((
    "_plus_scalar", "_minus_scalar", "_rminus_scalar", "_mul_scalar", "_div_scalar", "_rdiv_scalar",
    "_greater_scalar", "_greater_equal_scalar", "_lesser_scalar", "_lesser_equal_scalar",
))  # fmt: skip
"""Operators of an array and a number whose bits are those of the operator of two arrays."""


@final
class TracedNumber:
    """A float of a traced function.

    Attributes:
        value: Its value in the call that is traced.
        compute: Gives its value from the floats among the arguments.
        sources: Numbers of the arguments that it depends on.
        asked: Takes those whose values the function looked at.
    """

    __slots__ = ("asked", "compute", "sources", "value")

    def __init__(
        self,
        value: float,
        compute: Callable[[Sequence[float]], float],
        sources: frozenset[int],
        asked: set[int],
    ) -> None:
        self.value, self.compute, self.sources, self.asked = value, compute, sources, asked

    @property
    def __class__(self) -> type:  # type: ignore[override]  # programs ask whether it is a float
        return float

    def ask(self) -> float:
        """The value, which the trace depends on from now on."""
        self.asked.update(self.sources)
        return self.value

    def __neg__(self) -> Any:
        return self * -1.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ask(), name)


def _constant(value: float, _: Sequence[float]) -> float:
    return value


def _arithmetic(function: Callable[[Any, Any], Any], is_reflected: bool) -> Callable[..., Any]:
    def method(self: TracedNumber, other: Any) -> Any:
        if type(other) is not TracedNumber:
            if not isinstance(other, (int, float)):
                return NotImplemented
            other = TracedNumber(other, partial(_constant, other), frozenset(), self.asked)
        one, two = (other, self) if is_reflected else (self, other)
        return TracedNumber(
            function(one.value, two.value),
            lambda floats: function(one.compute(floats), two.compute(floats)),
            one.sources | two.sources,
            self.asked,
        )

    return method


def _asking(name: str) -> Callable[..., Any]:
    def method(self: TracedNumber, *args: Any) -> Any:
        plain = [one.ask() if type(one) is TracedNumber else one for one in args]
        return getattr(self.ask(), name)(*plain)

    return method


@final
class NumberArray(NamedTuple):
    """An array of one element for a number."""

    number: TracedNumber
    spec: ArraySpec

    def made(self, floats: Sequence[float]) -> NDArray:
        """The array for the floats of a call."""
        return NDArray._new(self.spec)._set(self.number.compute(floats))


for _name in _ARITHMETIC:
    for _reflected in (False, True):
        _made = _arithmetic(getattr(operator, _name), _reflected)
        setattr(TracedNumber, f"__{'r' * _reflected}{_name}__", _made)
for _name in _ASKING:
    setattr(TracedNumber, f"__{_name}__", _asking(f"__{_name}__"))
