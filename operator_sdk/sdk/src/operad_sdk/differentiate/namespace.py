"""The array module that functions get inside a trace, as `op_ctx.xp`."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Final, final

import numpy as np

from operad_sdk.differentiate.tracing import FORM, Traced, filled


def _contiguous(x: Traced) -> Traced:
    return x if x.flags.c_contiguous else x.copy()


def _as_array(x: Traced, dtype: Any = None) -> Any:
    return x if dtype is None else x.astype(dtype, copy=False)


_CONVERSIONS: Final = {"ascontiguousarray": _contiguous, "asarray": _as_array, "asanyarray": _as_array}
"""Functions that NumPy does not dispatch; an array of that form is given back, and may be written."""

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
                return _CONVERSIONS.get(name, dispatching)(*args, **options)
            made = own(*args, **options)
            is_writable = name in _MAKES and (made.dtype.kind == "f" or self._level <= FORM)
            return filled(self._level, made) if is_writable else made

        return call
