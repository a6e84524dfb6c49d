from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import IndexOutOfRangeError

ANCHORS = np.array([[[0.0, 0.0, 2.0, 2.0], [1.0, 1.0, 3.0, 5.0], [4.0, 0.0, 5.0, 1.0]]])
TRUTH = np.array([[[0.5, 0.0, 2.5, 4.0], [2.0, 2.0, 3.0, 3.0]]])


def encoded(samples: Any, matches: Any) -> list[np.ndarray]:
    given = (samples, matches, ANCHORS, TRUTH, np.zeros(4), np.ones(4))
    return [a.asnumpy() for a in od.nd.contrib.box_encode(*(od.nd.array(v, dtype="float64") for v in given))]


def test_decoding_gives_back_what_was_encoded() -> None:
    offsets, mask = encoded([[1, 1, 1]], [[0, 1, 0]])
    found = od.nd.contrib.box_decode(
        od.nd.array(offsets, dtype="float64"), od.nd.array(ANCHORS, dtype="float64"), format="corner"
    )
    np.testing.assert_allclose(found.asnumpy()[0], TRUTH[0, [0, 1, 0]])
    assert mask.all()


def test_anchors_without_a_true_box_have_neither_target_nor_mask() -> None:
    offsets, mask = encoded([[0, 1, -1]], [[99, 1, -5]])
    assert (offsets[0, ::2] == 0).all()
    np.testing.assert_array_equal(mask[0, :, 0], [0, 1, 0])


def test_a_match_that_is_no_true_box_is_refused() -> None:
    with pytest.raises(IndexOutOfRangeError, match="expected 0 to 1, the numbers of refs"):
        encoded([[1, 0, 0]], [[2, 0, 0]])


def test_growth_is_limited() -> None:
    offsets, anchors = od.nd.array([[[0, 0, 9, 0]]]), od.nd.array([[[0, 0, 2, 2]]])
    found = od.nd.contrib.box_decode(offsets, anchors, clip=1.0).asnumpy()[0, 0]
    np.testing.assert_allclose(found[2] - found[0], 2 * np.e, rtol=1e-6)


@pytest.mark.parametrize(
    ("params", "rows"),
    [
        ({"threshold": 0.0}, [1, -1, 0]),
        ({"threshold": 0.5}, [1, -1, -1]),
        ({"threshold": 0.0, "topk": 1}, [1, -1, -1]),
        ({"threshold": 1.0, "is_ascend": True}, [-1, 0, 1]),
    ],
    ids=str,
)
def test_pairs_are_taken_best_first(params: dict[str, Any], rows: list[int]) -> None:
    scores = od.nd.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
    found, columns = od.nd.contrib.bipartite_matching(scores, **params)
    assert found.asnumpy().tolist() == rows
    taken = {int(c): r for r, c in enumerate(rows) if c >= 0}
    assert columns.asnumpy().tolist() == [taken.get(c, -1) for c in range(2)]
