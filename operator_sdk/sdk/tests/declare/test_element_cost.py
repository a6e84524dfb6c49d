"""Costs of functions of elements."""

from __future__ import annotations

from operad.operator import DEFAULTS
from operad_sdk.declare.element_cost import function_cost


def test_names_of_scalar_forms_are_those_of_numpy() -> None:
    assert function_cost("acosh") == DEFAULTS.functions["arccosh"]
    assert function_cost("add") < function_cost("exp")
