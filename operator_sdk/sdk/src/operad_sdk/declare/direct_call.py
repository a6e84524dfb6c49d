"""Calls of a declared operator by its class: `my_op(x, alpha=2)`, without a package or a registered name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.ndarray import NDArray
from operad.ndarray.function import OperatorFunction
from operad.operator import OperatorProperty
from operad.symbol import Symbol
from operad.symbol.function import make_function


def call(op: type[OperatorProperty], args: Sequence[Any], named: dict[str, Any]) -> Any:
    """Call `op` on arrays, as `od.nd` does, or compose it of symbols, as `od.sym` does.

    Args:
        args: Arguments by position, at least one.
        named: Arguments by name, parameters, and what every function takes: `out`, `ctx`, `name`.
    Raises:
        ArgumentError: An argument is neither a tensor nor a parameter.
        ParamError: A parameter is unknown or out of bounds.
    """
    first = args[0][0] if isinstance(args[0], (list, tuple)) and args[0] else args[0]
    if isinstance(first, Symbol):
        return make_function(op.name, op, Symbol)(*args, **named)
    out, ctx = named.pop("out", None), named.pop("ctx", None)
    named.pop("name", None)  # taken and not used, as by every function of `od.nd`
    return OperatorFunction(op.name, op, NDArray).call(None, tuple(args), named, out, ctx)
