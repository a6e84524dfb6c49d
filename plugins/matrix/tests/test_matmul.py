"""`x @ y` has the shapes and values that NumPy gives it."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd
from operad.errors import ShapeError


def close(found, expected):
    assert isinstance(found, nd.NDArray)
    np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-5, atol=1e-6)


SHAPES = [
    ((2, 3), (3, 4)), ((2, 3), (3,)), ((3,), (3, 2)), ((4, 2, 3), (3,)), ((4, 2, 3), (3, 5)),
    ((3,), (4, 3, 2)),
    ((2, 3), (4, 3, 5)), ((4, 1, 2, 3), (5, 3, 2)), ((0, 2, 3), (0, 3, 2)), ((4, 0, 3), (4, 3, 2)),
    ((4, 2, 0), (4, 0, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_the_matrix_product_is_numpys(left, right):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(left).astype(np.float32), rng.standard_normal(right).astype(np.float32)
    for found in (nd.array(a) @ nd.array(b), a @ nd.array(b), nd.array(a) @ b):
        assert found.shape == (a @ b).shape
        close(found, a @ b)


def test_the_product_of_two_vectors_has_one_element():
    assert (nd.array([1, 2]) @ nd.array([3, 4])).tolist() == [11]


@pytest.mark.parametrize(
    ("left", "right"), [((2, 3), (2, 3)), ((), (3,)), ((3,), ()), ((2, 2, 3), (3, 3, 2))]
)
def test_shapes_without_a_matrix_product_are_refused(left, right):
    with pytest.raises(ShapeError, match="x @ y"):
        nd.array(np.ones(left)) @ nd.array(np.ones(right))
