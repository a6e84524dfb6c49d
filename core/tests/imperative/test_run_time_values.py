"""When values of run-time parameters count as those of the call before."""

from __future__ import annotations

import pytest

from operad.imperative.run_time import RunTime
from operad.op import OperatorProperty, param


class Update(OperatorProperty):
    lr = param(float, run_time=True)
    momentum = param(float, 0.0, run_time=True)

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]], []


@pytest.mark.parametrize(
    ("last", "given", "alike"),
    [
        ((0.5, 0.9), (float("0.5"), float("0.9")), True),
        ((0.5, 0.9), (0.5, 0.8), False),
        ((0.0, 0.9), (float("0.0"), 0.9), True),
        ((0.0, 0.9), (-0.0, 0.9), False),
        ((1.0, 0.9), (1, 0.9), False),
        ((float("nan"), 0.9), (float("nan"), 0.9), False),
    ],
)
def test_equal_floats_are_alike_but_zeros_and_other_types_are_not(last, given, alike):
    assert RunTime(Update(lr=1.0)).are_alike(last, given) is alike
