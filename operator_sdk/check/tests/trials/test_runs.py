"""Cases run as a user's program: operators are called as their shape lines have them."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import Case, verify
from operad_sdk import OperatorProperty, operator, param


@operator("runs_steps")
class Steps(OperatorProperty):
    """Steps of several weights, whose states stand before other arguments."""

    count = param(int, 2, ge=1, doc="How many there are.")
    spec = "weight[count]:(*S[i]) & state sum[count]:(*S[i]), rate:(1) -> output[count]:(*S[i])"
    accepts = "floating"
    inplace = "weight -> output"

    def forward(weight, sum, rate, output):
        for one, total, target in zip(weight, sum, output, strict=True):
            total += one
            np.subtract(one, rate * total, out=target)


@pytest.mark.parametrize("check_id", ["R503", "S106"])
def test_states_before_arguments_and_pairs_of_groups_are_checked_as_declared(check_id: str) -> None:
    weights = {f"weight{i}": np.array([i + 1.0, 4.0]) for i in range(2)}
    sums = {f"sum{i}": np.array([8.0, 16.0 * i]) for i in range(2)}
    case = Case(inputs={**weights, "rate": np.array([0.5])}, aux=sums, is_train=True, seed=0)
    verify(check_id, Steps, case)


@operator("runs_standardized")
class Standardized(OperatorProperty):
    """Rows less their mean, over their deviation, which a kernel of its form rounds otherwise."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data):
        centred = data - data.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 0.5)

    def data_grad(output_grad, data):
        return output_grad / np.sqrt((data * data).mean(axis=1, keepdims=True) + 0.5)


@pytest.mark.parametrize("check_id", ["R501", "R503"])
def test_what_a_program_computes_by_a_kernel_of_a_form_is_compared_with_that(check_id: str) -> None:
    def case(rows: int) -> Case:
        data = np.random.default_rng(rows).normal(size=(rows, 30)).astype(np.float32)
        return Case(inputs={"data": data}, is_train=True, seed=0)

    verify(check_id, Standardized, case(4), case(20))
