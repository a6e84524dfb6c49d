"""Caches that do not grow without end."""

from __future__ import annotations

from typing import Any, Final

_MOST_KEPT: Final = 1024


def insert_bounded(cache: dict[Any, Any], key: Any, value: object) -> None:
    """Keep a value; a full cache is emptied first."""
    if len(cache) >= _MOST_KEPT:
        cache.clear()
    cache[key] = value
