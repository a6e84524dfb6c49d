"""Where arrays lie, and which share memory."""

from __future__ import annotations

import numpy as np
import pytest

from operad_sdk.addresses import overlaps, span

WHOLE = np.arange(120.0).reshape(10, 12)


@pytest.mark.parametrize(
    "view",
    [
        WHOLE,
        WHOLE[3:5],
        WHOLE[:, 2:4],
        WHOLE[::-1],
        WHOLE.T,
        WHOLE[2],
        WHOLE[4:4],
        WHOLE[1, 1:2],
        WHOLE[::3, ::4],
    ],
)
def test_the_span_of_an_array_is_where_its_elements_are(view):
    begin, end = span(view)
    first = WHOLE.ctypes.data
    places = (first + (view.astype(int).ravel() * WHOLE.itemsize)).tolist()
    if places:
        assert (begin, end) == (min(places), max(places) + WHOLE.itemsize)
    assert overlaps(view, [span(WHOLE)]) == ([0] if places else [])


def test_arrays_overlap_as_numpy_says():
    views = [WHOLE[:4], WHOLE[2:6], WHOLE[6:], WHOLE[:, :3], WHOLE[4:6, 5:], np.zeros(3), WHOLE[3]]
    spans = [span(view) for view in views]
    for view in views:
        assert overlaps(view, spans) == [i for i, one in enumerate(views) if np.may_share_memory(view, one)]
