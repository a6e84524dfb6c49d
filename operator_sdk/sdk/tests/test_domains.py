from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad_sdk import OperatorProperty, operator, param
from operad_sdk.domains import (
    Distinct,
    Index,
    Integers,
    OneHot,
    PositiveDefinite,
    Probabilities,
    Real,
    positive,
    unit_interval,
)


@operator("domains_take")
class Take(OperatorProperty):
    """Rows by number."""

    axis = param(int, 0, doc="Axis.")
    depth = param(int, 5, ge=1, doc="Number of classes.")
    spec = "data:(N, D), index:(M) -> output:(M, D)"

    def forward(data, index):
        return data[index.astype(int)]


SHAPES = {"data": (4, 3), "index": (6,)}
seeds = st.integers(0, 2**32 - 1)


def drawn(domain, shape, seed=0, **params):
    return domain.draw(np.random.default_rng(seed), shape, Take(**params), SHAPES)


@given(seeds, st.floats(-8, 8), st.floats(0.01, 16))
def test_real_values_are_lattice_points_strictly_between_the_bounds(seed, low, width):
    domain = Real(low, low + width)
    values = drawn(domain, (40,), seed)
    assert (low < values).all()
    assert (values < low + width).all()
    np.testing.assert_array_equal(values / domain.step, np.rint(values / domain.step))
    assert all(domain.accepts(float(value)) for value in values)


@pytest.mark.parametrize("domain", [positive(), unit_interval(), Real(-1.0, 1.0, nonzero=True)])
def test_zero_is_left_out_where_it_is_not_meant(domain):
    assert (drawn(domain, (500,)) != 0).all()
    assert not domain.accepts(0.0)


def test_integers_are_whole_and_reach_both_bounds():
    assert set(drawn(Integers(-1, 2), (200,))) == {-1, 0, 1, 2}
    assert [Integers(0, 3).accepts(value) for value in (0.0, 3.0, 0.5, 4.0)] == [True, True, False, False]


def test_an_index_stays_within_the_axis_it_is_of():
    assert set(drawn(Index("data", 0), (200,))) == {0, 1, 2, 3}
    assert set(drawn(Index("data", "axis"), (200,), axis=1)) == {0, 1, 2}
    assert set(drawn(Index("depth"), (200,), depth=2)) == {0, 1}


def test_an_index_from_one_that_includes_the_length_is_a_length():
    assert set(drawn(Index("data", 1, first=1, inclusive=True), (200,))) == {1, 2, 3}


@given(seeds, st.integers(0, 30))
def test_distinct_values_are_apart(seed, size):
    values = np.sort(drawn(Distinct(), (size,), seed))
    assert (np.diff(values) >= 0.125).all()


@given(seeds)
def test_sorted_values_ascend_along_the_last_axis(seed):
    assert (np.diff(drawn(Distinct(is_sorted=True), (3, 5), seed), axis=-1) > 0).all()


@given(seeds, st.sampled_from([0, 1, -1]))
def test_one_hot_and_probabilities_sum_to_one_exactly(seed, axis):
    for domain in (OneHot(axis), Probabilities(axis)):
        values = drawn(domain, (3, 4), seed)
        assert (values >= 0).all()
        np.testing.assert_array_equal(values.sum(axis), 1.0)


@given(seeds)
def test_positive_definite_matrices_have_eigenvalues_of_at_least_one(seed):
    values = drawn(PositiveDefinite(), (2, 3, 3), seed)
    np.testing.assert_array_equal(values, np.swapaxes(values, -1, -2))
    assert (np.linalg.eigvalsh(values) > 1 - 1e-9).all()


@pytest.mark.parametrize("domain", [Real(), Distinct(), OneHot(), Probabilities(), Integers(0, 1)])
def test_every_domain_draws_arrays_without_elements(domain):
    assert drawn(domain, (0, 3)).shape == (0, 3)
