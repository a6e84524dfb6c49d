"""Batches of iterators, over the ends of passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def taken(iterator: Any, count: int, held: Callable[[Any], Any]) -> list[Any]:
    """What the next `count` batches hold, going over to the next pass where one ends."""
    found: list[Any] = []
    while len(found) < count:
        batch = next(iterator, None)
        if batch is None:
            iterator.reset()
            found.append("reset")
        else:
            found.append(held(batch))
    return found
