from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_check.testing import check_forward, gradient_check
from operad_smooth_l1 import smooth_l1


def reference(x: Any, sigma: float) -> Any:
    s2 = sigma**2
    return np.where(abs(x) <= 1 / s2, 0.5 * s2 * x * x, abs(x) - 0.5 / s2)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_is_quadratic_inside_and_linear_outside(sigma: float, dtype: str) -> None:
    x = np.linspace(-5, 5, 42).reshape(6, 7).astype(dtype)
    check_forward(smooth_l1, [x], reference(x, sigma), scalar=sigma)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 3.0])
def test_gradient_is_the_slope(sigma: float) -> None:
    # between the points there is no kink, which lies at 1 / sigma**2 where the slope is continuous
    gradient_check(smooth_l1, [np.linspace(-5, 5, 42)], scalar=sigma)


def test_pieces_meet() -> None:
    for sigma in (0.5, 1.0, 2.0):
        at = 1 / sigma**2
        below, above = np.nextafter(at, 0), np.nextafter(at, 10)
        values = od.nd.smooth_l1(od.nd.array([below, above], dtype="float64"), scalar=sigma).asnumpy()
        np.testing.assert_allclose(values, 0.5 / sigma**2, rtol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 100_000])
def test_any_size_gives_its_own_size(size: int) -> None:
    x = np.linspace(-3, 3, size).astype(np.float32)
    check_forward(smooth_l1, [x], reference(x, 1.0))


def test_symbol_and_array_agree_bitwise() -> None:
    x = od.nd.array(np.linspace(-4, 4, 60).reshape(3, 20))
    x.attach_grad()
    with od.autograd.record():
        y = od.nd.smooth_l1(x, scalar=2.0)
    y.backward()
    executor = od.sym.smooth_l1(od.sym.var("x"), scalar=2.0).simple_bind(od.cpu(), x=x.shape)
    value = executor.forward(is_train=True, x=x)[0]
    executor.backward(od.nd.array(np.ones(x.shape)))
    np.testing.assert_array_equal(value.asnumpy(), y.asnumpy())
    assert x.grad is not None
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), x.grad.asnumpy())


def test_the_first_piece_is_everything_where_sigma_is_zero() -> None:
    assert od.nd.smooth_l1(od.nd.array([1.0, -2.0]), scalar=0).asnumpy().tolist() == [0, 0]


def test_integers_are_rounded_towards_zero_and_sigma_too() -> None:
    x = od.nd.array([3, 4, -2, 1], dtype="int32")
    assert od.nd.smooth_l1(x, scalar=2.5).asnumpy().tolist() == [2, 3, 1, 0]
    assert od.nd.smooth_l1(x, scalar=0.5).asnumpy().tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("sigma", "x"), [(1e200, 0.0), (1e200, 3.0), (1e-200, 1e200), (1e-170, 1e170)])
def test_the_square_of_sigma_may_be_beyond_the_range(sigma: float, x: float) -> None:
    data = od.nd.array([x], dtype="float64")
    data.attach_grad()
    with od.autograd.record():
        made = od.nd.smooth_l1(data, scalar=sigma)
    made.backward()
    value, slope = (abs(x), np.sign(x)) if sigma > 1 else (0.5 * (sigma * x) ** 2, sigma * x * sigma)
    np.testing.assert_allclose([made.asscalar(), data.grad.asscalar()], [value, slope], rtol=1e-15)
