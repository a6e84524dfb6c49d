"""The method `broadcast_to` of arrays."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd


def close(found, expected):
    assert isinstance(found, nd.NDArray)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "shape", [np.zeros((2, 3)).shape, (np.int64(2), np.int32(3)), [2, 3], np.array([2, 3])]
)
def test_a_shape_may_be_of_numpys_numbers(shape):
    for x in ([[1], [2]], [1, 2, 3], 1):
        close(nd.array(x).broadcast_to(shape), np.broadcast_to(x, shape))
