"""The array module that functions get inside a trace, as `op_ctx.xp`."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any, Final, final

import numpy as np

from operad_sdk.differentiate.errors import OURS
from operad_sdk.differentiate.tracing import FORM, Traced, filled


def _contiguous(x: Traced) -> Traced:
    return x if x.flags.c_contiguous else x.copy()


def _as_array(x: Traced, dtype: Any = None, copy: bool = False) -> Any:
    x = x if dtype is None else x.astype(dtype, copy=False)
    return x.copy() if copy else x


_CONVERSIONS: Final[dict[str, Callable[..., Any]]] = {
    "ascontiguousarray": _contiguous, "asarray": _as_array, "asanyarray": _as_array,
    "array": lambda x, dtype=None: _as_array(x, dtype, copy=True),
}  # fmt: skip
"""Functions that NumPy does not dispatch; an array of that form is given back, and may be written."""

_MAKES: Final = frozenset(("empty", "zeros", "ones", "full"))


@final
class Namespace:
    """NumPy or CuPy, where new floating arrays can be written with traced values.

    Functions of traced arrays are NumPy's own, which dispatch on what they are called with.

    Attributes:
        level: The trace.
    """

    def __init__(self, xp: ModuleType, level: int) -> None:
        self._xp = xp
        self.level = level

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
            is_writable = name in _MAKES and (made.dtype.kind == "f" or self.level <= FORM)
            return filled(self.level, made) if is_writable else made

        return call


def in_namespace(function: Any, xp: Namespace, scopes: dict[int, dict[str, Any]] | None = None) -> Any:
    """An author's function, with all that it calls by a global name, to which NumPy is another array module.

    So `np.zeros` makes an array that can be written, and `np.asarray` gives an array of the trace back.

    Args:
        scopes: Globals that were made before, by the identity of those that they stand for.
    """
    if not isinstance(function, FunctionType) or (function.__module__ or "").partition(".")[0] in OURS:
        return function
    scopes, own = {} if scopes is None else scopes, function.__globals__
    if id(own) not in scopes:
        scope = scopes[id(own)] = dict(own)
        for name, value in own.items():
            if value is np:
                scope[name] = xp
            elif callable(value) and getattr(np, called := getattr(value, "__name__", ""), None) is value:
                scope[name] = getattr(xp, called)
            else:
                scope[name] = in_namespace(value, xp, scopes)
    made = FunctionType(function.__code__, scopes[id(own)], function.__name__, None, function.__closure__)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return made
