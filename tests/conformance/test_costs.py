"""Costs that operators give per element, within a factor of three of those of their scalar forms."""

from __future__ import annotations

import numpy as np
import pytest

from operad import registry
from operad.cli.samples import sample_property, sample_shapes
from operad.errors import DTypeError, OperadError
from operad.operator import ScalarForm
from operad_sdk import OperatorProperty
from operad_sdk.declare.element_cost import element_cost, form_cost

MOVED = 1.0
"""Operations of loops that moving an element is worth: what is cheaper need not be distinguished."""
SINGLE = np.dtype(np.float32)

COMPILED = {"smooth_l1"}
"""A mapper of one pass in vector code, a tenth of what its form costs in NumPy's."""
OTHERS = {
    "ftml_update", "ftrl_update", "rmspropalex_update",  # the longest rules of a family with one number
    "_Logical_Xor", "broadcast_logical_xor",  # one function of NumPy's, of which forms make five
    "multi_lars",  # one element for each tensor
    "lamb_update_phase2", "mp_lamb_update_phase2", "_multi_lamb_update",
    "_multi_mp_lamb_update",  # the form has norms, which are not for each element
}  # fmt: skip


def form_of(name: str) -> tuple[type[OperatorProperty], ScalarForm] | None:
    """An operator with the form of its forward pass, if it has one for made-up parameters and shapes."""
    cls = registry.get(name)
    if not issubclass(cls, OperatorProperty):
        return None
    try:
        prop = sample_property(cls, {})
        shapes = sample_shapes(prop)
    except OperadError:
        return None
    if not shapes:
        return None
    try:
        types = prop.infer_type([SINGLE, *[None] * (len(shapes) - 1)])[0]
    except DTypeError:  # of integers alone
        return None
    form = prop.scalar_form("forward", shapes, [dtype or SINGLE for dtype in types])
    return (cls, form) if isinstance(form, ScalarForm) else None


def said(cls: type[OperatorProperty]) -> float:
    declared = cls._forward_function
    assert declared is not None
    return element_cost(declared.function) if cls.element_cost is None else cls.element_cost


def test_costs_of_elements_are_those_of_forms() -> None:
    wrong, tried = [], 0
    for name in registry.list_operators(aliases=False):
        found = form_of(name)
        if found is None or name in COMPILED | OTHERS:
            continue
        cls, form = found
        tried += 1
        ratio = (said(cls) + MOVED) / (form_cost(form) + MOVED)
        if not 1 / 3 <= ratio <= 3:
            wrong.append(f"{name}: {said(cls):.2g}, expected about {form_cost(form):.2g}")
    assert tried > 100
    assert not wrong, "declare element_cost, or correct it: " + "; ".join(wrong)


@pytest.mark.parametrize("name", sorted(COMPILED | OTHERS))
def test_exceptions_are_still_needed(name: str) -> None:
    found = form_of(name)
    assert found is not None
    cls, form = found
    assert (said(cls) + MOVED) / (form_cost(form) + MOVED) < 0.5
