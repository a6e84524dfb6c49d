"""Reductions that are methods of arrays alone."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd

X = np.float32([[1, -2, 3], [0.5, 0, -4]])


def close(found, expected):
    assert isinstance(found, nd.NDArray)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("values", [[0, 0], [np.nan, 0], [1, 2], [], [-0.0], [[1, 0], [1, 1]]])
@pytest.mark.parametrize("name", ["any", "all"])
def test_any_and_all_are_numpys(name, values):
    expected = getattr(np.array(values, np.float32), name)()
    assert bool(getattr(nd.array(values), name)()) is bool(expected)
    assert bool(getattr(np, name)(nd.array(values))) is bool(expected)


@pytest.mark.parametrize("ddof", [0, 1])
def test_std_is_numpys(ddof):
    close(nd.array(X).std(ddof=ddof), np.atleast_1d(X.std(ddof=ddof)))
    close(nd.array(X).var(0, ddof), X.var(0, ddof=ddof))
