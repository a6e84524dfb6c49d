"""Symbols of what was recorded, and methods of symbols that only MXNet's programs call.

Source: python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

from typing import Any

from operad import NDArray, Symbol, autograd
from operad.errors import UnsupportedError


def as_nd_ndarray(self: Symbol) -> Symbol:
    """The symbol itself."""
    return self


def get_symbol(x: NDArray) -> Symbol:
    """The symbol of what was recorded to compute `x`; see `operad.autograd.recorded_graph`."""
    return Symbol(autograd.recorded_graph(x).outputs)


def optimize_for(
    self: Symbol,
    backend: str,
    args: Any = None,
    aux: Any = None,
    ctx: Any = None,
    shape_dict: Any = None,
    type_dict: Any = None,
    stype_dict: Any = None,
    skip_infer: bool = False,
    **kwargs: Any,
) -> Symbol:
    """Raises UnsupportedError: there are no subgraph back ends to choose from."""
    raise _no_backend("optimize_for", backend)


def get_backend_symbol(self: Symbol, backend: str) -> Symbol:
    """Raises UnsupportedError: there are no subgraph back ends to choose from."""
    raise _no_backend("get_backend_symbol", backend)


def _no_backend(call: str, backend: str) -> UnsupportedError:
    return UnsupportedError(
        f"{call}: there is no back end {backend!r}; installed passes run whenever a symbol is bound "
        "(entry points in operad.passes), and executor.get_optimized_symbol() shows what they made of it"
    )
