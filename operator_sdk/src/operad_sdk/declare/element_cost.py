"""Costs of functions per element, from a table: an addition is no logarithm."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad.operator import ARITHMETIC, ScalarForm, function_cost

_PASS: Final = 0.4
"""What one more of NumPy's passes over arrays in a cache costs an element, in operations of loops."""
_UFUNC_US: Final = 0.3
_FUNCTION_US: Final = 4.0
_FREE: Final = frozenset(("input", "constant", "length"))


def element_cost(function: Any) -> float:
    """What a function costs for each element, in operations of loops, beside moving its arrays."""
    if isinstance(function, np.ufunc):
        return function_cost(function.__name__)
    said: float | None = getattr(function, "element_cost", None)
    if said is not None:
        return said
    mapper = getattr(function, "mapper", None)
    return _PASS if mapper is None else form_cost(mapper.form)


def call_us(function: Any) -> float:
    """What a call of a function takes however small its arrays are, in microseconds."""
    return _UFUNC_US if isinstance(function, np.ufunc) else _FUNCTION_US


def form_cost(form: ScalarForm) -> float:
    """What a form costs as NumPy computes it, one function after another."""
    steps = [function_cost(step.op) for step in form.instructions if step.op not in _FREE]
    return sum(steps) + _PASS * max(0, len(steps) - 1) if steps else ARITHMETIC
