"""Costs of functions for each element, out of a table: a logarithm costs more than an addition."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad.operator import ARITHMETIC, ScalarForm, rates
from operad_sdk.errors import DeclarationError

_PASS: Final = 0.4
"""Cost for each element of one more NumPy pass over arrays in a cache, in operations of loops."""
REPEATED: Final = 0.4
"""Added cost for each element where an argument is repeated along an axis: NumPy's loop ends at each row."""
_UFUNC_US: Final = 0.3
_FUNCTION_US: Final = 4.0
_FREE: Final = frozenset(("input", "constant", "length", "position"))


def check_cost(name: str, declared: Any) -> None:
    """Raise DeclarationError unless the declared cost of an operator's element is a number, or None."""
    if declared is not None and not isinstance(declared, int | float):
        raise DeclarationError(
            f"operator {name!r}: element_cost is {declared!r}, expected a number; "
            "what depends on a call is said by `cost`"
        )


def element_cost(function: Any) -> float:
    """Cost of a function for each element, in operations of loops, without the moving of its arrays."""
    if isinstance(function, np.ufunc):
        return function_cost(function.__name__)
    said: float | None = getattr(function, "element_cost", None)
    if said is not None:
        return said
    mapper = getattr(function, "mapper", None)
    return _PASS if mapper is None else form_cost(mapper.form)


def call_us(function: Any) -> float:
    """Time of a call of a function however small its arrays are, in microseconds."""
    return _UFUNC_US if isinstance(function, np.ufunc) else _FUNCTION_US


def function_cost(name: str) -> float:
    """Time of a function of elements beside reading and writing, in operations of loops.

    Args:
        name: NumPy's, or that of a scalar form.
    """
    functions = rates().functions
    found = functions.get(name)
    if found is None and name.startswith("a"):  # `acos` is `arccos`
        found = functions.get(f"arc{name[1:]}")
    return ARITHMETIC if found is None else found


def form_cost(form: ScalarForm) -> float:
    """Cost of a form as NumPy computes it, one function after another."""
    steps = [function_cost(step.op) for step in form.instructions if step.op not in _FREE]
    return sum(steps) + _PASS * max(0, len(steps) - 1) if steps else ARITHMETIC
