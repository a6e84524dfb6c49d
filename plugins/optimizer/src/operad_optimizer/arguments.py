"""Unknown arguments of a constructor: the error says which one may be meant.

Constructors hand what they do not know up to their base class, so that the base class is what Python's error
would name, and none of the names that the caller could have used.
"""

from __future__ import annotations

import difflib
import inspect
from abc import ABCMeta
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from operad.errors import FormatError
from operad_sdk import ParamError


class UnknownArgumentError(ParamError, TypeError):
    """A constructor has no argument of that name."""


class Suggesting(ABCMeta):
    """The metaclass of classes whose constructors suggest names."""

    def __call__(cls, *args: Any, **arguments: Any) -> Any:
        """Make an instance.

        Raises:
            UnknownArgumentError: The constructor has no argument of a name that is given.
        """
        try:
            return super().__call__(*args, **arguments)
        except TypeError as error:
            unknown = [name for name in arguments if f"unexpected keyword argument {name!r}" in str(error)]
            if not unknown:
                raise
            raise UnknownArgumentError(_message(cls, unknown[0])) from error


def _message(cls: type, unknown: str) -> str:
    names = _names(cls)
    meant = closest(unknown, names)
    advice = f"did you mean {meant!r}?" if meant else f"it has {', '.join(names) or 'none'}"
    return f"{cls.__name__}: unknown argument {unknown!r}; {advice}"


def _names(cls: type) -> list[str]:
    """Every argument's name, of the constructor and of those that it may hand arguments up to."""
    names: dict[str, None] = {}
    for base in cls.__mro__:
        if "__init__" in vars(base) and base is not object:
            parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
            names.update(dict.fromkeys(p.name for p in parameters if p.kind is not p.VAR_KEYWORD))
            if all(p.kind is not p.VAR_KEYWORD for p in parameters):
                break
    return list(names)


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


def numbers_of(attributes: Mapping[str, Mapping[str, str]], key: str) -> Iterator[tuple[str, float]]:
    """The numbers that variables of a symbol have in an attribute, by name.

    Raises:
        FormatError: A text is no number.
    """
    for name, own in attributes.items():
        if key in own:
            try:
                yield name, float(own[key])
            except (TypeError, ValueError) as error:
                raise FormatError(
                    f"variable {name!r}: {key} is {own[key]!r:.80}, expected a number; mend the symbol"
                ) from error
