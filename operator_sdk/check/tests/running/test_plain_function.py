from __future__ import annotations

import numpy as np
import pytest

from operad_check import Profile, check_function
from operad_sdk import Contract

FEW = Profile("few", examples=20, seconds=1.0)


def tanh_grad(output_grad, output):
    return output_grad * (1 - output * output)


def test_a_right_pair_passes_every_check():
    assert check_function(np.tanh, tanh_grad, profile=FEW).red_ids == []


@pytest.mark.more
def test_a_wrong_gradient_is_red_with_its_echoes_folded():
    report = check_function(np.tanh, lambda output_grad, output: output_grad * (1 - output), profile=FEW)
    assert "B301" in report.red_ids
    assert [o.check_id for o in report.outcomes if o.red_id and not o.echo_of] == ["B301"]


def test_a_shape_line_and_parameters_are_as_for_an_operator():
    def dense(x, w, factor=1.0):
        return factor * x @ w.T

    def x_grad(output_grad, w, factor):
        return factor * output_grad @ w

    def w_grad(output_grad, x, factor):
        return factor * output_grad.T @ x

    spec = "x:(N, D), w:(H, D) -> output:(N, H)"
    report = check_function(dense, [x_grad, w_grad], spec=spec, checks=["B301", "B302", "F202"], profile=FEW)
    assert report.red_ids == []


def test_a_reference_is_given_as_for_an_operator():
    contract = Contract(reference=np.sinh)
    assert check_function(np.tanh, contract=contract, checks=["F213"], profile=FEW).red_ids == ["F213"]
