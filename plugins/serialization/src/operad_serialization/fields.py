"""Fields of a JSON document's objects, checked for their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from operad.errors import FormatError

T = TypeVar("T")

_SHOWN: Final = 60
"""Characters of a wrong value that a message shows."""


def field(record: Any, key: str, kind: type[T], where: str) -> T:
    """The value that an object of a file has under a key.

    Raises:
        FormatError: There is none, or one of another type; `where` names the object.
    """
    if not isinstance(record, dict):
        raise FormatError(f"{where} is {type(record).__name__}, expected an object")
    if key not in record:
        raise FormatError(f"{where} has no {key!r}")
    value = record[key]
    if not isinstance(value, kind):
        raise FormatError(f"{where}: {key!r} is {type(value).__name__}, expected {kind.__name__}")
    return value


def short(value: Any) -> str:
    """The value as a message shows it: a file may hold anything, of any length and depth."""
    if isinstance(value, (dict, list)) and any(isinstance(item, (dict, list)) for item in value):
        return f"a nested {type(value).__name__}"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def read_attrs(record: Mapping[str, Any], where: str) -> dict[str, str]:
    """The attributes of a node, as text, under each of the names that MXNet's versions gave them.

    Raises:
        FormatError: A value is a list or an object.
    """
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):
        if key in record:
            for name, value in field(record, key, dict, where).items():
                if isinstance(value, (dict, list)):
                    kind = type(value).__name__
                    raise FormatError(f"{where}: attribute {name!r} is {kind}, expected text")
                attrs[name] = value if isinstance(value, str) else str(value)
    return attrs
