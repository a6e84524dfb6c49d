"""Methods of traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from operad_sdk.differentiate.dispatch import METHODS, PROPERTIES
from operad_sdk.differentiate.elementwise import astype
from operad_sdk.differentiate.shaping import reshape, transpose
from operad_sdk.differentiate.tracing import Traced, filled


def _as_function(name: str) -> Callable[..., Any]:
    function = getattr(np, name)
    return lambda array, *args, **options: function(array, *args, **options)


def _copy(array: Any, order: str = "C") -> Traced:
    """Another cell with the same value."""
    return Traced(array.node)


def _fill(array: Any, value: Any) -> None:
    array[...] = value


_SAME = (
    "all", "any", "argmax", "argmin", "argsort", "clip", "cumprod", "cumsum", "diagonal", "dot", "max",
    "mean", "min", "prod", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "swapaxes", "take",
    "trace", "var",
)  # fmt: skip

METHODS.update({name: _as_function(name) for name in _SAME})
METHODS.update({
    "astype": astype, "reshape": reshape, "transpose": transpose, "copy": _copy, "fill": _fill,
    "ravel": lambda array, order="C": reshape(array, -1, order=order), "conj": np.conjugate,
    "flatten": lambda array, order="C": reshape(array, -1, order=order).copy(), "conjugate": np.conjugate,
    "filled": lambda array, value: filled(array.level, value),
})  # fmt: skip
PROPERTIES.update({
    "T": transpose, "mT": lambda array: array.swapaxes(-1, -2), "real": lambda array: array,
    "itemsize": lambda array: array.dtype.itemsize, "nbytes": lambda array: array.size * array.dtype.itemsize,
})  # fmt: skip
