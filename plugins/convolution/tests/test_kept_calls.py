"""Kernels that stay bound: to the same arrays, without their memory, and never to others."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

from operad_convolution.direct import kept_calls
from operad_convolution.direct.kept_calls import KeptCalls
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()


class Bound:
    """A kernel that counts how often it was bound."""

    count = 0

    def __init__(self):
        Bound.count += 1

    def release(self, arrays):
        self.released = [id(each) for each in arrays]


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.setattr(kept_calls, "is_checked", lambda: False)
    monkeypatch.setattr(Bound, "count", 0)
    return KeptCalls()


def test_kernels_of_arrays_that_come_again_are_bound_twice_at_most(kept):
    arrays = [np.zeros(3), None, np.zeros(2)]
    found = [kept.bound("forward", arrays, lambda: [Bound()]) for _ in range(5)]
    assert Bound.count == 2
    assert found[1] is found[4]
    assert found[4][0].released == [id(arrays[0]), id(arrays[2])]
    kept.bound("backward", arrays, lambda: [Bound()])
    kept.bound("forward", arrays[::-1], lambda: [Bound()])
    assert Bound.count == 4


def test_memory_of_arrays_is_not_kept_and_their_ids_may_be_those_of_others(kept):
    array = np.zeros(3)
    for _ in range(2):
        kept.bound("forward", [array], lambda: [Bound()])
    key, gone = id(array), weakref.ref(array)
    del array
    assert gone() is None
    others = [np.zeros(3) for _ in range(1000)]
    same = [each for each in others if id(each) == key]
    assert same, "no array came to the place of the one that went, so nothing was tested"
    kept.bound("forward", same, lambda: [Bound()])
    assert Bound.count == 3
    for _ in range(2 * kept_calls._WAITS):
        kept.bound("forward", same, lambda: [Bound()])
    assert Bound.count == 3 + kept_calls._WAITS + 1, "arrays that stay are not bound again for ever"


def test_what_had_to_be_copied_is_bound_each_time(kept):
    arrays = [np.zeros(3)]
    calls = []
    for _ in range(4):
        assert kept.bound("forward", arrays, lambda: calls.append(1) or []) == []
    assert len(calls) == 4


def test_no_more_calls_are_kept_than_a_bound_graph_has(kept):
    arrays = [np.zeros(1) for _ in range(3 * kept_calls._MOST_KEPT)]
    for array in arrays * 2:
        kept.bound("forward", [array], lambda: [Bound()])
    assert len(kept._kept) <= kept_calls._MOST_KEPT
