"""The `Mapper`: a scalar function and everything that can be done with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, final

import numpy as np

from operad.operator import ScalarForm
from operad_sdk.mapper import scope
from operad_sdk.mapper.apply import BACKENDS, prepare
from operad_sdk.mapper.arguments import arrange
from operad_sdk.mapper.backends import with_python
from operad_sdk.mapper.emit import python_source
from operad_sdk.mapper.errors import MapperError
from operad_sdk.mapper.parse import parse
from operad_sdk.mapper.slope import slope_form


@final
class Mapper:
    """A scalar function that runs as Python, and over arrays with NumPy, in vector code or with CUDA.

    Called on numbers it is the function itself; `map` applies it to every element of arrays.

    Attributes:
        form: What it means; what back ends, slopes and fusion work from.
        defaults: Arguments that a call may leave out.
        function: The author's function, or one printed from the form where no author wrote one.
    """

    def __init__(
        self,
        form: ScalarForm,
        function: Callable[..., Any] | None = None,
        *,
        defaults: Mapping[str, float] = MappingProxyType({}),
        backend: str | None = None,
    ) -> None:
        self.form: Final = form
        self.defaults: Final = MappingProxyType(dict(defaults))
        self.function: Final = function or with_python.function_of(form)
        self._backend: Final = backend
        self.__wrapped__ = self.function  # doctest and inspect look here
        self.__name__ = form.name
        self.__module__ = self.function.__module__ if function else __name__
        self.__doc__ = self.function.__doc__ or f"Mapper of {', '.join(form.inputs)}."

    def __call__(self, *args: Any, **named: Any) -> float:
        """The value for numbers, computed by the plain Python function.

        The first argument decides the type: a NumPy scalar keeps its own, a Python number is
        computed in float64 and gives a Python number.

        Raises:
            TypeError: Arguments are missing, unknown or no numbers.
        """
        values = arrange(self.__name__, self.form.inputs, self.defaults, args, named)
        own = type(values[0]) if isinstance(values[0], np.floating) else None
        compute = np.float32 if own is np.float16 else own or np.float64
        with np.errstate(all="ignore"):
            value: Any = self.function(*(compute(number) for number in values))
            if own is None:
                return bool(value) if self.form.kind == "bool" else float(value)
            typed: Any = np.bool_(value) if self.form.kind == "bool" else own(value)
            return typed  # type: ignore[no-any-return]  # a NumPy scalar, which mapper code calls a float

    def map(self, *args: Any, out: Any = None, **named: Any) -> Any:
        """Apply the function to every element of arrays that broadcast together.

        The first array decides the element type; numbers are cast to it, and the arithmetic and the
        result have it too (float16 is computed in float32 and rounded once). A boolean is
        written as 1 or 0.

        Args:
            *args: Arrays of float16, float32 or float64, all of one type, or numbers.
            out: Array to fill; it may be one of the arguments.
            **named: Arguments by name.

        Returns:
            `out`, or a new array.

        Raises:
            TypeError: Arguments are missing or unknown.
            DTypeError: An array has another type, or one that mappers do not have.
            ShapeError: `out` has the wrong shape, or shapes do not broadcast.
        """
        values = (
            args
            if len(args) == len(self.form.inputs) and not named
            else arrange(self.__name__, self.form.inputs, self.defaults, args, named)
        )
        call, out = prepare(self.form, self.function, values, out, self._backend)
        call()
        return out

    def bind(self, *args: Any, out: Any) -> Callable[[], Any]:
        """A call that does `map(*args, out=out)` again and again, with all checks made now.

        The arrays are read and written again by each call; numbers keep their present value.

        Raises:
            DTypeError: As for `map`; `ShapeError` and `TypeError` likewise.
        """
        values = arrange(self.__name__, self.form.inputs, self.defaults, args, {})
        return prepare(self.form, self.function, values, out, self._backend)[0]

    def backend(self, name: str) -> Mapper:
        """The same mapper fixed to one back end: `python`, `numpy`, `vector`, or `auto`.

        Raises:
            MapperError: There is no such back end.
        """
        if name not in BACKENDS:
            raise MapperError(
                f"mapper {self.__name__!r}: no back end {name!r}; there are {', '.join(BACKENDS)}"
            )
        return Mapper(self.form, self.function, defaults=self.defaults, backend=name)

    @property
    def source(self) -> str:
        """The form printed as Python, one operation per line."""
        return python_source(self.form)

    def __repr__(self) -> str:
        return f"<mapper {self.__name__}({', '.join(self.form.inputs)})>"


def mapper_of(function: Callable[..., Any]) -> Mapper:
    """See `operad_sdk.mapper.mapper`."""
    return Mapper(parse(function), function, defaults=_defaults(function))


def _defaults(function: Callable[..., Any]) -> dict[str, float]:
    defaults = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            number = scope.as_number(parameter.default)
            if number is None:
                raise MapperError(
                    f"mapper {function.__name__!r}: default of {name!r} is {parameter.default!r}, "
                    "expected a number"
                )
            defaults[name] = number
    return defaults


def slope_of(mapper: Mapper, wrt: int | str = 0) -> Mapper:
    """The derivative of a mapper with respect to one argument, as a mapper of the same arguments.

    It is exact where the function is smooth; at a kink it is the slope of the branch the comparison
    takes (see `operad_sdk.mapper.slope`).

    Raises:
        MapperError: There is no such argument, or the mapper returns a boolean.
    """
    inputs = mapper.form.inputs
    if isinstance(wrt, str):
        if wrt not in inputs:
            raise MapperError(
                f"slope of {mapper.__name__!r}: no argument {wrt!r}; it takes {', '.join(inputs)}"
            )
        wrt = inputs.index(wrt)
    return Mapper(slope_form(mapper.form, wrt), defaults=mapper.defaults)
