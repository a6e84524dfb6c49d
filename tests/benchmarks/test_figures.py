from __future__ import annotations

import pytest

from tests.benchmarks.figures import Basis, basis, figures, ratio


def test_figures_are_of_all_rounds() -> None:
    found = figures([4.0, 1.0, 3.0, 2.0, 5.0], [2.0, 8.0, 6.0, 7.0, 1.0])

    assert (found.median, found.minimum) == (3.0, 1.0)
    assert (found.cpu_median, found.cpu_minimum) == (6.0, 1.0)
    assert found.spread == pytest.approx((4.0 - 2.0) / 3.0)


def test_one_round_has_no_spread() -> None:
    assert figures([2.0], [1.0]).spread == 0.0


def test_no_rounds_are_refused() -> None:
    with pytest.raises(ValueError, match="no rounds"):
        figures([], [])


@pytest.mark.parametrize(
    ("is_quiet", "threads", "expected"),
    [(True, 1, "median"), (True, 2, "median"), (False, 1, "cpu"), (False, 2, "minimum")],
)
def test_what_is_compared_depends_on_others(is_quiet: bool, threads: int, expected: Basis) -> None:
    found = figures([2.0, 3.0, 7.0], [11.0, 13.0, 17.0])

    assert basis(is_quiet, threads) == expected
    assert found.of(expected) == {"median": 3.0, "cpu": 11.0, "minimum": 2.0}[expected]


def test_a_ratio_is_to_the_fastest_of_the_others() -> None:
    assert ratio(3.0, [6.0, 2.0, 4.0]) == 1.5
    assert ratio(3.0, []) is ratio(3.0, [0.0]) is None
