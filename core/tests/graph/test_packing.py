"""Packing never overlaps what lives together and stays near the bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.graph.packing import live_bytes, pack, round_up

LIFETIMES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 12), st.integers(0, 50)), min_size=1, max_size=60
)


def columns(lifetimes):
    first, length, size = (np.array(column, np.int64) for column in zip(*lifetimes, strict=True))
    return first, first + length, size * 64


@given(LIFETIMES)
def test_buffers_that_live_together_do_not_overlap(lifetimes):
    first, last, size = columns(lifetimes)
    offset, height = pack(first, last, size)
    meet = (first[:, None] <= last) & (last[:, None] >= first) & ~np.eye(len(size), dtype=bool)
    overlap = (offset[:, None] < offset + size) & (offset[:, None] + size[:, None] > offset)
    overlap &= (size > 0) & (size[:, None] > 0)
    assert not (meet & overlap).any()
    assert height == (offset + size).max()
    assert height >= live_bytes(first, last, size).max()


@pytest.mark.parametrize("count", [50, 200, 1000])
def test_random_lifetimes_and_sizes_pack_within_a_tenth_of_the_bound(count):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        first = rng.integers(0, count, count)
        last = first + rng.geometric(0.05, count)
        size = 64 * rng.integers(1, 1000, count)
        _, height = pack(first, last, size)
        assert height <= 1.1 * live_bytes(first, last, size).max()


def test_a_large_buffers_room_is_shared_by_many_small_ones():
    first, last = np.array([0, 1, 1, 1, 1]), np.array([0, 2, 2, 2, 2])
    offset, height = pack(first, last, np.array([256, 64, 64, 64, 64]))
    assert height == 256
    assert sorted(offset[1:].tolist()) == [0, 64, 128, 192]


def test_live_bytes_include_both_ends():
    assert live_bytes(np.array([0, 1]), np.array([1, 2]), np.array([3, 5])).tolist()[:3] == [3, 8, 5]


def test_nothing_needs_nothing():
    none = np.zeros(0, np.int64)
    assert pack(none, none, none)[1] == 0


def test_rounding_up():
    assert [round_up(n, 64) for n in (0, 1, 64, 65)] == [0, 64, 64, 128]
