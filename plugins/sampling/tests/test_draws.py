"""Ranges, extreme parameters, and parameters out of their domain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special

import operad as od
from operad.errors import ParamError, ShapeError
from operad_check.testing import check_forward
from operad_sampling import normal
from operad_sampling.draws import fill_normal
from operad_sampling.from_numbers import random_normal_like
from operad_sdk.vector import reason_against

FAMILIES = [
    *("uniform", "normal", "gamma", "exponential", "poisson"),
    *("negative_binomial", "generalized_negative_binomial"),
]


@pytest.fixture(autouse=True)
def _seeded() -> None:
    od.random.seed(7)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (1.0, 2.0), (-1.0, 0.0), (1000.0, 1001.0)])
def test_uniform_numbers_stay_below_the_upper_end(dtype: str, low: float, high: float) -> None:
    ends = [od.nd.array([end], dtype=dtype) for end in (low, high)]
    for draws in (
        od.nd._random_uniform(low, high, shape=200_000, dtype=dtype),
        od.nd._sample_uniform(*ends, shape=200_000, dtype=dtype),
    ):
        values = draws.asnumpy()
        assert low <= values.min() < values.max() < high


def test_every_half_precision_number_of_a_range_is_as_likely() -> None:
    """What is rounded up to the upper end becomes the lower one, which only half its draws are rounded to."""
    draws = od.nd._random_uniform(1, 1 + 8 / 1024, shape=80_000, dtype="float16").asnumpy()
    values, counts = np.unique(draws, return_counts=True)
    np.testing.assert_array_equal(values, 1 + np.arange(8) / 1024)
    # six standard deviations of a binomial count
    assert np.abs(counts - 10_000).max() < 6 * np.sqrt(80_000 * 1 / 8 * 7 / 8)


def test_equal_ends_are_the_one_number() -> None:
    assert (od.nd._random_uniform(0.1, 0.1, shape=9).asnumpy() == np.float32(0.1)).all()


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("uniform", {"high": -1, "low": 1}),
        ("uniform", {"low": float("nan")}),
        ("uniform", {"low": -3e38, "high": 3e38}),
        ("normal", {"scale": -1}),
        ("normal", {"scale": 0}),
        ("normal", {"scale": float("nan")}),
        ("gamma", {"alpha": 0}),
        ("gamma", {"beta": -1}),
        ("exponential", {"lam": 0}),
        ("poisson", {"lam": -1}),
        ("negative_binomial", {"k": -1}),
        ("negative_binomial", {"k": 1.5}),
        ("negative_binomial", {"p": 0}),
        ("negative_binomial", {"p": 1.5}),
        ("generalized_negative_binomial", {"mu": -1}),
        ("generalized_negative_binomial", {"alpha": -1}),
        ("uniform", {"dtype": "int32"}),
    ],
)
def test_numbers_out_of_the_domain_are_refused_by_name(name: str, params: dict[str, Any]) -> None:
    with pytest.raises(ParamError, match=f"_random_{name}: .*{next(reversed(params))}.* expected"):
        getattr(od.nd, f"_random_{name}")(**params, shape=2)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("uniform", ([1.0, 1.0], [0.0, 2.0])),
        ("normal", ([1.0, 1.0], [-1.0, 1.0])),
        ("gamma", ([-1.0, 1.0], [1.0, 1.0])),
        ("gamma", ([1.0, 1.0], [-1.0, 1.0])),
        ("exponential", ([-1.0, 1.0],)),
        ("poisson", ([-1.0, 1.0],)),
        ("poisson", ([np.nan, 1.0],)),
        ("negative_binomial", ([-1.0, 1.0], [0.5, 0.5])),
        ("negative_binomial", ([1.0, 1.0], [1.5, 0.5])),
        ("negative_binomial", ([0.0, 1.0], [1.5, 0.5])),
        ("generalized_negative_binomial", ([-1.0, 1.0], [0.5, 0.5])),
        ("generalized_negative_binomial", ([1.0, 1.0], [-0.5, 0.5])),
    ],
)
def test_arrays_out_of_the_domain_give_nan_there_alone(name: str, values: tuple[list[float], ...]) -> None:
    draws = getattr(od.nd, f"_sample_{name}")(*map(od.nd.array, values), shape=5).asnumpy()
    assert np.isnan(draws[0]).all()
    assert np.isfinite(draws[1]).all()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("uniform", (0.0, 2.0)),
        ("normal", (0.0, 2.0)),
        ("gamma", (1.0, 2.0)),
        ("exponential", (2.0,)),
        ("poisson", (2.0,)),
        ("poisson", (1e15,)),
        ("negative_binomial", (2.0, 0.5)),
        ("generalized_negative_binomial", (2.0, 0.5)),
        ("generalized_negative_binomial", (2.0, 0.0)),
    ],
)
def test_parameters_may_be_arrays_without_axes(name: str, values: tuple[float, ...]) -> None:
    draw = getattr(od.nd, f"_sample_{name}")
    for dtype in ("float16", "float32", "float64"):
        drawn = draw(*(od.nd.array(np.float64(value), dtype="float64") for value in values), dtype=dtype)
        assert drawn.shape == ()
        assert np.isfinite(drawn.asnumpy()).all() or dtype == "float16"


def test_parameters_keep_the_digits_of_the_type_that_is_drawn() -> None:
    mu = 1 + 2.0**-40
    arrays = (od.nd.array([value], dtype="float64") for value in (mu, 0.0))
    assert od.nd._sample_normal(*arrays, dtype="float64").asnumpy() == [mu]


@pytest.mark.parametrize("lam", [1e9, 1e13, 1e18])
def test_poisson_counts_of_a_large_mean_have_its_mean_and_variance(lam: float) -> None:
    draws = od.nd._random_poisson(lam, shape=20_000, dtype="float64").asnumpy()
    standardized = (draws - lam) / lam**0.5
    # six standard deviations of the mean, and of the variance, of 20,000 normal numbers
    assert abs(standardized.mean()) < 6 / 20_000**0.5
    assert abs(standardized.var() - 1) < 6 * (2 / 20_000) ** 0.5


def test_gamma_numbers_of_a_small_shape_have_the_distribution() -> None:
    """`P(x < t)` is near `t^alpha / gamma(alpha + 1)` for small `t`; most draws are 0 in single precision."""
    alpha = 1e-3
    draws = od.nd._random_gamma(alpha, shape=50_000, dtype="float64").asnumpy()
    for t in (1e-300, 1e-100, 1e-3):
        share = t**alpha / 0.99942
        assert abs((draws < t).mean() - share) < 6 * (share * (1 - share) / 50_000) ** 0.5


def test_negative_binomial_counts_of_a_small_probability_have_the_mean() -> None:
    p = 1e-5
    draws = od.nd._random_negative_binomial(1, p, shape=20_000, dtype="float64").asnumpy()
    assert abs(draws.mean() * p - 1) < 6 / 20_000**0.5  # nearly exponential, of mean 1 / p


def test_counts_are_whole_and_certain_where_nothing_is_random() -> None:
    for draws in (
        od.nd._random_poisson(0, shape=9),
        od.nd._random_negative_binomial(0, 0.5, shape=9),
        od.nd._random_negative_binomial(3, 1, shape=9),
        od.nd._random_generalized_negative_binomial(0, 2, shape=9),
    ):
        np.testing.assert_array_equal(draws.asnumpy(), np.zeros(9))


def test_integer_parameters_are_as_good_as_floating_ones() -> None:
    k, p = od.nd.array([2, 3], dtype="int64"), od.nd.array([1, 1], dtype="int64")
    draws = od.nd._sample_negative_binomial(k, p, shape=3)
    assert draws.dtype == np.float32
    np.testing.assert_array_equal(draws.asnumpy(), np.zeros((2, 3)))


@pytest.mark.walk
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("shape", "expected"), [((), ()), (3, (3,)), ((2, 0), (2, 0)), ((2, 3), (2, 3))])
def test_a_shape_is_a_number_or_a_tuple(family: str, shape: Any, expected: tuple[int, ...]) -> None:
    assert getattr(od.nd, f"_random_{family}")(shape=shape).asnumpy().shape == expected


def test_a_shape_that_nothing_says_is_an_error() -> None:
    with pytest.raises(ShapeError, match=r"_random_uniform: shape .* of output do not follow"):
        od.nd._random_uniform()


def test_a_graph_says_the_shape_that_is_left_out() -> None:
    net = od.sym.random.normal() + od.sym.var("x")
    assert net.simple_bind(od.cpu(), x=(2, 3)).forward()[0].shape == (2, 3)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_reach_both_ends_of_their_type(dtype: str) -> None:
    limits = np.iinfo(dtype)
    ends = [(limits.min, limits.min + 2), (limits.max - 1, limits.max + 1)]
    for low, high in ends:
        draws = od.nd._random_randint(low, high, shape=100, dtype=dtype).asnumpy()
        assert set(draws.tolist()) == {low, low + 1}
    whole = od.nd._random_randint(limits.min, limits.max + 1, shape=10_000, dtype=dtype).asnumpy()
    assert (whole.min() < limits.min * 0.99, whole.max() > limits.max * 0.99) == (True, True)


@pytest.mark.parametrize(
    "params",
    [{"low": 3, "high": 3}, {"low": 3, "high": 0}, {"low": 0, "high": 1 << 40}, {"low": 0.5, "high": 3}],
)
def test_ranges_of_no_whole_number_of_the_type_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ParamError, match=r"_random_randint: .* expected"):
        od.nd._random_randint(**params, shape=2)


def test_no_gradient_flows() -> None:
    mu = od.nd.array([1.0, 2.0])
    mu.attach_grad()
    with od.autograd.record():
        draws = od.nd._sample_exponential(mu, shape=3) * 2
    draws.backward()
    assert mu.grad is not None
    np.testing.assert_array_equal(mu.grad.asnumpy(), [0, 0])


def test_all_requests_of_an_output_are_kept() -> None:
    check_forward(random_normal_like, [np.zeros((3, 4), np.float32)])


def _words(number: int) -> np.ndarray:
    ends = np.array([0, 1, 2**30, 2**31 - 1, -1, -2, -(2**30), -(2**31)], np.int32)
    return np.concatenate([ends, np.random.default_rng(number).integers(-(2**31), 2**31, 9000, np.int32)])


def test_normal_numbers_of_words_are_their_quantiles(drawn_seed: int) -> None:
    words = _words(drawn_seed)
    low = np.where(words < 0, -1 - words.astype(np.int64), words)
    expected = -np.sign(words + 0.5) * special.ndtri((low + 0.5) / 2**32)
    found = normal.by_numpy([words, np.zeros(1, np.float32), np.ones(1, np.float32)])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=5e-6)


@pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")
def test_normal_numbers_have_the_same_bits_with_and_without_vector_code(
    monkeypatch: pytest.MonkeyPatch, drawn_seed: int
) -> None:
    def drawn() -> np.ndarray:
        out = np.empty(20_001, np.float32)
        fill_normal(np.random.Generator(np.random.Philox(drawn_seed)), out, 0.3, 1.7)
        return out

    with_vectors = drawn()
    monkeypatch.setattr("operad_sdk.vector.reason_against", lambda: "switched off here")
    np.testing.assert_array_equal(drawn(), with_vectors)


def test_few_normal_numbers_are_numpys() -> None:
    one, other = (np.random.Generator(np.random.Philox(3)) for _ in range(2))
    out = np.empty(normal.LEAST - 1, np.float32)
    fill_normal(one, out, 0.0, 1.0)
    np.testing.assert_array_equal(out, other.standard_normal(out.size, np.float32))
