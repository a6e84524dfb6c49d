"""Numbers inside a trace for forms that may be others in the next call: rates, factors, counts.

What a function computes with such numbers alone, Python computes in every call, in double precision; a trace
notes how. Where a number meets an array it is rounded to the array's type, as NumPy rounds a Python number,
and is an input of the form, of one element. Where the function decides by a number, it goes the way that this
call goes, and the trace notes what was asked: the form is that of calls that answer alike, whatever else
their numbers are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, final

import numpy as np

from operad_sdk.differentiate.errors import TraceError


@final
class NumberTrace:
    """Notes of what one call does with its numbers.

    Attributes:
        questions: What the function decided by, as Python's text, and each answer.
        inputs: By text, what numbers that met arrays were made in the trace.
        functions: The functions of NumPy that the texts name.

    Args:
        input_of: Makes an array of the trace of a number.
    """

    def __init__(self, input_of: Callable[[float], Any]) -> None:
        self.questions: Final[list[tuple[str, bool]]] = []
        self.inputs: Final[dict[str, Any]] = {}
        self.functions: Final[dict[str, np.ufunc]] = {}
        self._input_of = input_of

    def input(self, number: CallNumber) -> Any:
        """The array of one element that a number is where it meets arrays."""
        if number.text not in self.inputs:
            self.inputs[number.text] = self._input_of(number.value)
        return self.inputs[number.text]


class CallNumber:
    """A number of the call, or one computed from such.

    Attributes:
        trace: Where it is noted.
        text: What computes it from the numbers of a call.
        value: What it is in this one.
    """

    __slots__ = ("text", "trace", "value")
    __hash__ = None  # type: ignore[assignment]  # two may be equal in one call alone

    def __init__(self, trace: NumberTrace, text: str, value: Any) -> None:
        self.trace = trace
        self.text = text
        self.value = value

    def __bool__(self) -> bool:
        answer = bool(self.value)
        self.trace.questions.append((self.text, answer))
        return answer

    def as_input(self) -> Any:
        """The array that stands for it where it meets arrays."""
        return self.trace.input(self)

    def item(self) -> CallNumber:
        """The number, as NumPy's have it."""
        return self

    def __neg__(self) -> CallNumber:
        return CallNumber(self.trace, f"(-{self.text})", -self.value)

    def __abs__(self) -> CallNumber:
        return CallNumber(self.trace, f"abs({self.text})", abs(self.value))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or options or not all(isinstance(x, _NUMBERS) for x in given):
            return NotImplemented  # an array of the trace takes it
        self.trace.functions[ufunc.__name__] = ufunc
        text = f"{ufunc.__name__}({', '.join(map(_text, given))}).item()"
        return CallNumber(self.trace, text, ufunc(*map(_value, given)).item())

    def __float__(self) -> NoReturn:
        raise TraceError("the function makes a Python number of one that changes; use functions of NumPy")

    __int__ = __index__ = __float__

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        raise TraceError("the function makes an array of a number that changes")


_NUMBERS: Final = (int, float, CallNumber)


def _text(number: Any) -> str:
    if isinstance(number, CallNumber):
        return number.text
    return repr(number) if isinstance(number, int) else f"float({str(float(number))!r})"


def _value(number: Any) -> Any:
    return number.value if isinstance(number, CallNumber) else number


def _binary(sign: str, compute: Callable[[Any, Any], Any], *, is_reflected: bool = False) -> Any:
    def method(self: CallNumber, other: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        pair: Sequence[Any] = (other, self) if is_reflected else (self, other)
        text = f"({_text(pair[0])} {sign} {_text(pair[1])})"
        return CallNumber(self.trace, text, compute(*map(_value, pair)))

    return method


for _name, _sign in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}.items():  # fmt: skip
    _compute = getattr(operator, _name)
    setattr(CallNumber, f"__{_name}__", _binary(_sign, _compute))
    if _name in ("add", "sub", "mul", "truediv", "pow"):
        setattr(CallNumber, f"__r{_name}__", _binary(_sign, _compute, is_reflected=True))
