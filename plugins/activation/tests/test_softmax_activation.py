from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import operad as od
from operad.errors import DTypeError
from operad_activation.softmax_activation import SoftmaxActivation
from operad_check.testing import check_forward, gradient_check

DATA = np.random.default_rng(5).normal(size=(2, 3, 2))


@pytest.mark.parametrize(("mode", "axis"), [("instance", -1), ("channel", 1)])
def test_sums_to_one_over_what_the_mode_says(mode: str, axis: int) -> None:
    check_forward(SoftmaxActivation, [DATA], special.softmax(DATA, axis), mode=mode)
    gradient_check(SoftmaxActivation, [DATA], mode=mode)


def test_instances_sum_to_one_along_their_last_axis_as_in_mxnet() -> None:
    data = np.array([[[0, 1, 2, 3], [1.0, 1, 1, 1]]], np.float32)
    expected = [[[0.03205860, 0.08714432, 0.23688284, 0.64391428], [0.25] * 4]]
    check_forward(SoftmaxActivation, [data], np.array(expected), rtol=1e-6)


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="cast with astype"):
        SoftmaxActivation().infer_type([np.dtype("int64")])


def test_runs_imperatively_and_symbolically() -> None:
    data = od.nd.array(DATA)
    symbol = od.sym.SoftmaxActivation(od.sym.var("data"))
    np.testing.assert_array_equal(
        symbol.bind(od.cpu(), {"data": data}).forward()[0].asnumpy(), od.nd.SoftmaxActivation(data).asnumpy()
    )
