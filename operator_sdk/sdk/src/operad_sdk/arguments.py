"""Arguments of constructors and loops: an error says which name may be meant, and what a number is instead.

Constructors hand what they do not know up to their base class, so that the base class is what Python's error
would name, and none of the names that the caller could have used. Python does not look at the types of
values: a learning rate that is text would be found wanting only in the first update, by another name.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import numbers
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, TypeVar

from operad.errors import ParamError

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

_NUMBERS: Final = {"float", "int", "bool", "float | None", "int | None"}
"""Annotations of arguments that are numbers; whole ones may be written as floats."""


class UnknownArgumentError(ParamError, TypeError):
    """A constructor, or a method, has no argument of that name."""


class Suggesting(ABCMeta):
    """The metaclass of classes whose constructors suggest names, and want numbers where they say so."""

    def __call__(cls: type[T], *args: Any, **arguments: Any) -> T:
        """Make an instance.

        Annotated as `T`, and not as `Any`, so that type checkers look at the class's own constructor.

        Raises:
            UnknownArgumentError: The constructor has no argument of a name that is given.
            ParamError: An argument that is annotated as a number is none.
        """
        this: Any = cls
        declared = _declared(this)  # in the order of the constructor's own, and then those that it hands up
        for name, value in {**dict(zip(declared, args, strict=False)), **arguments}.items():
            _check_number(cls.__name__, name, value, declared.get(name))
        try:
            made: T = super(Suggesting, this).__call__(*args, **arguments)
        except TypeError as error:
            _raise_unknown(cls.__name__, arguments, list(declared), error)
            raise
        return made


def suggesting(method: F) -> F:
    """Make the error about an unknown keyword of a method suggest a name; for use as a decorator."""

    @functools.wraps(method)
    def call(*args: Any, **arguments: Any) -> Any:
        try:
            return method(*args, **arguments)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # of this call itself
                names = list(inspect.signature(method).parameters)[1:]
                _raise_unknown(method.__name__, arguments, names, error)
            raise

    return call  # type: ignore[return-value]  # it has the method's signature


def _raise_unknown(what: str, arguments: Mapping[str, Any], names: list[str], error: TypeError) -> None:
    for unknown in arguments:
        if f"unexpected keyword argument {unknown!r}" in str(error):
            meant = closest(unknown, names)
            advice = f"did you mean {meant!r}?" if meant else f"it has {', '.join(names) or 'none'}"
            raise UnknownArgumentError(f"{what}: unknown argument {unknown!r}; {advice}") from error


def _check_number(what: str, name: str, value: Any, annotation: inspect.Parameter | None) -> None:
    if annotation is None or annotation.annotation not in _NUMBERS:
        return
    may_be_none = "None" in annotation.annotation
    if not isinstance(value, numbers.Real) and not (value is None and may_be_none):
        expected = "a number, or None" if may_be_none else "a number"
        raise ParamError(f"{what}: {name} is {value!r}, expected {expected}")


def described(instance: Any) -> str:
    """`SGD(learning_rate=0.1)`: the numbers and texts that a constructor was given and that are no defaults.

    They are read from attributes of the arguments' names, so that what a program has set since is shown.
    """
    cls: Any = type(instance)
    declared = _declared(cls)
    shown = [
        f"{name}={value!r}" for name, value in settings(instance).items() if value != declared[name].default
    ]
    return f"{cls.__name__}({', '.join(shown)})"


def settings(instance: Any) -> dict[str, Any]:
    """The numbers and texts among a constructor's arguments, as the attributes of their names are now."""
    cls: Any = type(instance)
    found = {}
    for name, declared in _declared(cls).items():
        value = declared.default
        with suppress(Exception):  # a property may need what is not there yet
            value = getattr(instance, name, value)
        if isinstance(value, (numbers.Real, str)):
            found[name] = value
    return found


@functools.lru_cache(maxsize=256)
def _declared(cls: type) -> dict[str, inspect.Parameter]:
    """Every argument, of the constructor and of those that it may hand arguments up to."""
    found: dict[str, inspect.Parameter] = {}
    for base in cls.__mro__:
        if "__init__" in vars(base) and base is not object:
            parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
            for one in parameters:
                if one.kind is not one.VAR_KEYWORD:
                    found.setdefault(one.name, one)
            if all(one.kind is not one.VAR_KEYWORD for one in parameters):
                break
    return found


def closest(given: str, names: Iterable[str]) -> str | None:
    """The name that `given` abbreviates (`lr`), spells out (`weight_decay` for `wd`) or misspells."""
    names = list(names)
    for name in names:
        if given == _initials(name) or name == _initials(given):
            return name
    begun = [name for name in names if name.startswith(given)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(given, names, n=1)
    return close[0] if close else None


def _initials(name: str) -> str:
    return "".join(word[:1] for word in name.split("_")) if "_" in name else ""
