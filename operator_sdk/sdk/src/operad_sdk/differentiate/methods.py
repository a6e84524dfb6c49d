"""Methods of traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from operad_sdk.differentiate.dispatch import METHODS
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
    "all", "any", "argmax", "argmin", "argsort", "clip", "cumsum", "diagonal", "dot", "max", "mean", "min",
    "prod", "round", "squeeze", "sum", "swapaxes", "take",
)  # fmt: skip

METHODS.update({name: _as_function(name) for name in _SAME})
METHODS.update({
    "astype": astype, "reshape": reshape, "transpose": transpose, "copy": _copy, "fill": _fill,
    "ravel": lambda array: reshape(array, -1), "flatten": lambda array: reshape(array, -1).copy(),
    "filled": lambda array, value: filled(array.level, value),
})  # fmt: skip
