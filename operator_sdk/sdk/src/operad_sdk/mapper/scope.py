"""Meaning of a name in mapper code: a number, a primitive, or another mapper.

Names are looked up once, at decoration, where the function itself would find them: its closure, its
module, the builtins. Numbers are frozen at that moment.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, Final

import numpy as np

from operad_sdk.mapper.functions import Function, Where
from operad_sdk.mapper.primitives import PRIMITIVES

_BUILTINS: Final[dict[Any, str]] = {builtins.abs: "abs", builtins.pow: "power"}
_MATH: Final = tuple(value for value in vars(math).values() if callable(value))
_UFUNCS: Final[dict[Any, str]] = {
    primitive.evaluate: name
    for name, primitive in PRIMITIVES.items()
    if isinstance(primitive.evaluate, np.ufunc)
}
HINTS: Final[dict[Any, str]] = {
    builtins.round: "use rint (halves to even)",
    builtins.float: "every value is real already",
    builtins.int: "use trunc or floor",
    builtins.bool: "compare instead, as in x != 0",
    builtins.sum: "write the sum out",
}


def lookup(function: Callable[..., Any], name: str) -> Any:
    """The object that a free `name` of `function` stands for.

    Raises:
        NameError: There is none.
    """
    assert isinstance(function, FunctionType)
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError as error:
            raise NameError(name) from error
    if name in function.__globals__:
        return function.__globals__[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    raise NameError(name)


def as_number(value: Any) -> int | float | bool | None:
    """The Python number behind a constant, NumPy's scalars included; None if it is none."""
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        value = value.item()
    return value if type(value) in (int, float, bool) else None


def primitive_of(value: Any) -> str | None:
    """The primitive that calling `value` stands for; None if it is none."""
    if isinstance(value, Function):
        return value.primitive.name
    if isinstance(value, Where) or value is np.where:
        return "select"
    if not isinstance(value, (FunctionType, type)) and value.__hash__ is not None:
        return _BUILTINS.get(value) or _UFUNCS.get(value)
    return None


def hint_for(value: Any) -> str:
    """Advice for a callable that is not allowed; empty if there is none."""
    if isinstance(value, type(math.exp)) and value in _MATH:
        return f"use {value.__name__} of operad_sdk, which follows IEEE rules instead of raising"
    try:
        return HINTS.get(value, "")
    except TypeError:  # unhashable
        return ""
