"""The array module that functions get inside a trace, as `op_ctx.xp`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, final

import numpy as np

from operad_sdk.differentiate.tracing import Traced, constant

_MAKES: Final = frozenset(("empty", "zeros", "ones", "full"))


@final
class Namespace:
    """NumPy or CuPy, where new floating arrays can be written with traced values.

    Functions of traced arrays are NumPy's own, which dispatch on what they are called with.
    """

    def __init__(self, xp: ModuleType, level: int) -> None:
        self._xp = xp
        self._level = level

    def __getattr__(self, name: str) -> Any:
        own, dispatching = getattr(self._xp, name), getattr(np, name, None)
        if isinstance(dispatching, np.ufunc):
            return dispatching
        if not callable(own) or isinstance(own, type) or dispatching is None:
            return own

        def call(*args: Any, **options: Any) -> Any:
            if any(isinstance(arg, Traced) for arg in args):
                return dispatching(*args, **options)
            made = own(*args, **options)
            is_place = name in _MAKES and made.dtype.kind == "f"
            return constant(self._level, made) if is_place else made

        return call
