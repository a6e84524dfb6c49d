"""The method `astype` of symbols.

Source: Symbol.astype, python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

from operad import Symbol, sym
from operad.dtypes import as_dtype


def astype(self: Symbol, dtype: object) -> Symbol:
    """The elements cast to `dtype`: the operator `Cast`."""
    made: Symbol = sym.Cast(self, dtype=as_dtype(dtype).name)
    return made
