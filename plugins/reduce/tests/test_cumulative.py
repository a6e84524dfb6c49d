from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward, gradient_check
from operad_reduce.cumulative import CumSum

RNG = np.random.default_rng(47)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 2), (0, 2)])
def test_values_and_gradients(shape: Any, axis: int | None) -> None:
    data = RNG.normal(size=shape)
    check_forward(CumSum, [data], np.cumsum(data, axis=axis), axis=axis)
    gradient_check(CumSum, [data], axis=axis)


@pytest.mark.parametrize(
    ("given", "dtype", "result"),
    [("int8", None, "int8"), ("float32", "float64", "float64"), ("float32", "int32", "int32")],
)
def test_the_type_is_the_datas_or_the_one_asked_for(given: str, dtype: str | None, result: str) -> None:
    (output,) = check_forward(CumSum, [np.array([1, 2], given)], np.array([1, 3]), dtype=dtype)
    assert output.dtype == result


def test_half_precision_is_summed_in_single_precision() -> None:
    (output,) = check_forward(CumSum, [np.ones(4096, "float16")])
    assert output[-1] == 4096


def test_wrong_axes_are_refused() -> None:
    with pytest.raises(ShapeError, match="axis is 2, expected -2 to 1"):
        CumSum(axis=2).infer_shape([(2, 3)])


def test_runs_imperatively_and_symbolically() -> None:
    data = od.nd.array([[1, 2], [3, 4]])
    eager = od.nd.cumsum(data, axis=1).asnumpy()
    bound = od.sym.cumsum(od.sym.var("a"), axis=1).bind(od.cpu(), {"a": data})
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), eager)
