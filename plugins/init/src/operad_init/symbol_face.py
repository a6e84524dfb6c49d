"""Functions of `od.sym` that make symbols of zeros and ones.

Source: python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

from typing import Any

from operad import Symbol, sym
from operad.dtypes import DEFAULT_DTYPE, as_dtype


def zeros(shape: Any, dtype: object = None, **attrs: Any) -> Symbol:
    """A symbol of zeros, where a length of 0 is unknown; the operator `_zeros`."""
    return _made(sym._zeros, shape, dtype, attrs)


def ones(shape: Any, dtype: object = None, **attrs: Any) -> Symbol:
    """A symbol of ones, where a length of 0 is unknown; the operator `_ones`."""
    return _made(sym._ones, shape, dtype, attrs)


def _made(function: Any, shape: Any, dtype: object, attrs: dict[str, Any]) -> Symbol:
    name = (DEFAULT_DTYPE if dtype is None else as_dtype(dtype)).name
    made: Symbol = function(shape=shape, dtype=name, **attrs)
    return made
