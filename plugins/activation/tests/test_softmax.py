from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import operad as od
from operad.errors import DTypeError, ParamError, ShapeError
from operad_activation.softmax import log_softmax, softmax, softmin
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(5)
REFERENCES = {
    softmax: special.softmax,
    softmin: lambda x, axis: special.softmax(-x, axis),
    log_softmax: special.log_softmax,
}
FAMILY = pytest.mark.parametrize("op", REFERENCES, ids=lambda op: op.name)


@FAMILY
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("temperature", [None, 2.5])
def test_values_and_gradients_along_any_axis(op: Any, axis: int, temperature: float | None) -> None:
    data = RNG.normal(size=(3, 4, 2))
    expected = REFERENCES[op](data / (temperature or 1), axis=axis)
    check_forward(op, [data], expected, axis=axis, temperature=temperature)
    gradient_check(op, [data], axis=axis, temperature=temperature)


@FAMILY
@pytest.mark.parametrize(("dtype", "rtol"), [("float32", 1e-6), ("float16", 1e-3)])
def test_narrow_types_are_as_good_as_they_can_be(op: Any, dtype: str, rtol: float) -> None:
    data = RNG.normal(size=(3, 50)).astype(dtype)
    (output,) = check_forward(
        op, [data], REFERENCES[op](data.astype("float64"), axis=-1), rtol=rtol, atol=1e-6
    )
    assert output.dtype == dtype


@FAMILY
def test_an_output_type_can_be_asked_for(op: Any) -> None:
    data = RNG.normal(size=(3, 50)).astype("float16")
    expected = REFERENCES[op](data.astype("float64"), axis=-1)
    (output,) = check_forward(op, [data], expected, rtol=2e-6, dtype="float32")
    assert output.dtype == np.float32


@FAMILY
def test_an_output_type_of_whole_numbers_is_refused(op: Any) -> None:
    with pytest.raises(ParamError, match="expected one of 'float16', 'float32', 'float64'"):
        op(dtype="int32")


@FAMILY
def test_nothing_overflows(op: Any) -> None:
    data = np.array([[0, 1000], [-np.inf, 0]], np.float32)
    data = -data if op is softmin else data
    expected = [[-1000, 0], [-np.inf, 0]] if op is log_softmax else [[0, 1], [0, 1]]
    check_forward(op, [data], np.array(expected))


@FAMILY
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_data_gives_empty_output(op: Any, shape: tuple[int, int]) -> None:
    check_forward(op, [np.zeros(shape)], np.zeros(shape))
    gradient_check(op, [np.zeros(shape)])


def test_length_as_in_mxnet() -> None:
    data, length = np.array([[1.0, 2, 3, 4], [4, 3, 2, 1]], np.float32), np.array([2, 3], np.int32)
    expected = [[0.26894143, 0.7310586, 0, 0], [0.66524094, 0.24472848, 0.09003057, 0]]
    check_forward(softmax, [data, length], np.array(expected), use_length=True)


@FAMILY
@pytest.mark.parametrize("axis", [-1, 0])
def test_elements_beyond_the_length_take_no_part(op: Any, axis: int) -> None:
    data, length = RNG.normal(size=(4, 4)), np.array([1, 0, 4, 3])
    expected = np.zeros((4, 4))
    lines, out = (data, expected) if axis == -1 else (data.T, expected.T)
    for line, row, count in zip(lines, out, length, strict=True):
        row[:count] = REFERENCES[op](line[:count], axis=0) if count else 0
    check_forward(op, [data, length], expected, axis=axis, use_length=True)
    gradient_check(op, [data, length], axis=axis, use_length=True)


@FAMILY
def test_shapes(op: Any) -> None:
    assert op(use_length=True, axis=1).infer_shape([(2, 3, 4), None])[0] == [(2, 3, 4), (2, 4)]
    assert op().infer_shape_backward([None], [(2, 3)]) == [(2, 3)]
    with pytest.raises(ShapeError, match="length"):
        op(use_length=True).infer_shape([(2, 3), (3,)])
    with pytest.raises(ParamError, match="axis is 2, expected -2 to 1"):
        op(axis=2).infer_shape([(2, 3)])


@FAMILY
def test_whole_numbers_are_refused(op: Any) -> None:
    with pytest.raises(DTypeError, match="cast with astype"):
        op().infer_type([np.dtype("int64")])


@FAMILY
def test_runs_imperatively_and_symbolically(op: Any) -> None:
    data = od.nd.array(RNG.normal(size=(3, 4)))
    eager = getattr(od.nd, op.name)(data, axis=0)
    symbol = getattr(od.sym, op.name)(od.sym.var("data"), axis=0)
    np.testing.assert_array_equal(
        symbol.bind(od.cpu(), {"data": data}).forward()[0].asnumpy(), eager.asnumpy()
    )
