from __future__ import annotations

from itertools import combinations, product

import pytest

from operad_check.plan.rows import rows

VALUES = {"axis": (0, 1, -1), "keepdims": (False, True), "mode": ("a", "b", "c", "d")}


def pairs_in(found):
    return {((one, row[one]), (other, row[other])) for row in found for one, other in combinations(VALUES, 2)}


def test_every_two_values_meet_in_some_row():
    wanted = {
        ((one, a), (other, b))
        for one, other in combinations(VALUES, 2)
        for a, b in product(VALUES[one], VALUES[other])
    }
    found = rows(VALUES, most=100)
    assert wanted <= pairs_in(found)
    assert len(found) < 24, "as many rows as all combinations"


def test_each_value_is_in_a_row_where_there_is_no_room_for_pairs():
    found = rows(VALUES, most=4)
    assert len(found) == 4
    for name, values in VALUES.items():
        assert {row[name] for row in found} == set(values)


@pytest.mark.parametrize("values", [{}, {"alpha": (1.0,)}])
def test_few_parameters_give_few_rows(values):
    assert rows(values, most=9) == [dict.fromkeys(values, 1.0)][: len(values)]
