from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_sdk import ShapeError


def density(name: str, sample: Any, *params: Any, **options: Any) -> np.ndarray:
    arrays = (od.nd.array(values, dtype="float64") for values in (sample, *params))
    return getattr(od.nd, f"random_pdf_{name}")(*arrays, **options).asnumpy()


@pytest.mark.parametrize(
    ("name", "params"),
    [("normal", (0.5, 2.0)), ("gamma", (2.5, 1.5)), ("exponential", (0.7,)), ("uniform", (0.0, 40.0))],
)
def test_densities_of_numbers_have_the_integral_one(name: str, params: tuple[float, ...]) -> None:
    low = -40 if name == "normal" else 0
    x = np.linspace(low, 40, 200_001)[1:]
    found = density(name, x[None], *([value] for value in params))
    assert found.sum() * (x[1] - x[0]) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "params"),
    [("poisson", (3.0,)), ("negative_binomial", (2.5, 0.4)), ("generalized_negative_binomial", (3.0, 0.5))],
)
def test_densities_of_counts_have_the_sum_one(name: str, params: tuple[float, ...]) -> None:
    found = density(name, np.arange(400.0)[None], *([value] for value in params))
    assert found.sum() == pytest.approx(1)


def test_a_count_of_zero_is_certain_where_nothing_fails() -> None:
    assert density("negative_binomial", [[0.0]], [2.0], [1.0]).tolist() == [[1]]


def test_the_logarithm_reaches_where_the_density_is_zero() -> None:
    assert density("normal", [[100.0]], [0.0], [1.0]).tolist() == [[0]]
    assert density("normal", [[100.0]], [0.0], [1.0], is_log=True)[0, 0] == pytest.approx(-5000.918938533)


def test_parameters_are_those_of_the_leading_axes() -> None:
    found = density("exponential", np.zeros((2, 1, 3)), [[1.0], [2.0]])
    np.testing.assert_allclose(found[:, 0, 0], [1, 2])


def test_parameters_without_an_axis_are_refused() -> None:
    with pytest.raises(ShapeError, match="lam has no axis"):
        density("exponential", [1.0], 1.0)


def test_two_shares_of_a_whole_are_a_beta_distribution() -> None:
    x = np.linspace(0, 1, 100_001)[1:-1]
    found = density("dirichlet", np.stack([x, 1 - x], -1)[None], [[2.0, 3.0]])
    np.testing.assert_allclose(found[0], 12 * x * (1 - x) ** 2)


@pytest.mark.parametrize(
    ("name", "sample", "param", "head", "gradient"),
    [
        # the slope of the logarithm, -lam, times the gradient is infinite, and the density 0
        ("exponential", [[1e-97]], [1e100], 1e300, 0.0),
        # density 2 x_2, slope 2, which is the density times 1 / x_2
        ("dirichlet", [[[0.5, 1e-200]]], [[1.0, 2.0]], 1e-200, 2e-200),
    ],
)
def test_the_slope_of_a_density_is_found_before_it_meets_the_gradient(
    name: str, sample: Any, param: Any, head: float, gradient: float
) -> None:
    data = od.nd.array(sample, dtype="float64")
    data.attach_grad()
    with od.autograd.record():
        made = getattr(od.nd, f"random_pdf_{name}")(data, od.nd.array(param, dtype="float64"))
    made.backward(od.nd.array(np.full(made.shape, head), dtype="float64"))
    assert data.grad.asnumpy().ravel()[-1] == pytest.approx(gradient, rel=1e-12)


def test_single_precision_of_many_shares_has_the_digits_of_double() -> None:
    sample = np.random.default_rng(7).dirichlet(np.full(12, 3.0), 5).astype(np.float32)[None]
    alpha = np.full((1, 12), 3.0, np.float32)
    found = od.nd.random_pdf_dirichlet(od.nd.array(sample), od.nd.array(alpha)).asnumpy()
    np.testing.assert_allclose(found, density("dirichlet", sample, alpha), rtol=1e-7)
