"""What rounding costs where the numbers of a short row are such that it does not show."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check.cases.retype import lengthened
from operad_check.comparison.rounding import expect_near, hidden_movements
from operad_check.foreign.function import function_of
from operad_check.foreign.numpy_backend import NumpyBackend
from operad_check.foreign.subject import subject_of_function
from operad_check.trials.case import Case
from operad_check.trials.trial import Trial
from operad_check.trials.violation import Violation
from operator_sdk.check.tests.foreign import functions

ROW = np.array([[-1.625, -1.875, -1.625]])


def expect_near_with(error):
    """Compare gradients of a row of which two numbers are alike, the third one wrong by so much."""
    backend = NumpyBackend(functions.standardized_grad)
    function = function_of(backend, functions.standardized, "x:(N, D) -> y:(N, D)")
    trial = Trial(subject_of_function(function), Case(inputs={"x": ROW}, out_grads=(ROW,)))

    def values(each):
        return each.backward()

    (gradient,) = values(trial)
    found = (gradient + np.array([0, error, 0])).astype(np.float32)
    expect_near(["gradient of x"], [found], trial, values, np.dtype(np.float32), are_gradients=True)


def test_two_alike_of_three_do_not_hide_what_rounding_costs_the_third():
    # the mean is known to 2^-23 of 1.7, and the deviation is 0.1
    expect_near_with(6.4e-6)


def test_more_than_roundings_is_found():
    with pytest.raises(Violation, match=r"gradient of x\[0, 1\]"):
        expect_near_with(1e-3)


def test_a_result_may_have_an_axis_of_its_own():
    def differences(x):
        return np.stack([x - x.mean(1, keepdims=True), x], -1)

    function = function_of(NumpyBackend(), differences, "x:(N, D) -> y:(N, D, 2)")
    trial = Trial(subject_of_function(function), Case(inputs={"x": np.full((2, 1), 1.5)}))
    (longer,) = lengthened(trial, 8).out_shapes
    assert longer == (4, 4, 2)
    (hidden,) = hidden_movements(trial, _outputs, trial.result.outputs, [_outputs], 2.0**-23)
    assert hidden.shape == (2, 1, 2)
    assert hidden[..., 0].all()


def _outputs(trial):
    return trial.result.outputs
