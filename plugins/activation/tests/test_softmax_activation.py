from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import operad as od
from operad.errors import DTypeError
from operad_activation import SoftmaxActivation
from operad_sdk.testing import check_forward, gradient_check

DATA = np.random.default_rng(5).normal(size=(2, 3, 2))


@pytest.mark.parametrize(("mode", "axes"), [("instance", (1, 2)), ("channel", 1)])
def test_sums_to_one_over_what_the_mode_says(mode: str, axes: tuple[int, ...]) -> None:
    check_forward(SoftmaxActivation, [DATA], special.softmax(DATA, axes), mode=mode)
    gradient_check(SoftmaxActivation, [DATA], mode=mode)


def test_whole_numbers_are_refused() -> None:
    with pytest.raises(DTypeError, match="cast with astype"):
        SoftmaxActivation().infer_type([np.dtype("int64")])


def test_runs_imperatively_and_symbolically() -> None:
    data = od.nd.array(DATA)
    symbol = od.sym.SoftmaxActivation(od.sym.var("data"))
    np.testing.assert_array_equal(
        symbol.bind(od.cpu(), {"data": data}).forward()[0].asnumpy(), od.nd.SoftmaxActivation(data).asnumpy()
    )
