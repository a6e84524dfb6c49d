"""Parameters that come by name, sorted into the dataclasses that declare them.

MXNet reads every value from a text, so texts are read here too.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from inspect import Parameter, Signature
from typing import Any, Final

from operad.errors import ParamError

Groups = Sequence[type[Any]]
"""Dataclasses whose fields are parameters; one without a default is required."""


def signature(groups: Groups) -> Signature:
    """Signature of all parameters together, for `help`."""
    found = [
        Parameter(
            field.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if _is_required(field) else field.default,
            annotation=field.type,
        )
        for group in groups
        for field in fields(group)
    ]
    return Signature(found)


def grouped(who: str, given: Mapping[str, Any], groups: Groups) -> tuple[Any, ...]:
    """One object of each group, of the parameters that are given.

    Raises:
        ParamError: One is unknown, missing, or of the wrong type.
    """
    known = {field.name: field for group in groups for field in fields(group)}
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise ParamError(f"{who}: unknown parameter {name!r}{hint}")
    missing = [name for name, field in known.items() if _is_required(field) and name not in given]
    if missing:
        raise ParamError(f"{who}: missing {', '.join(missing)}")
    return tuple(
        group(**{f.name: _typed(who, f, given[f.name]) for f in fields(group) if f.name in given})
        for group in groups
    )


def _is_required(field: Any) -> bool:
    return field.default is MISSING


def _typed(who: str, field: Any, value: Any) -> Any:
    """A value of the field's type."""
    kind = _KINDS.get(field.type)
    if value is None or kind is None:
        if value is None and kind is not None:
            raise ParamError(f"{who}: {field.name} is None, expected {field.type}")
        return value
    try:
        return kind(value)
    except (TypeError, ValueError, SyntaxError) as error:
        raise ParamError(f"{who}: {field.name} is {value!r}, expected {field.type}") from error


def _boolean(value: Any) -> bool:
    words = {"true": True, "1": True, "false": False, "0": False}
    if isinstance(value, str):
        if value.lower() not in words:
            raise ValueError(value)
        return words[value.lower()]
    return bool(value)


def _several(kind: type[Any]) -> Callable[[Any], tuple[Any, ...]]:
    def read(value: Any) -> tuple[Any, ...]:
        found = ast.literal_eval(value) if isinstance(value, str) else value
        return tuple(kind(one) for one in (found if hasattr(found, "__iter__") else (found,)))

    return read


_KINDS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "int": int,
    "float": float,
    "bool": _boolean,
    "str": str,
    "tuple[int, ...]": _several(int),
    "tuple[float, ...]": _several(float),
}
"""Readers of values, by the annotation of a field."""
