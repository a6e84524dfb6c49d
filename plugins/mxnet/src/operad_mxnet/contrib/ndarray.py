"""`mx.contrib.ndarray`: what `operad.ndarray.contrib` has, by its older name."""

from __future__ import annotations

from typing import Any

from operad import ndarray


def __getattr__(name: str) -> Any:
    return getattr(ndarray.contrib, name)


def __dir__() -> list[str]:
    return dir(ndarray.contrib)
