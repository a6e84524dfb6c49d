"""The array module that functions get inside a trace, as `op_ctx.xp`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, final

import numpy as np

from operad_sdk.differentiate.tracing import Traced, constant

_MAKES = frozenset(("empty", "zeros", "ones", "full"))


@final
class Namespace:
    """NumPy or CuPy, where new arrays can be written with traced values.

    Functions of arrays are NumPy's own, which dispatch on what they are called with.
    """

    def __init__(self, xp: ModuleType, level: int) -> None:
        self._xp = xp
        self._level = level

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._xp, name)
        if name in _MAKES:
            return lambda *args, **options: constant(self._level, own(*args, **options))
        dispatching = getattr(np, name, None)
        if not callable(own) or isinstance(own, type) or dispatching is None:
            return own
        return lambda *args, **options: (
            dispatching if any(isinstance(arg, Traced) for arg in args) else own
        )(*args, **options)
