"""Nested arguments: what they have at their leaves, and their structure.

Source: _flatten and _regroup, python/mxnet/gluon/block.py. A format is what these give: 0 for an array or a
symbol, -1 for None, a list for a list or a tuple.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from operad import NDArray, Symbol
from operad_gluon.errors import BlockValueError


def flatten(args: Any, inout_str: str) -> tuple[list[Any], Any]:
    """Leaves of nested lists and tuples, and the format.

    Args:
        args: The arguments.
        inout_str: What errors call them.
    Raises:
        BlockValueError: A leaf is neither an array, nor a symbol, nor None.
    """
    if isinstance(args, NDArray):
        return [args], 0
    if isinstance(args, Symbol):
        length = len(args.list_outputs())
        return [args], length if length > 1 else 0
    if args is None:
        return [None], -1
    if not isinstance(args, (list, tuple)):
        raise BlockValueError(
            f"{inout_str} of a HybridBlock must be (nested) lists or tuples of NDArrays or Symbols, but got "
            f"{args!r:.80} of type {type(args).__name__}; pass an array, or keep the value in the block"
        )
    pairs = [flatten(one, inout_str) for one in args]
    return [leaf for leaves, _ in pairs for leaf in leaves], [form for _, form in pairs]


def regroup(leaves: Iterable[Any], form: Any) -> Any:
    """Put together what `flatten` took apart, with other leaves."""
    return _regroup(iter(leaves), form)


def _regroup(leaves: Any, form: Any) -> Any:
    if form == 0:
        return next(leaves)
    if form == -1:
        next(leaves)
        return None
    if isinstance(form, int):
        return [next(leaves) for _ in range(form)]
    return [_regroup(leaves, one) for one in form]
