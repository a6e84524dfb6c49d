"""Random arrays, and whether generators are right."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import UnsupportedError

tu = od.test_utils


@pytest.fixture(autouse=True)
def seeded() -> None:
    np.random.seed(7)


def test_shapes_reach_their_limits() -> None:
    drawn = [tu.rand_shape_3d(2, 3, 1) for _ in range(200)]
    assert {tuple(sorted(set(axis))) for axis in zip(*drawn, strict=True)} == {(1, 2), (1, 2, 3), (1,)}
    assert {length for _ in range(100) for length in tu.rand_shape_nd(4, 2, allow_zero_size=True)} == {
        0,
        1,
        2,
    }
    assert len(tu.rand_shape_2d()) == 2
    assert {tu.rand_coord_2d(0, 2, 5, 6) for _ in range(50)} == {(0, 5), (1, 5)}


def test_arrays_have_type_shape_and_range() -> None:
    one, (first, second) = tu.random_arrays((2, 3)), tu.random_arrays((4,), ())
    assert (one.shape, first.shape, second.shape, one.dtype) == ((2, 3), (4,), (), np.float32)
    (uniform,) = tu.random_uniform_arrays((100,), low=3, high=4, dtype=np.float64)
    assert uniform.dtype == np.float64
    assert ((uniform >= 3) & (uniform < 4)).all()
    array = tu.rand_ndarray((2, 2), dtype="float16")
    assert (array.shape, array.dtype) == ((2, 2), np.float16)
    with pytest.raises(UnsupportedError, match="stype is 'csr'"):
        tu.rand_ndarray((2, 2), "csr")
    assert sorted(tu.random_sample("abc", 3)) == ["a", "b", "c"]


def test_simple_arrays() -> None:
    assert tu.create_vector(3).asnumpy().tolist() == [0, 1, 2]
    assert tu.create_vector(3).dtype == np.int64
    assert tu.create_2d_tensor(2, 3, np.float32).asnumpy().tolist() == [[0, 0, 0], [1, 1, 1]]
    assert tu.get_identity_mat_batch(2).asnumpy().tolist() == [tu.get_identity_mat(2).asnumpy().tolist()] * 2
    x = np.array([[1.0, 2], [3, 4]])
    assert tu.assign_each(x, lambda value: value + 1).tolist() == (x + 1).tolist()
    assert tu.assign_each2(x, x, lambda a, b: a * b).tolist() == (x * x).tolist()
    assert tu.assign_each(x, None) is not x


@pytest.mark.parametrize("axis", [None, 1, (0, 2)])
@pytest.mark.parametrize("keepdims", [True, False])
def test_a_reduction_is_numpys(axis: Any, keepdims: bool) -> None:
    x = np.random.normal(size=(2, 3, 4))
    np.testing.assert_array_equal(tu.np_reduce(x, axis, keepdims, np.sum), x.sum(axis, keepdims=keepdims))


def test_matrices_have_the_eigenvalues_they_promise() -> None:
    q = tu.new_orthonormal_matrix_2d(5)
    np.testing.assert_allclose(q @ q.T, np.eye(5), atol=1e-12)
    for many in (tu.new_matrix_with_real_eigvals_nd, tu.new_sym_matrix_with_real_eigvals_nd):
        matrices = many((2, 3, 4, 4))
        values = np.linalg.eigvals(matrices)
        assert matrices.shape == (2, 3, 4, 4)
        assert abs(values.imag).max() < 1e-9
        assert 0.99 < values.real.min() <= values.real.max() < 10.01
    symmetric = tu.new_sym_matrix_with_real_eigvals_2d(4)
    np.testing.assert_array_equal(symmetric, symmetric.T)


def normal(count: int) -> Any:
    return np.random.normal(2, 3, count)


def test_moments_tell_right_from_wrong() -> None:
    assert tu.mean_check(normal, 2, 3, 10000)
    assert not tu.mean_check(normal, 2.5, 3, 10000)
    assert tu.var_check(normal, 3, 10000)
    assert not tu.var_check(normal, 3.5, 10000)


def test_equally_probable_intervals() -> None:
    assert tu.gen_buckets_probs_with_ppf(lambda q: q * 8, 4) == ([(0, 2), (2, 4), (4, 6), (6, 8)], [0.25] * 4)


def test_chi_square_is_that_of_the_counts() -> None:
    """Of 40 and 60 where 50 and 50 are expected the statistic is 4, whose tail is 0.0455 with one degree."""
    pytest.importorskip("scipy")
    samples = np.repeat([0.25, 0.75], [40, 60])
    for buckets, drawn in (([(0, 0.5), (0.5, 1)], samples), ([0.25, 0.75], samples)):
        p, observed, expected = tu.chi_square_check(lambda n, drawn=drawn: drawn, buckets, [0.5, 0.5], 100)
        assert p == pytest.approx(0.0455003, rel=1e-5)
        assert (observed.tolist(), expected.tolist()) == ([40, 60], [50, 50])


def test_a_generator_is_verified_or_refused() -> None:
    pytest.importorskip("scipy")
    buckets, probs = tu.gen_buckets_probs_with_ppf(lambda q: q, 5)
    assert len(tu.verify_generator(lambda n: od.nd.random.uniform(shape=(n,)), buckets, probs, 10000)) == 5
    with pytest.raises(AssertionError, match="0 of 5 chi-square checks passed, expected 20%"):
        tu.verify_generator(lambda n: np.random.uniform(0, 0.9, n), buckets, probs, 10000)


def test_without_scipy_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(UnsupportedError, match=r"pip install 'operad-test-utils\[statistics\]'"):
        tu.chi_square_check(normal, [0, 1], [0.5, 0.5])
