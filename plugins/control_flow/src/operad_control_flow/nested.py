"""Lists of symbols, nested to any depth, and symbols in a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from operad import Symbol
from operad.errors import ArgumentError


def flat(call: str, what: str, value: Any) -> list[Symbol]:
    """The symbols of nested lists, in order; several outputs of one symbol are a list.

    Raises:
        ArgumentError: Something else is among them.
    """
    if isinstance(value, Symbol):
        return list(value)
    if isinstance(value, (list, tuple)):
        return [symbol for item in value for symbol in flat(call, what, item)]
    raise ArgumentError(f"{call}: {what} has {value!r}, expected symbols, or lists of symbols")


def filled(like: Any, symbols: Sequence[Symbol]) -> Any:
    """Symbols nested as `like` is."""
    return _filled(like, iter(symbols))


def _filled(like: Any, symbols: Iterator[Symbol]) -> Any:
    if isinstance(like, Symbol) and len(like) == 1:
        return next(symbols)
    return [_filled(item, symbols) for item in like]
