from __future__ import annotations

import numpy as np
import pytest

import operad as od

INF, NAN = float("inf"), float("nan")


def close(a: list[float], b: list[float], dtype: str = "float32", **params: float) -> int:
    arrays = (od.nd.array(values, dtype=dtype) for values in (a, b))
    return int(od.nd._contrib_allclose(*arrays, **params).asnumpy())


def test_the_tolerance_is_relative_to_the_second_array() -> None:
    assert close([10.0], [11.0], rtol=0.095, atol=0.0) == 1
    assert close([11.0], [10.0], rtol=0.095, atol=0.0) == 0


def test_one_element_that_is_far_decides() -> None:
    assert close([1.0, 2.0, 3.0], [1.0, 2.5, 3.0]) == 0


@pytest.mark.parametrize("pair", [([INF], [INF]), ([-INF], [-INF]), ([], [])])
def test_equal_is_close(pair: tuple[list[float], list[float]]) -> None:
    assert close(*pair, rtol=0.0, atol=0.0) == 1


@pytest.mark.parametrize("pair", [([INF], [-INF]), ([INF], [1.0]), ([1.0], [INF]), ([NAN], [1.0])])
def test_no_tolerance_reaches_infinity_or_nan(pair: tuple[list[float], list[float]]) -> None:
    assert close(*pair, rtol=0.5, atol=1e30) == 0


def test_nan_is_close_to_nan_if_asked_for() -> None:
    assert [close([NAN, 1.0], [NAN, 1.0], equal_nan=equal) for equal in (True, False)] == [1, 0]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int64", "float16", "float64"])
def test_whole_numbers_do_not_wrap_around(dtype: str) -> None:
    low, high = (0, 127) if dtype != "int8" else (-128, 127)
    assert close([low], [high], dtype, rtol=0.0, atol=100.0) == 0
    assert close([low], [high], dtype, rtol=0.0, atol=256.0) == 1


def test_symbol_and_array_agree() -> None:
    symbol = od.sym._contrib_allclose(od.sym.var("a"), od.sym.var("b"), atol=0.5)
    executor = symbol.simple_bind(od.cpu(), a=(2,), b=(2,))
    for other, expected in (([1.0, 2.25], 1), ([1.0, 3.0], 0)):
        output = executor.forward(a=od.nd.array([1.0, 2.0]), b=od.nd.array(other))[0]
        assert (output.shape, output.dtype, int(output.asnumpy())) == ((), np.dtype("uint8"), expected)
