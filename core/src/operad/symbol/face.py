"""What `od.sym` has beside its operators, and how it finds those.

Every installed operator is a function of `od.sym`, found when it is first asked for. Plugins may add
modules beside them, such as `od.sym.random`.
"""

from __future__ import annotations

from typing import Any

from operad import registry
from operad.symbol.function import symbol_function
from operad.symbol.symbol import Group as Group
from operad.symbol.symbol import Symbol as Symbol
from operad.symbol.symbol import load as load
from operad.symbol.symbol import load_json as load_json
from operad.symbol.symbol import var as var

Variable = var


def zeros(shape: Any, dtype: str = "float32", **attrs: Any) -> Symbol:
    """A symbol of zeros, where a length of 0 is unknown; the operator `_zeros` of operad-init."""
    return symbol_function("_zeros")(shape=shape, dtype=dtype, **attrs)


def ones(shape: Any, dtype: str = "float32", **attrs: Any) -> Symbol:
    """A symbol of ones, where a length of 0 is unknown; the operator `_ones` of operad-init."""
    return symbol_function("_ones")(shape=shape, dtype=dtype, **attrs)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'operad.sym' has no attribute {name!r}")
    module = registry.find_namespace("sym", name)
    return symbol_function(name) if module is None else module


def __dir__() -> list[str]:
    return sorted({*globals(), *registry.list_operators(), *registry.namespaces_of("sym")})
