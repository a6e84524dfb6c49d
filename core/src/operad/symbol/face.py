"""What `od.sym` has beside its operators, and how it finds those.

Every installed operator is a function of `od.sym`, found when it is first asked for.
"""

from __future__ import annotations

from typing import Any

from operad import registry
from operad.dtypes import DEFAULT_DTYPE, as_dtype
from operad.symbol.function import symbol_function
from operad.symbol.symbol import Group as Group
from operad.symbol.symbol import Symbol as Symbol
from operad.symbol.variable import var as var

Variable = var


def zeros(shape: Any, dtype: object = None, **attrs: Any) -> Symbol:
    """A symbol of zeros, where a length of 0 is unknown; the operator `_zeros` of operad-init."""
    return _made("_zeros", shape, dtype, attrs)


def ones(shape: Any, dtype: object = None, **attrs: Any) -> Symbol:
    """A symbol of ones, where a length of 0 is unknown; the operator `_ones` of operad-init."""
    return _made("_ones", shape, dtype, attrs)


def _made(op: str, shape: Any, dtype: object, attrs: dict[str, Any]) -> Symbol:
    name = (DEFAULT_DTYPE if dtype is None else as_dtype(dtype)).name
    made: Symbol = symbol_function(op, Symbol)(shape=shape, dtype=name, **attrs)
    return made


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'operad.sym' has no attribute {name!r}")
    found = registry.on_face("sym", name)
    return symbol_function(name, Symbol) if found is None else found


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.names_on_face("sym"), *registry.list_operators()})
