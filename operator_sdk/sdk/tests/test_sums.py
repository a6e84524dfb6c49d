"""Sums whose error does not grow with their length."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from operad.engine.budget import blas_limits
from operad_sdk import blocked_cumsum, blocked_sum

LONG = [
    ((1_000_000, 2), 0), ((2, 1_000_000), 1), ((2, 100_003, 3), 1), ((100_000, 2, 2), (0, 2)),
    ((1_000_000,), None), ((3001, 513), 0), ((64, 20_001), 0), ((129, 5), 0), ((1000, 5, 1000), (0, 2)),
]  # fmt: skip


@pytest.mark.walk
@pytest.mark.parametrize(("shape", "axis"), LONG)
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1.9999, 1.0000001])
def test_equal_rows_are_added_to_within_1e_6_however_many(shape, axis, value) -> None:
    x = np.full(shape, value, np.float32)
    total = blocked_sum(x, axis)
    np.testing.assert_allclose(total, np.sum(x, axis, np.float64), rtol=1e-6)
    assert total.dtype == np.float32


@pytest.mark.parametrize(("shape", "axis"), LONG)
def test_wide_numbers_have_the_same_rule(shape, axis) -> None:
    total = blocked_sum(np.full(shape, 0.1), axis)
    np.testing.assert_allclose(total, 0.1 * (np.prod(shape) // np.size(total)), rtol=2e-15)


def test_blas_has_one_thread_while_it_adds(monkeypatch) -> None:
    limits = []

    def watched(*args):
        limits.append(blas_limits.applied)
        return multiply(*args)

    multiply = np.matmul
    monkeypatch.setattr(np, "matmul", watched)
    blas_limits.restore()
    blocked_sum(np.ones((300, 1001), np.float32), 0)
    assert limits == [1]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_prefixes_of_parts_are_those_of_the_whole(axis) -> None:
    x = np.random.default_rng(3).random((37, 41, 43)).astype(np.float32)
    for layout in (x, np.asfortranarray(x), x[:, ::-1]):
        want = np.cumsum(layout, axis, np.float64).astype(np.float32)
        np.testing.assert_array_equal(blocked_cumsum(layout, axis), want)


@example([26, 30, 35, 37], 37, False, "float32")
@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from(["float32", "float64", "float16", "int64", "bool"]),
)
def test_shape_type_and_layout_are_those_of_numpy(lengths, seed, keepdims, dtype) -> None:
    random = np.random.default_rng(seed)
    lengths[random.integers(len(lengths))] *= 7
    # Around 0, so that no sum of some of them needs more than 24 bits: NumPy's of 28 million is 12 off.
    x = random.integers(-4, 5, lengths).astype(dtype).transpose(random.permutation(len(lengths)))
    x = x[tuple(slice(None, None, int(random.choice([1, -1, 2]))) for _ in lengths)]
    axes = tuple(np.flatnonzero(random.integers(0, 2, x.ndim)) - random.integers(0, 2) * x.ndim)
    axis = tuple(int(one) for one in axes) or None
    with np.errstate(over="ignore"):  # of halves
        expected, found = np.sum(x, axis, keepdims=keepdims), blocked_sum(x, axis, keepdims=keepdims)
    assert (type(found), found.dtype, found.shape) == (type(expected), expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)
    out = np.empty_like(expected)
    with np.errstate(over="ignore"):
        assert blocked_sum(x, axis, keepdims=keepdims, out=out) is out
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sum_of_halves_in_single_precision_is_rounded_once(axis) -> None:
    x = np.full((3000, 3000), 0.1, np.float16)
    found = blocked_sum(x, axis, dtype=np.float32)
    np.testing.assert_allclose(found, float(x[0, 0]) * 3000, rtol=1e-6)


@pytest.mark.parametrize(("shape", "axis"), [((1_000_000,), None), ((2, 300_000), 1), ((300_000, 2), -2)])
def test_every_prefix_is_rounded_once(shape, axis) -> None:
    for value in (0.1, 1 / 3, 1.9999):
        x = np.full(shape, value, np.float32)
        np.testing.assert_allclose(blocked_cumsum(x, axis), np.cumsum(x, axis, np.float64), rtol=6e-8)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_prefixes_are_those_of_numpy(dtype) -> None:
    x = np.arange(210).reshape(5, 6, 7).transpose(2, 0, 1).astype(dtype)
    for axis in (None, 0, 1, -1):
        expected, found = np.cumsum(x, axis), blocked_cumsum(x, axis)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
        out = np.empty_like(expected)
        assert blocked_cumsum(x, axis, out=out) is out
        np.testing.assert_array_equal(out, expected)
    assert blocked_cumsum(np.zeros((0, 3), dtype), 0).shape == (0, 3)


@pytest.mark.walk
@pytest.mark.parametrize("shape", [(9001,), (3, 5000), (40, 17, 30), (5000, 3), (130, 1, 513), (2, 9, 1000)])
@pytest.mark.parametrize("is_backwards", [False, True])
def test_prefixes_of_large_arrays_are_rounded_once(shape, is_backwards, drawn_seed) -> None:
    x = np.random.default_rng(drawn_seed).standard_normal(shape).astype(np.float32)
    for axis in range(x.ndim):
        for layout in (x, np.flip(x, axis), np.asfortranarray(x)):
            given_ = np.flip(layout, axis) if is_backwards else layout
            want = np.cumsum(given_, axis, np.float64).astype(np.float32)
            want = np.flip(want, axis) if is_backwards else want
            found = blocked_cumsum(layout, axis, is_backwards=is_backwards)
            np.testing.assert_allclose(found, want, rtol=6e-8, atol=1e-12)
            out = np.empty(shape, np.float32, order="F")
            assert blocked_cumsum(layout, axis, out=out, is_backwards=is_backwards) is out
            np.testing.assert_array_equal(out, found)


def test_prefixes_of_large_arrays_keep_zeros_infinities_and_nan_apart() -> None:
    x = np.full(10_000, -0.0, np.float32)
    assert np.signbit(blocked_cumsum(x)).all()
    x[5000], x[7000] = np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        found = blocked_cumsum(x)
    assert (found[:5000] == 0).all()
    assert (found[5000:7000] == np.inf).all()
    assert np.isnan(found[7000:]).all()
