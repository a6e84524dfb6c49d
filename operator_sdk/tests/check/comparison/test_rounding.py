"""Limits on what rounding may cost."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk import Contract, Tolerance, unary
from operad_sdk.check import verify
from operad_sdk.check.trials.case import Case
from operad_sdk.check.trials.violation import Violation


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
