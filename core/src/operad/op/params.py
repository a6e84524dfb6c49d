"""Typed operator parameters.

A parameter is declared once, as a class attribute of a property::

    class FullyConnected(OperatorProperty):
        num_hidden = param(int, ge=1, doc="Size of the output's last axis.")
        no_bias = param(bool, False, doc="Leave the bias out.")

From the declaration come validation, defaults, documentation, and both directions of MXNet's string
form (`"(3, 3)"`, `"True"`), which JSON files carry. Conversion and bounds are msgspec's; it is
imported when the first parameter is validated, so that importing operad stays cheap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, Literal, ParamSpec, final

import numpy as np

from operad.dtypes import as_dtype
from operad.errors import DTypeError, ParamError, suggestion
from operad.first_use import import_module, parse_source

REQUIRED: Final = object()
"""Default of a parameter that every call must give."""

P = ParamSpec("P")
Shape = tuple[int, ...]
ParamType = type | Literal["shape", "indices", "floats", "dtype"]

_INTEGER_TYPES: Final = (int, "shape", "indices")
_TUPLE_TYPES: Final = ("shape", "indices", "floats")
_SIGNS: Final = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}
_TYPE_WORDS: Final = {
    "shape": "tuple of int",
    "indices": "tuple of int or None",
    "floats": "tuple of float",
    "dtype": "element type",
}


@final
class Param:
    """One declared parameter; made by `param`."""

    def __init__(
        self,
        type: ParamType,
        default: Any = REQUIRED,
        *,
        ge: float | None = None,
        gt: float | None = None,
        le: float | None = None,
        lt: float | None = None,
        choices: tuple[Any, ...] | None = None,
        doc: str = "",
        per: str = "",
        fill: Any = None,
        ignored: str = "",
        run_time: bool = False,
        optional: bool = False,
    ) -> None:
        """Declare a parameter as a class attribute of an `OperatorProperty`.

        Args:
            type: `int`, `float`, `bool`, `str`; `"shape"` (tuple of int; one int counts as a 1-tuple),
                `"indices"` (tuple of int or None), `"floats"` (tuple of float) or `"dtype"` (kept as its
                name).
            default: Left out: the parameter is required. None: it is optional.
            ge: Inclusive lower bound, of every element for tuples; `gt`, `le`, `lt` likewise.
            choices: The values allowed.
            doc: One sentence for documentation and error messages.
            per: Another parameter, a tuple, for each of whose items this one has one too: `stride` per
                `kernel`.
            fill: With `per`: the value of every item where none are given.
            ignored: Why the parameter is accepted, for MXNet's files and calls, and changes nothing.
            run_time: Whether its value may change at every call, as `lr` does.
            optional: Whether None is a value too; always where it is the default.
        """
        self.name = ""
        self.type = type
        self.default = _plain(default)  # a list would be every call's own to change
        bounds = zip(_SIGNS, (ge, gt, le, lt), strict=True)
        self.bounds = {key: bound for key, bound in bounds if bound is not None}
        self.choices, self.doc, self.ignored = choices, doc or ignored, ignored
        self.per, self.fill, self.run_time = per, fill, run_time
        self.optional = optional or default is None
        self._convert_type: Any = None

    @property
    def is_required(self) -> bool:
        """Return whether the parameter has no default."""
        return self.default is REQUIRED

    def for_axes(self, value: Any, count: int) -> Any:
        """A tuple of `count` items: `value`, or the fill value for each where it is empty or None.

        Raises:
            ParamError: It has another number of items.
        """
        if not value:
            return (self.fill,) * count
        if len(value) != count:
            raise ParamError(
                f"parameter {self.name!r} is {value!r}, expected {count} items, as many as {self.per!r} has"
            )
        return value

    def parse(self, value: Any) -> Any:
        """`value` as this parameter's type, from a Python value or MXNet's string form.

        Raises:
            ParamError: The value is of another type or out of bounds; the message says which.
        """
        is_listed = self.type == "floats" and value.__class__ in (list, tuple)
        if is_listed and {*map(type, value)} == {float} and not self.bounds:
            return tuple(value)
        value = _plain(value)
        if hasattr(value, "__array__") and not isinstance(value, type):
            raise ParamError(
                f"parameter {self.name!r} is an array ({type(value).__name__}), expected {self.expects()}; "
                "give plain numbers, as its tolist() makes them"
            )
        if self.optional and (value is None or value == "None"):
            return None
        try:
            if self.type == "dtype":
                return self._allowed_name(as_dtype(value).name)
            return self._convert(value)
        except (ValueError, DTypeError) as error:
            raise ParamError(f"parameter {self.name!r} is {value!r}, expected {self.expects()}") from error

    def format(self, value: Any) -> str:
        """MXNet's string form of `value`; `parse` reads it back to an equal value."""
        return str(value)

    def expects(self) -> str:
        """Values that the parameter accepts, in words: `int >= 1`, `one of 'max', 'avg'`."""
        if self.choices is not None:
            words = "one of " + ", ".join(repr(choice) for choice in self.choices)
        else:
            words = _TYPE_WORDS.get(str(self.type), getattr(self.type, "__name__", str(self.type)))
        bounds = " and ".join(f"{_SIGNS[key]} {bound:g}" for key, bound in self.bounds.items())
        return " ".join(filter(None, [words, bounds, "or None" if self.optional else ""]))

    def _allowed_name(self, name: str) -> str:
        if self.choices is not None and name not in self.choices:
            raise ValueError(name)
        return name

    def _convert(self, value: Any) -> Any:
        msgspec = import_module("msgspec")  # lazy: 16 ms that `import operad` need not pay
        if self._convert_type is None:
            self._convert_type = _msgspec_type(self, msgspec)
        if isinstance(value, str) and self.type in _TUPLE_TYPES:
            value = _literal(value)
        if isinstance(value, (int, float)) and self.type in _TUPLE_TYPES:
            value = (value,)
        if isinstance(value, bool) and self.type in (int, float):
            value = int(value)
        if self.type in _INTEGER_TYPES:
            for number in value if isinstance(value, tuple) else (value,):
                if isinstance(number, float):
                    raise ValueError(f"{number!r} is no integer")
        return msgspec.convert(value, self._convert_type, strict=False)


def _as_value(declare: Callable[P, Param]) -> Callable[P, Any]:
    """`declare`, of which type checkers believe that it gives a value of the parameter."""
    return declare


param: Final = _as_value(Param)


@final
class ParamSet(dict[str, Param]):
    """The parameters of one operator, in the order they were declared.

    Attributes:
        integers: Names of those that hold an integer, or a tuple of them.
        run_time: Names of those whose values may change at every call.
    """

    __slots__ = ("_required", "integers", "run_time")

    def __init__(self, params: Mapping[str, Param]) -> None:
        super().__init__(params)
        for name, declared in params.items():
            declared.name = name
        self.run_time = tuple(name for name, declared in params.items() if declared.run_time)
        self._required = tuple(name for name, declared in params.items() if declared.is_required)
        self.integers = tuple(name for name, declared in params.items() if declared.type in _INTEGER_TYPES)

    def parse(self, operator: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, validated, defaults filled in.

        Raises:
            ParamError: A name is unknown (with a suggestion), a required one is missing, or a value
                does not fit. The message starts with `operator`.
        """
        try:
            return self._parsed(values)
        except ParamError as error:
            raise ParamError(f"{operator}: {error}") from error.__cause__

    def _parsed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        for name in values:
            if name not in self:
                raise ParamError(f"unknown parameter {name!r}; {self._suggest(name)}")
        for name in self._required:
            if name not in values:
                raise ParamError(f"parameter {name!r} is missing, expected {self[name].expects()}")
        parsed = {
            name: declared.parse(values[name]) if name in values else declared.default
            for name, declared in self.items()
        }
        for name, declared in self.items():
            if declared.per:
                parsed[name] = declared.for_axes(parsed[name], len(parsed[declared.per] or ()))
        return parsed

    def _suggest(self, name: str) -> str:
        return suggestion(name, self, "it has") if self else "it has no parameters"


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return tuple(_plain(item) for item in value)
    return value


def _literal(text: str) -> Any:
    ast = import_module("ast")  # lazy, as msgspec is
    text = re.sub(r"(?<=\d)L\b", "", text)  # Python 2 wrote (3L, 3L)
    text = re.sub(r"\binf\b", "1e999", text)  # infinity is no literal
    try:
        return ast.literal_eval(parse_source(text.lstrip(" \t"), "eval"))
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"cannot read {text!r}") from error


def _msgspec_type(declared: Param, msgspec: Any) -> Any:
    if declared.choices is not None:
        return Literal[declared.choices]
    element: Any = {"shape": int, "indices": int, "floats": float}.get(str(declared.type), declared.type)
    if declared.bounds:
        element = Annotated[element, msgspec.Meta(**declared.bounds)]
    if declared.type == "indices":
        element = element | None
    return tuple[element, ...] if declared.type in _TUPLE_TYPES else element
