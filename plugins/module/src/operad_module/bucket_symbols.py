"""Symbols of buckets by key: what generates them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from operad import Symbol
from operad.errors import ArgumentError

Generated = tuple[Symbol, Sequence[str] | None, Sequence[str] | None]
"""A symbol, the names of its data and those of its labels."""


def generator_of(
    sym_dict: Mapping[Any, Symbol | Generated] | None, sym_gen: Callable[[Any], Generated] | None
) -> Callable[[Any], Generated]:
    """A function from keys to symbols that were loaded, by the names that a program's own function gives.

    Raises:
        ArgumentError: Neither is given, or a symbol without names of its data.
    """
    if sym_dict is None and sym_gen is None:
        raise ArgumentError("BucketingModule.load: give sym_gen or sym_dict")
    symbols = sym_dict or {}
    if sym_gen is None and (bare := [key for key, given in symbols.items() if isinstance(given, Symbol)]):
        raise ArgumentError(
            f"BucketingModule.load: sym_dict has a symbol alone for {bare[0]!r}; give sym_gen, too, for "
            "names of data and labels, or (symbol, data names, label names)"
        )

    def generate(key: Any) -> Generated:
        given = symbols[key] if sym_gen is None else symbols.get(key)
        if isinstance(given, tuple):
            return given
        assert sym_gen is not None
        symbol, data_names, label_names = sym_gen(key)
        return symbol if given is None else given, data_names, label_names

    return generate
