"""Symbols of what was recorded, and methods of symbols that only MXNet's programs call.

Source: python/mxnet/symbol/symbol.py.
"""

from __future__ import annotations

from typing import Any

from operad import NDArray, Symbol
from operad.boundary import boundary
from operad.errors import UnsupportedError
from operad.graph import OpNode, hidden_key
from operad.symbol.attribute import check as check_of_variable
from operad.symbol.attribute import check_of_operator, with_mirrored
from operad.symbol.symbol import shown_types
from operad_mxnet.recorded_graph import recorded_graph


def as_nd_ndarray(self: Symbol) -> Symbol:
    """The symbol itself."""
    return self


def get_symbol(x: NDArray) -> Symbol:
    """The symbol of what was recorded to compute `x`; see `recorded_graph`."""
    return Symbol(recorded_graph(x).outputs)


def get_children(self: Symbol) -> Symbol | None:
    """The direct inputs of the nodes behind the outputs; None for a variable."""
    nodes = dict.fromkeys(entry.node for entry in self.entries)
    inputs = [entry for node in nodes for entry in node.inputs]
    return Symbol(inputs) if inputs else None


def list_attr(self: Symbol, recursive: bool = False) -> dict[str, str]:
    """The user's attributes and the given parameters of the node behind the outputs.

    Raises:
        UnsupportedError: For `recursive`, which MXNet 1.x refuses as well.
    """
    if recursive:
        raise UnsupportedError("list_attr: recursive=True was replaced in MXNet 1.x; call attr_dict()")
    return with_mirrored(self.entries[0].node.attrs)


def set_attr(self: Symbol, **attrs: str) -> None:
    """Change attributes of the node behind the outputs."""
    node = self.entries[0].node
    check = check_of_operator if isinstance(node, OpNode) else check_of_variable
    check(node.name, attrs)
    node.attrs.update({hidden_key(key): value for key, value in attrs.items()})


@boundary
def infer_type_partial(self: Symbol, *args: Any, **known: Any) -> Any:
    """Like `infer_type`, with None where a type does not follow."""
    return shown_types(self._types("infer_type_partial", args, known))


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
