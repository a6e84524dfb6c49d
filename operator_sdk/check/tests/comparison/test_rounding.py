"""Limits on what rounding may cost."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import verify
from operad_check.trials.case import Case
from operad_check.trials.violation import Violation
from operad_sdk import Contract, OperatorProperty, Tolerance, operator, unary


def thousandth_of_a_sum(contract):
    """A function that adds 1000 in single precision, and subtracts it again."""

    @unary("rounding_through_a_thousand", accepts="floating", contract=contract)
    def op(x):
        large = x.dtype.type(1000)
        return (x + large) - large

    return op


CASE = Case(inputs={"data": np.array([0.1, 0.2], "float32")})


def test_a_declared_tolerance_allows_what_the_measured_one_does_not():
    with pytest.raises(Violation, match="D602"):
        verify("D602", thousandth_of_a_sum(Contract()), CASE)
    allowed = Contract(tolerances={"float32": Tolerance(0.0, 1e-3, "digits of a thousand are lost")})
    assert verify("D602", thousandth_of_a_sum(allowed), CASE)


def test_a_declared_tolerance_takes_nothing_from_the_measured_one():
    @unary("rounding_double", accepts="floating")
    def exponential(x):
        return np.exp(x) / 3

    exponential.contract = Contract(tolerances={"float32": Tolerance(0.0, 0.0, "of other elements")})
    assert verify("D602", exponential, CASE)


def test_a_sum_with_a_row_whose_squares_overflow_is_not_judged_where_scale_hardly_moves_it():
    """The other rows move by a millionth where they are doubled, as the number below the root is not."""

    @operator("rounding_rms")
    class Rms(OperatorProperty):
        spec = "data:(N, D), gamma:(D) -> output:(N, D)"
        accepts = "floating"
        compute_dtype = "float32"

        def forward(data, gamma):
            return data / np.sqrt((data * data).mean(-1, keepdims=True) + 1e-6) * gamma

        def gamma_grad(output_grad, data):
            return (output_grad * data / np.sqrt((data * data).mean(-1, keepdims=True) + 1e-6)).sum(0)

    data = np.ones((3, 3), "float32")
    data[0, 2] = 1e34
    verify("D603", Rms, Case(inputs={"data": data, "gamma": np.ones(3, "float32")}))


def beside_a_kink(slope: float):
    """A function that rounds on its way to a kink, where three roundings of the argument are one of it."""

    @unary("rounding_kink", accepts="floating")
    def op(x):
        return np.maximum((x + 8) - 9, 0)

    @op.gradient
    def _(output_grad, x):
        return output_grad * x.dtype.type(slope) * ((x + 8) - 9 > 0)

    return op


NEAR_ONE = Case(inputs={"data": np.array([1 + 3 * 2**-10], "float16")}, out_grads=(np.ones(1, "float16"),))


def test_an_error_of_several_roundings_may_reach_the_other_side_of_a_kink():
    assert verify("D603", beside_a_kink(1.0), NEAR_ONE)


def test_what_lies_beyond_the_slopes_on_both_sides_is_no_kink():
    @unary("rounding_three_slopes", accepts="floating")
    def op(x):
        return np.maximum(x - 1, 0)

    @op.gradient
    def _(output_grad, x):
        return output_grad * (3 if x.dtype == np.float16 else 1) * (x > 1)

    with pytest.raises(Violation, match="D603"):
        verify("D603", op, NEAR_ONE)


def beside_a_jump(large: float):
    @unary("rounding_jump", accepts="floating")
    def op(x):
        return np.sign((x + large) - (large + 1))

    return op


def test_an_error_of_several_roundings_may_pass_a_jump():
    assert verify("D602", beside_a_jump(8), NEAR_ONE)


def test_an_error_of_more_roundings_than_sixteen_may_not():
    with pytest.raises(Violation, match="D602"):
        verify("D602", beside_a_jump(256), Case(inputs={"data": np.array([1 + 2**-4], "float16")}))
