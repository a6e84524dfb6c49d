from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ShapeError
from operad_check.testing import check_forward
from operad_reduce.argmax import ArgMax, ArgMaxChannel, ArgMin

RNG = np.random.default_rng(43)


@pytest.mark.walk
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize(("op", "find"), [(ArgMax, np.argmax), (ArgMin, np.argmin)])
def test_finds_the_first_extremum_in_the_datas_type(
    op: Any, find: Any, axis: int | None, keepdims: bool, dtype: str
) -> None:
    data = RNG.integers(0, 4, (3, 4, 5)).astype(dtype)  # many are equal
    expected = np.atleast_1d(find(data, axis=axis, keepdims=keepdims))
    (output,) = check_forward(op, [data], expected, axis=axis, keepdims=keepdims)
    assert output.dtype == dtype
    assert op().differentiable_inputs() == [False]


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (0, 3)])
def test_finds_the_largest_channel(shape: Any) -> None:
    data = RNG.permutation(int(np.prod(shape))).reshape(shape).astype("float32")
    check_forward(ArgMaxChannel, [data], np.argmax(data, axis=1))


def test_a_nan_is_the_extremum() -> None:
    check_forward(ArgMax, [np.array([1, np.nan, 2])], np.array([1]), axis=0)


def test_nothing_has_no_extremum() -> None:
    for op, params in ((ArgMax, {"axis": 0}), (ArgMin, {}), (ArgMaxChannel, {})):
        shape = (4, 0) if op is ArgMaxChannel else (0, 3)
        with pytest.raises(ShapeError, match="expected at least one"):
            op(**params).infer_shape([shape])
    assert ArgMax(axis=1).infer_shape([(0, 3)])[1] == [(0,)]


def test_wrong_axes_are_refused() -> None:
    with pytest.raises(ShapeError, match="axis is 2, expected -2 to 1"):
        ArgMax(axis=2).infer_shape([(2, 3)])


def test_channels_run_imperatively_and_symbolically() -> None:
    data = od.nd.array(RNG.normal(size=(2, 3, 4)))
    eager = od.nd.argmax_channel(data).asnumpy()
    bound = od.sym.argmax_channel(od.sym.var("data")).bind(od.cpu(), {"data": data})
    np.testing.assert_array_equal(bound.forward()[0].asnumpy(), eager)
