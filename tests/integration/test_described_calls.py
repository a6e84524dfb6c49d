"""Calls as `operad describe` and stubs show them, of all operators."""

from __future__ import annotations

import inspect

import pytest

import operad as od
from operad import registry
from operad.cli.calls import call_of
from operad.cli.samples import sample_property, variants


def described():
    """Every operator that takes tensors by name, and the form of its call."""
    for name in registry.list_operators(aliases=False):
        op = registry.get(name)
        if not op.takes_more_params and op.key_var_num_args is None and not op.num_subgraphs:
            yield name, op, call_of(op)


@pytest.mark.more  # of all operators, by two commands
def test_tensors_are_shown_in_the_order_in_which_calls_take_them():
    compared, moved = 0, 0
    for name, op, form in described():
        shown = [tensor.name for tensor in form.tensors]
        for prop in variants(sample_property(op, {})):
            taken = prop.list_inputs()
            assert [each for each in shown if each in taken] == taken, name
            moved += taken != [*prop.list_arguments(), *prop.list_auxiliary_states()]
        compared += 1
    assert compared > 300
    assert moved >= 8  # whose states stand among their arguments


def test_parameters_that_a_call_takes_by_position_are_shown_in_its_order():
    for name, op, form in described():
        by_position = [
            each.name
            for each in inspect.signature(getattr(od.nd, name)).parameters.values()
            if each.kind is each.POSITIONAL_OR_KEYWORD and each.name in op.params
        ]
        shown = [
            each.name for required in (True, False) for each in form.params if each.is_required is required
        ]
        assert [each for each in shown if each in by_position] == by_position, name
