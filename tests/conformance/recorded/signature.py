"""Parameters in one notation, from MXNet's type texts and from operad's declarations.

MXNet says `{'avg', 'max'}, optional, default='max'`, operad keeps a `Param`; both become a `Signature`.
"""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import dataclass
from typing import Any, Final

from operad.op.params import REQUIRED, Param

_KINDS: Final = {
    "int": "int",
    "long": "int",
    "int (non-negative)": "int",
    "long (non-negative)": "int",
    "float": "float",
    "double": "float",
    "boolean": "bool",
    "string": "str",
    "Shape(tuple)": "shape",
    "Shape": "shape",
    "tuple of <float>": "floats",
    "": "floats",  # MXNet has no word for two numbers, and no other parameter without a word
}
_DTYPES: Final = {"bfloat16", "bool", "float16", "float32", "float64", "int8", "uint8", "int32", "int64"}
_TEXT: Final = re.compile(
    r"(?P<kind>\{[^}]*\}|.*?)(?P<optional> or None)?(,\s*required|,\s*optional,\s*default=(?P<default>.*))?$"
)


@dataclass(frozen=True)
class Signature:
    """A parameter's kind, choices and default, comparable between MXNet and operad."""

    kind: str
    is_optional: bool
    choices: frozenset[str]
    default: Any


def of_text(text: str) -> Signature:
    """From MXNet's type text."""
    found = _TEXT.match(text)
    assert found is not None, text
    kind, is_optional = found["kind"], found["optional"] is not None
    choices: frozenset[str] = frozenset()
    if kind.startswith("{"):
        words = {word.strip().strip("'") for word in kind[1:-1].split(",")}
        is_optional = is_optional or "None" in words
        words -= {"None"}
        kind = "dtype" if words and words <= _DTYPES else "str"
        choices = frozenset(words) if kind == "str" else frozenset()
    else:
        kind = _KINDS[kind]
    default = REQUIRED if found["default"] is None else _default(found["default"], kind)
    return Signature(kind, is_optional or default is None, choices, default)


def _default(text: str, kind: str) -> Any:
    if text in ("None", "'None'"):
        return None
    value = literal_eval(text) if kind != "str" or text.startswith("'") else text
    if isinstance(value, str) and kind in ("int", "float"):
        value = literal_eval(value)
    return _plain(value, kind)


def of_param(param: Param) -> Signature:
    """From operad's declaration."""
    kind = param.type if isinstance(param.type, str) else param.type.__name__
    kind = "shape" if kind == "indices" else kind
    choices = frozenset(() if kind == "dtype" else map(str, param.choices or ()))
    default = param.default if param.default in (None, REQUIRED) else _plain(param.default, kind)
    return Signature(kind, param.optional, choices, default)


def _plain(value: Any, kind: str) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(_plain(item, kind) for item in value)
    if kind == "bool":
        return bool(value)
    return float(f"{float(value):.5g}") if isinstance(value, (int, float)) else value
