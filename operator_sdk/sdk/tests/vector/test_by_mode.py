"""An operator whose parts depend on the mode makes the kernel of a mode where it is first used."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import CallTemplate, ForwardArrays, OpContext, Operator, OpReq
from operad_sdk.vector.by_mode import ByMode


class Filling(Operator):
    def __init__(self, value):
        self.value = value

    def forward(self, op_ctx, arrays):
        arrays.out_data[0][...] = self.value

    def forward_templates(self, op_ctx, *counts):
        return [CallTemplate(self.forward, (op_ctx,))]


@pytest.mark.parametrize("is_train", [True, False])
def test_only_the_kernel_of_the_mode_is_made_and_once(is_train):
    made = []

    def maker(value):
        def make():
            made.append(value)
            return Filling(value)

        return make

    operator, out = ByMode(maker(1.0), maker(2.0)), np.zeros(3)
    assert made == []
    for _ in range(2):
        operator.forward_templates(OpContext(cpu(), is_train, ()), (OpReq.WRITE,), 0, 0)
        operator.forward(OpContext(cpu(), is_train, ()), ForwardArrays([], [OpReq.WRITE], [out], []))
    wanted = 1.0 if is_train else 2.0
    assert (made, out.tolist()) == ([wanted], [wanted] * 3)
