"""Functions over arrays against Python's for one number, and their values where they turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from operad_sdk.mapper import array_functions

RNG = np.random.default_rng(11)
TINY = 10.0 ** RNG.uniform(-300, 0, 2_000)
SAMPLES = {
    "erf": np.concatenate([RNG.normal(size=5_000) * 2, TINY, -TINY]),
    "erfc": np.concatenate([RNG.uniform(-6, 26, 8_000), TINY, -TINY]),
    "gamma": np.concatenate([RNG.uniform(-170, 171.6, 8_000), RNG.uniform(-5, 5, 5_000), TINY, -TINY]),
    "lgamma": np.concatenate([RNG.uniform(-50, 500, 5_000), RNG.uniform(-5, 5, 5_000), 1 / TINY, -TINY]),
}
# Bounds in float64, in units in the last place, of lgamma of that of 1 at least: measured, with a
# reference of 40 digits, at most 1.4, 3.2, 9.5 and 7.1; Python's own errors come on top.
BOUNDS = {"erf": 2, "erfc": 5, "gamma": 16, "lgamma": 16}


@pytest.mark.parametrize("name", SAMPLES)
def test_values_are_pythons_within_the_stated_bound(name):
    x = SAMPLES[name]
    expected = np.array([getattr(math, name)(value) for value in x.tolist()])
    size = np.maximum(np.abs(expected), 1) if name == "lgamma" else np.abs(expected)
    distance = np.abs(getattr(array_functions, name)(x) - expected) / np.spacing(size)
    assert distance.max() <= BOUNDS[name], x[distance.argmax()]


@pytest.mark.parametrize("name", SAMPLES)
def test_single_precision_is_rounded_once(name):
    x = SAMPLES[name][np.abs(SAMPLES[name]) < 20].astype(np.float32)
    found = getattr(array_functions, name)(x)
    with np.errstate(over="ignore"):
        expected = getattr(array_functions, name)(x.astype(np.float64)).astype(np.float32)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("erf", [0.0, -0.0, 1.0, -1.0, math.nan]),
        ("erfc", [1.0, 1.0, 0.0, 2.0, math.nan]),
        ("gamma", [math.inf, -math.inf, math.inf, math.nan, math.nan]),
        ("lgamma", [math.inf, math.inf, math.inf, math.inf, math.nan]),
    ],
)
def test_special_values_are_ieees(name, expected):
    found = getattr(array_functions, name)(np.array([0.0, -0.0, math.inf, -math.inf, math.nan]))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[:4]), np.signbit(expected[:4]))


def test_the_gamma_function_is_exact_at_factorials():
    """Integers are computed in float64 and then cut off: a last digit less would be one less."""
    found = array_functions.gamma(np.arange(1.0, 24.0))
    assert found.tolist() == [float(math.factorial(n)) for n in range(23)]


def test_the_gamma_function_has_poles_and_overflows_and_underflows():
    np.testing.assert_array_equal(array_functions.gamma(np.array([-1.0, -2.0, -300.0])), [np.nan] * 3)
    np.testing.assert_array_equal(array_functions.lgamma(np.array([-1.0, -2.0, -300.0])), [np.inf] * 3)
    np.testing.assert_array_equal(
        array_functions.gamma(np.array([172.0, 1e9, -200.5])), [np.inf, np.inf, -0.0]
    )
    subnormal = array_functions.gamma(np.array([-171.5, -175.5]))
    expected = [math.gamma(value) for value in (-171.5, -175.5)]
    np.testing.assert_allclose(subnormal, expected, rtol=1e-12, atol=5e-324)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_shape_and_argument_are_kept(name, shape):
    x = np.full(shape, 1.5)
    found = getattr(array_functions, name)(x)
    assert (found.shape, found.dtype) == (shape, x.dtype)
    np.testing.assert_array_equal(x, 1.5)


def test_lgamma_keeps_its_digits_beside_its_zeros() -> None:
    np.testing.assert_array_equal(array_functions.lgamma(np.array([1.0, 2.0] * 200)), np.zeros(400))
    beyond = np.ldexp(np.array([1.0, -1.0, 3.0, -3.0]), -30)  # the third power of these is lost
    curvature = math.pi**2 / 12
    near_one = -np.euler_gamma * beyond + curvature * beyond**2
    near_two = (1 - np.euler_gamma) * beyond + (curvature - 0.5) * beyond**2
    np.testing.assert_allclose(array_functions.lgamma(1 + beyond), near_one, rtol=1e-15)
    np.testing.assert_allclose(array_functions.lgamma(2 + beyond), near_two, rtol=1e-15)
