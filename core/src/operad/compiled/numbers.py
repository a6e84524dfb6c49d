"""Floats that are arguments of a compiled function: values of a run, where it only computes with them.

A traced number knows how it was computed. Where it meets an array of floats in arithmetic or a comparison, it
becomes an array of one element, which is filled before each run. Anything else that asks for its value (a
branch, `math.sqrt`, a parameter of an operator) gets it, and the function is traced again for other values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

_ARITHMETIC: Final = ("add", "sub", "mul", "truediv")
_ASKING: Final = (
    "abs bool ceil eq float floor floordiv format ge gt hash index int le lt mod ne pow repr rfloordiv rmod "
    "round rpow str trunc"
)
AS_ARRAYS: Final = (
    "_plus_scalar", "_minus_scalar", "_rminus_scalar", "_mul_scalar", "_div_scalar", "_rdiv_scalar",
    "_greater_scalar", "_greater_equal_scalar", "_lesser_scalar", "_lesser_equal_scalar",
)  # fmt: skip
"""Operators of an array and a number that give the bits of the operator of two arrays."""

Compute = Callable[[Sequence[float]], float]


@final
class TracedNumber:
    """A float of a traced function.

    Attributes:
        value: Its value in the call that is traced.
        compute: Gives its value from the floats among the arguments.
        sources: Positions of the floats that it depends on.
        asked: Takes those whose values the function looked at.
    """

    __slots__ = ("asked", "compute", "sources", "value")

    def __init__(self, value: float, compute: Compute, sources: frozenset[int], asked: set[int]) -> None:
        self.value, self.compute, self.sources, self.asked = value, compute, sources, asked

    __class__: Any = property(lambda _: float)  # programs ask whether it is one

    def __neg__(self) -> Any:
        return operator.mul(self, -1.0)

    def __array__(self, *_: Any, **__: Any) -> Any:
        return np.array(self.ask())

    def ask(self) -> float:
        """The value, which the trace depends on from now on."""
        self.asked.update(self.sources)
        return self.value


def _arithmetic(function: Callable[[Any, Any], Any], is_reflected: bool) -> Callable[..., Any]:
    def method(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        number: Any = other
        if type(number) is not TracedNumber:
            number = TracedNumber(other, lambda _: other, frozenset(), self.asked)
        one, two = (number, self) if is_reflected else (self, number)
        value, sources = function(one.value, two.value), one.sources | two.sources
        compute = lambda floats: function(one.compute(floats), two.compute(floats))  # noqa: E731
        return TracedNumber(value, compute, sources, self.asked)

    return method


def _asking(name: str) -> Callable[..., Any]:
    def method(self: TracedNumber, *args: Any) -> Any:
        plain = [one.ask() if type(one) is TracedNumber else one for one in args]
        return getattr(self.ask(), name)(*plain)

    return method


for _name in _ARITHMETIC:
    setattr(TracedNumber, f"__{_name}__", _arithmetic(getattr(operator, _name), is_reflected=False))
    setattr(TracedNumber, f"__r{_name}__", _arithmetic(getattr(operator, _name), is_reflected=True))
for _name in _ASKING.split():
    setattr(TracedNumber, f"__{_name}__", _asking(f"__{_name}__"))
