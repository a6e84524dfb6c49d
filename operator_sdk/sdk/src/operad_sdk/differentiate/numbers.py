"""Numbers inside a trace for forms that may be others in the next call: rates, factors, counts.

What a function computes with such numbers alone, Python computes in every call, in double precision; a trace
notes how. Where a number meets an array it becomes an input of the form, of one element: in the type to which
NumPy converts it there, which is the array's for a number of Python's, and a common one for one of NumPy's.
Where the function decides by a number, it goes the way that this call goes, and the trace notes what was
asked: the form is that of calls that answer alike, whatever else their numbers are.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NoReturn, final

import numpy as np

from operad.dtypes import DType
from operad_sdk.differentiate.errors import refusal
from operad_sdk.differentiate.lengths import Length


@final
class NumberTrace:
    """Notes of what one call does with its numbers.

    Attributes:
        questions: What the function decided by, as Python's text, and each answer.
        inputs: By text and type, what numbers that met arrays were made in the trace.
        known: The functions and numbers of NumPy that the texts name.

    Args:
        input_of: Makes an array of the trace of a number, in a type.
        dtype: The type of all of them; None: where each meets arrays says which.
    """

    def __init__(self, input_of: Callable[[Any, DType], Any], dtype: DType | None = None) -> None:
        self.questions: Final[list[tuple[str, bool]]] = []
        self.inputs: Final[dict[tuple[str, DType], Any]] = {}
        self.known: Final[dict[str, Any]] = {}
        self._input_of = input_of
        self._dtype = dtype

    def input(self, number: CallNumber, dtype: DType) -> Any:
        """The array of one element that a number is where it meets arrays that compute in a type."""
        dtype = self._dtype or dtype
        if dtype.kind in "iu" and type(number.value) is int:
            raise refusal("an integer that changes meets arrays of integers, which may not hold it")
        key = (number.text, dtype)
        if key not in self.inputs:
            self.inputs[key] = self._input_of(number.value, dtype)
        return self.inputs[key]


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

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """Class of the number, for functions that ask whether it is one."""
        return type(self.value)

    def __bool__(self) -> bool:
        answer = bool(self.value)
        self.trace.questions.append((self.text, answer))
        return answer

    def item(self) -> CallNumber:
        """The number as one of Python's, as NumPy's have it."""
        return CallNumber(self.trace, f"{self.text}.item()", self.value.item())

    def __neg__(self) -> CallNumber:
        return CallNumber(self.trace, f"(-{self.text})", -self.value)

    def __abs__(self) -> CallNumber:
        return CallNumber(self.trace, f"abs({self.text})", abs(self.value))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        if method != "__call__" or options or not all(map(_is_number, given)):
            return NotImplemented  # an array of the trace takes it
        self.trace.known[ufunc.__name__] = ufunc
        text = f"{ufunc.__name__}({', '.join(self._text(one) for one in given)})"
        return CallNumber(self.trace, text, ufunc(*map(_value, given)))

    def _text(self, number: Any) -> str:
        if type(number) is CallNumber:
            return number.text
        if isinstance(number, Length):
            raise refusal("a number that changes meets lengths of axes, which a form is to hold for")
        if isinstance(number, np.generic):
            name = f"{number.dtype.name}_{number.tobytes().hex()}"
            self.trace.known[name] = number
            return name
        return repr(number) if isinstance(number, int) else f"float({str(float(number))!r})"

    def __float__(self) -> NoReturn:
        raise refusal("the function makes a Python number of one that changes; use functions of NumPy")

    __int__ = __index__ = __float__

    def __format__(self, spec: str = "") -> NoReturn:
        raise refusal("the function makes a text of a number that changes")

    __str__ = __format__

    def __array__(self, *args: Any, **options: Any) -> NoReturn:
        raise refusal("the function makes an array of a number that changes")


def text_of(name: str) -> str:
    """Name of a parameter in texts, where functions have their own, and `lambda` is a word of Python."""
    return f"{name}_"


def _is_number(value: Any) -> bool:
    return type(value) is CallNumber or isinstance(value, (int, float, np.number, np.bool_))


def _value(number: Any) -> Any:
    return number.value if type(number) is CallNumber else number


def as_inputs(function: Any, args: Sequence[Any], *, is_mapper: bool) -> Sequence[Any]:
    """Arguments of a function, in which numbers that change are arrays as NumPy converts them there.

    Args:
        is_mapper: Whether it computes in one type, that of the arrays.
    """
    if not any(type(arg) is CallNumber for arg in args):
        return args
    types = [_type_of(arg) for arg in args]
    found: Sequence[DType]
    if isinstance(function, np.ufunc):
        found = function.resolve_dtypes((*types, *[None] * function.nout))
    elif is_mapper:
        found = [_common(types)] * len(types)
    elif function is np.where:
        found = [np.dtype(bool), *[_common(types[1:])] * 2]
    else:
        raise refusal(f"numpy.{getattr(function, '__name__', function)} takes a number that changes")
    return [
        arg.trace.input(arg, dtype) if type(arg) is CallNumber else arg
        for arg, dtype in zip(args, found, strict=False)
    ]


def _type_of(arg: Any) -> Any:
    """Type by which NumPy decides: `int` and `float` stand for numbers of Python's."""
    value = _value(arg)
    if type(value) in (int, float) or isinstance(value, Length):
        return float if isinstance(value, float) else int
    return value.dtype if hasattr(value, "dtype") else np.asarray(value).dtype


def _common(types: Sequence[Any]) -> DType:
    # A type of NumPy may equal one of Python's, and is another.
    return np.result_type(*[one() if one is int or one is float else one for one in types])


def _binary(sign: str, compute: Callable[[Any, Any], Any], *, is_reflected: bool = False) -> Any:
    def method(self: CallNumber, other: Any) -> Any:
        if not _is_number(other):
            return NotImplemented
        pair: Sequence[Any] = (other, self) if is_reflected else (self, other)
        text = f"({self._text(pair[0])} {sign} {self._text(pair[1])})"
        return CallNumber(self.trace, text, compute(*map(_value, pair)))

    return method


for _name, _sign in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}.items():  # fmt: skip
    _compute = getattr(operator, _name)
    setattr(CallNumber, f"__{_name}__", _binary(_sign, _compute))
    if _name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(CallNumber, f"__r{_name}__", _binary(_sign, _compute, is_reflected=True))
