"""`mx.contrib.symbol`: what `operad.symbol.contrib` has, by its older name."""

from __future__ import annotations

from typing import Any

from operad import symbol


def __getattr__(name: str) -> Any:
    return getattr(symbol.contrib, name)


def __dir__() -> list[str]:
    return dir(symbol.contrib)
