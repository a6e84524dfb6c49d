from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.errors import ParamError, ShapeError
from operad_check.testing import check_forward, gradient_check

RNG = np.random.default_rng(4)
TYPES = ["float16", "float32", "float64", "int32", "uint8", "bool"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(2, 3), (0, 2)])
def test_an_array_of_one_value_has_its_shape_and_type(dtype: str, shape: tuple[int, ...]) -> None:
    for name, value in {"_zeros": 0, "_ones": 1}.items():
        (out,) = check_forward(registry.get(name), [], np.full(shape, value), shape=shape, dtype=dtype)
        assert out.dtype == dtype
    (out,) = check_forward(registry.get("_full"), [], np.full(shape, 1), shape=shape, dtype=dtype, value=1)
    assert out.dtype == dtype


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"start": 3}, [0, 1, 2]),
        ({"start": 1, "stop": 3, "step": 0.5}, [1, 1.5, 2, 2.5]),
        ({"start": 3, "stop": 0, "step": -2}, [3, 1]),
        ({"start": 0, "stop": 2, "repeat": 3}, [0, 0, 0, 1, 1, 1]),
        ({"start": 3, "stop": 1}, []),
        ({"start": 0, "stop": 4, "dtype": "int64"}, [0, 1, 2, 3]),
    ],
)
def test_arange_counts_by_steps(params: dict[str, float], expected: list[float]) -> None:
    check_forward(registry.get("_arange"), [], np.array(expected), **params)


def test_arange_adds_up_no_error() -> None:
    values = od.nd.arange(0, 1000, 0.1, dtype="float64").asnumpy()
    np.testing.assert_array_equal(values, np.arange(10000) * 0.1)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"start": 1.7, "stop": 9, "step": 2.6, "dtype": "int32"}, [1, 3, 5]),
        ({"start": -3, "stop": 5, "step": 2, "dtype": "uint8"}, [253, 255, 1, 3]),
        ({"start": 0, "stop": 5, "step": 1.5, "repeat": 2, "dtype": "int32"}, [0, 0, 1, 1, 2, 2, 3, 3]),
        ({"start": 10, "stop": 0, "step": -2.5, "dtype": "int32"}, [10, 8, 6, 4]),
    ],
)
def test_integers_count_from_a_whole_start_by_whole_steps_as_in_mxnet(
    params: dict[str, float], expected: list[int]
) -> None:
    check_forward(registry.get("_arange"), [], np.array(expected), **params)


@pytest.mark.parametrize(("value", "expected"), [(-1, 255), (300, 44), (-1.5, 255), (1.7, 1)])
def test_full_wraps_what_an_integer_type_cannot_hold(value: float, expected: int) -> None:
    check_forward(registry.get("_full"), [], np.full(2, expected), shape=(2,), dtype="uint8", value=value)


def test_full_refuses_integers_that_are_not_finite() -> None:
    with pytest.raises(ParamError, match="value is nan, expected a finite number for int32"):
        od.nd.full((2,), float("nan"), dtype="int32").asnumpy()


def test_arange_like_refuses_an_axis_that_is_not_there() -> None:
    with pytest.raises(ShapeError, match="axis is 1000000, expected one of the 2 axes"):
        od.nd._contrib_arange_like(od.nd.ones((2, 3)), axis=10**6)


def test_parameters_come_in_mxnets_order() -> None:
    assert list(registry.get("_full").params) == ["shape", "ctx", "dtype", "value"]


def test_arange_refuses_a_step_of_zero() -> None:
    with pytest.raises(ParamError, match="step"):
        od.nd.arange(0, 1, 0)


def test_arange_may_take_its_length_from_its_use() -> None:
    ranged = od.sym._arange(start=2, infer_range=True)
    symbol = od.sym._copyto(ranged)
    assert symbol.infer_shape()[1] is None
    assert registry.get("_arange")(start=2, infer_range=True).infer_shape([])[1] == [(None,)]


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 5])
def test_linspace_counts_by_number(endpoint: bool, num: int) -> None:
    expected = np.linspace(-1, 2, num, endpoint=endpoint)
    params = {"start": -1, "stop": 2, "num": num, "endpoint": endpoint, "dtype": "float64"}
    check_forward(registry.get("_linspace"), [], expected, **params)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"start": 1, "step": 2}, [[1, 3, 5], [7, 9, 11]]),
        ({"repeat": 2}, [[0, 0, 1], [1, 2, 2]]),
        ({"axis": -1, "repeat": 2}, [0, 0, 1]),
        ({"axis": 0}, [0, 1]),
    ],
)
def test_arange_like_takes_its_shape_from_an_array(params: dict[str, int], expected: list[int]) -> None:
    data = RNG.normal(size=(2, 3))
    check_forward(registry.get("_contrib_arange_like"), [data], np.array(expected, float), **params)


@pytest.mark.parametrize(("rows", "columns", "k"), [(3, 0, 0), (2, 4, 1), (4, 2, -1), (2, 2, 5), (0, 0, 0)])
def test_eye_has_ones_on_one_diagonal(rows: int, columns: int, k: int) -> None:
    check_forward(registry.get("_eye"), [], np.eye(rows, columns or None, k), N=rows, M=columns, k=k)


def test_copyto_copies_and_passes_the_gradient() -> None:
    data = RNG.normal(size=(2, 3))
    check_forward(registry.get("_copyto"), [data], data)
    gradient_check(registry.get("_copyto"), [data])


def test_parameters_are_read_from_mxnets_files() -> None:
    made = registry.get("_full")(shape="(2, 3)", value="1.5", dtype="float16", ctx="cpu(0)")
    assert (made.shape, made.value, made.dtype) == ((2, 3), 1.5, "float16")


def test_runs_imperatively_and_symbolically() -> None:
    for name, params in {
        "_zeros": {"shape": (2,)},
        "_ones": {"shape": (2,)},
        "_full": {"shape": (2,), "value": 3.0},
        "_arange": {"start": 3},
        "_linspace": {"start": 0, "stop": 1, "num": 3},
        "_eye": {"N": 2},
    }.items():
        eager = getattr(od.nd, name)(**params)
        executor = getattr(od.sym, name)(**params).bind(od.cpu(), {})
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), eager.asnumpy())
