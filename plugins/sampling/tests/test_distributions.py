from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from plugins.sampling.tests.distributions import DRAWS, KNOWN, LABELS, LEAST_P, Known, p_value

every = pytest.mark.parametrize("known", KNOWN, ids=LABELS)
dtypes = pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])


@pytest.fixture(autouse=True)
def _seeded() -> None:
    od.random.seed(2024)


def drawn(known: Known, dtype: str) -> Any:
    operator = getattr(od.nd, f"_random_{known.name}")
    return operator(**known.params, shape=(200, DRAWS // 200), dtype=dtype)


@every
@dtypes
def test_draws_of_numbers_have_the_distribution(known: Known, dtype: str) -> None:
    draws = drawn(known, dtype)
    assert draws.dtype == dtype
    assert p_value(draws.asnumpy(), known) > LEAST_P


@every
@dtypes
def test_draws_like_an_array_have_the_distribution(known: Known, dtype: str) -> None:
    data = od.nd.zeros((DRAWS,), dtype=dtype)
    draws = getattr(od.nd, f"_random_{known.name}_like")(data, **known.params)
    assert (draws.shape, draws.dtype) == (data.shape, dtype)
    assert p_value(draws.asnumpy(), known) > LEAST_P


@every
@dtypes
def test_draws_of_arrays_have_the_distribution_of_their_row(known: Known, dtype: str) -> None:
    others = {"low": 1.0, "high": 2.0}
    values = [od.nd.array([others.get(name, 0.5), value]) for name, value in known.params.items()]
    draws = getattr(od.nd, f"_sample_{known.name}")(*values, shape=(DRAWS // 100, 100), dtype=dtype)
    assert (draws.shape, draws.dtype) == ((2, DRAWS // 100, 100), dtype)
    assert p_value(draws.asnumpy()[1], known) > LEAST_P


@every
def test_a_wrong_distribution_is_refused(known: Known) -> None:
    """The tests above can fail: the same draws, of parameters a little off, do not pass them."""
    name = next(iter(known.params))
    off = known._replace(params={**known.params, name: known.params[name] * 1.05 + 0.05 * (name != "k")})
    if name == "k":
        off = known._replace(params={**known.params, "p": known.params["p"] * 0.95})
    assert p_value(drawn(off, "float32").asnumpy(), known) < LEAST_P


@every
def test_draws_that_follow_each_other_are_independent(known: Known) -> None:
    draws = drawn(known, "float64").asnumpy().ravel()
    centred = (draws - draws.mean()) / draws.std()
    for lag in (1, 2, 7, 200, 65):
        # six standard deviations of the correlation of independent draws
        assert abs((centred[:-lag] * centred[lag:]).mean()) < 6 / np.sqrt(DRAWS)


def test_parts_of_a_large_array_are_independent() -> None:
    draws = od.nd.random_normal(shape=(4, 1 << 16)).asnumpy()
    correlations = np.corrcoef(draws)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 6 / np.sqrt(1 << 16)
