"""The plain-Python back end: the author's function itself, one element after the other.

It is the reference: it never saw the parser. Elements are NumPy scalars of the element type, so that
arithmetic rounds as in the other back ends and follows IEEE rules instead of raising.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from operad.operator import ScalarForm
from operad_sdk.mapper.emit import python_source
from operad_sdk.mapper.functions import FUNCTIONS


def prepare(
    function: Callable[..., Any], values: Sequence[Any], out: np.ndarray[Any, Any]
) -> Callable[[], None]:
    """A call that fills `out` with the function of each element of the broadcast `values`."""
    return partial(_run, function, values, out)


def _run(function: Callable[..., Any], values: Sequence[Any], out: np.ndarray[Any, Any]) -> None:
    flat = [np.broadcast_to(value, out.shape).ravel() for value in values]
    with np.errstate(all="ignore"):
        results = [float(function(*scalars)) for scalars in zip(*flat, strict=True)]
        out[...] = np.array(results, dtype=out.dtype).reshape(out.shape)


@lru_cache(maxsize=1024)
def function_of(form: ScalarForm) -> Callable[..., Any]:
    """A Python function for a form that no author wrote, such as a slope."""
    namespace: dict[str, Any] = {**FUNCTIONS, **_WITHOUT_NAME, "inf": np.inf, "nan": np.nan}
    exec(compile(python_source(form), f"<mapper {form.name}>", "exec"), namespace)  # noqa: S102 -- our own text
    function: Callable[..., Any] = namespace[form.name]
    return function


_WITHOUT_NAME = {"remainder": np.remainder, "floor_divide": np.floor_divide}
