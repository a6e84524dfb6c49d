"""Lines on plugins' pages about gradients of gradients (`make tables` compares them all), and symbols."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import autograd, registry
from operad.context import cpu
from operad.errors import OperadError
from operad.graph import Entry, Variable
from operad.symbol import Symbol
from operad.symbol.compose import apply
from operad_check.cases.kinds import SMOOTH
from operad_check.plan.profile import Profile
from operad_check.running.session import Session
from operad_check.trials.subject import subject_of
from operad_check.trials.trial import Trial
from operad_check.trials.violation import OperatorRaised
from tools import second_order
from tools.workspace import ROOT, distributions

OPERATORS = [
    name
    for distribution in distributions(ROOT)
    if distribution.is_plugin
    for name in distribution.entry_points("operad.operators")
]


def test_a_line_is_put_between_markers_and_found_again():
    page = second_order.with_line("# A plugin\n", "first")
    assert page.startswith("# A plugin\n\n" + second_order.BEGIN + "\nfirst\n")
    assert second_order.with_line(page, "second") == page.replace("first", "second")


def trial_of(name):
    """A trial whose gradient can be differentiated; None where there is none."""
    for case in Session(subject_of(name), Profile("few", examples=3, seconds=3.0)).pool(SMOOTH):
        try:
            trial = Trial(subject_of(name), case)
            if any(trial.differentiable()) and not trial.states and all(np.size(x) for x in trial.inputs):
                trial.prop.gradient_operator(cpu(), trial.in_shapes, trial.in_types, trial.differentiable())
                return trial
        except (OperatorRaised, OperadError):
            continue
    return None


def recorded(trial, wrt):
    """The first and the second gradients."""
    arrays = [od.nd.array(array, dtype=np.asarray(array).dtype) for array in trial.inputs]
    for place in wrt:
        arrays[place].attach_grad()
    variables = [arrays[place] for place in wrt]
    with autograd.record():
        made = od.nd.invoke(trial.prop.name, arrays, trial.prop.get_params())
        first = autograd.grad(made, variables, create_graph=True)
        second = autograd.grad(first, variables, create_graph=True)
    return first, second


@pytest.mark.slow
def test_symbols_have_the_gradients_of_gradients_that_are_recorded_bit_by_bit():
    compared = 0
    for name in OPERATORS:
        record = registry.find(name)
        trial = None if record is None or record.is_alias else trial_of(name)
        if trial is None:
            continue
        wrt = [place for place, flag in enumerate(trial.differentiable()) if flag]
        arguments = {key: Entry(Variable(f"v{i}")) for i, key in enumerate(trial.prop.list_arguments())}
        node = apply(trial.prop, arguments, name="op")
        symbol = Symbol([Entry(node, i) for i in range(trial.prop.num_visible_outputs)])
        arrays = {f"v{i}": od.nd.array(x, dtype=np.asarray(x).dtype) for i, x in enumerate(trial.inputs)}
        od.random.seed(3)
        for order, gradients in enumerate(recorded(trial, wrt), 1):
            symbol = symbol.gradient([f"v{place}" for place in wrt])
            given = {key: arrays[key] for key in symbol.list_arguments()}
            od.random.seed(3)
            found = symbol.bind(None, given, grad_req="null").forward(is_train=True)
            for one, other in zip(found, gradients, strict=True):
                what = f"{name}: gradient {order}"
                np.testing.assert_array_equal(one.asnumpy(), other.asnumpy(), err_msg=what)
        compared += 1
    assert compared > 150
