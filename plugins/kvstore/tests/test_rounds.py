from __future__ import annotations

import numpy as np

from operad_kvstore.rounds import KeyRounds


def whole(value: float) -> np.ndarray:  # type: ignore[type-arg]
    return np.full(4, value, np.float32)


def test_sums_add_in_the_order_of_ranks_whoever_came_first() -> None:
    values = {0: 1e8, 1: -1e8, 2: 1.0}  # in single precision the order shows
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        made = KeyRounds()
        for rank in order:
            made.add(rank, whole(values[rank]))
        total = made.take_round([2, 0, 1])
        assert total is not None
        assert total.tolist() == [1, 1, 1, 1]


def test_a_sum_leaves_what_was_pushed_alone() -> None:
    made = KeyRounds()
    pushed = [whole(value) for value in (1, 2, 3)]
    for rank, one in enumerate(pushed):
        made.add(rank, one)
    made.take_round([0, 1, 2])
    assert [values[0] for values in pushed] == [1, 2, 3]


def test_those_are_lacking_without_whom_a_round_cannot_be_complete() -> None:
    made = KeyRounds()
    made.add(0, whole(1))
    made.add(0, whole(1))
    made.add(1, whole(1))
    assert made.lacking([0, 1, 2], 1) == [2]
    assert made.lacking([0, 1, 2], 2) == [1, 2]
    assert made.lacking([0, 1, 2], 3) == [0, 1, 2]
    made.take_round([0, 1])
    assert made.lacking([0, 1, 2], 1) == []


def test_rounds_of_parts_are_joined_with_the_pushes_that_belong_to_no_round_yet() -> None:
    parts = [KeyRounds(), KeyRounds()]
    for number, (part, values) in enumerate(zip(parts, ([1, 2], [3]), strict=True)):
        for rank in (0, 1, 0):
            part.add(rank, np.array(values, np.float32))
        assert part.take_round([0, 1]) is not None, number
    whole = KeyRounds.joined(parts)
    assert (whole.count(0), whole.count(1)) == (2, 1)
    total = whole.take_round([0])
    assert total is not None
    assert total.tolist() == [1, 2, 3]
