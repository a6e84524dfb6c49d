"""Rows of parameter values in which every two values of two parameters meet.

Most faults of parameters show with one value, and nearly all others with two (Kuhn, Wallace and Gallo,
IEEE Transactions on Software Engineering 30(6), 2004). All combinations would be thousands; rows that
contain every pair are a few dozen, found greedily.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

Row = dict[str, Any]
_Choice = tuple[str, int]
_Group = tuple[_Choice, ...]


def rows(values: Mapping[str, Sequence[Any]], most: int, *, are_pairs: bool = True) -> list[Row]:
    """Rows of one value per parameter, so that each value is in one, then each pair.

    Args:
        values: By parameter, the default first.
        most: Rows at most; each value is in one of them if there are so many.
        are_pairs: Whether pairs count, and not values alone.
    """
    names = list(values)
    left: set[_Group] = {((name, i),) for name in names for i in range(len(values[name]))}
    found = _covering(values, left, most)
    pairs: set[_Group] = {
        ((one, i), (other, j))
        for one, other in combinations(names, 2)
        for i in range(len(values[one]))
        for j in range(len(values[other]))
        if are_pairs
    }
    pairs -= {pair for row in found for pair in combinations(row, 2)}
    found += _covering(values, pairs, most - len(found))
    return [{name: values[name][i] for name, i in row} for row in found]


def _covering(values: Mapping[str, Sequence[Any]], left: set[_Group], most: int) -> list[list[_Choice]]:
    """Rows that contain as many of the groups `left` as `most` rows can; they are taken out of `left`."""
    found: list[list[_Choice]] = []
    while left and len(found) < most:
        seed = min(left)  # the order decides nothing but that two runs agree
        row = dict(seed)
        for name in values:
            if name not in row:
                row[name] = max(range(len(values[name])), key=lambda i, n=name: (_gain(row, n, i, left), -i))  # type: ignore[misc]
        chosen = [(name, row[name]) for name in values]
        for group in [group for group in left if set(group) <= set(chosen)]:
            left.discard(group)
        found.append(chosen)
    return found


def _gain(row: Mapping[str, int], name: str, i: int, left: set[_Group]) -> int:
    """Number of groups of `left` that the value adds to a row; a value that no row has yet counts twice."""
    choice = (name, i)
    own = ((choice,) in left) * 2
    return own + sum(((choice, other) in left) + ((other, choice) in left) for other in row.items())
