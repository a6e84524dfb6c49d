from __future__ import annotations

from tests.benchmarks.scaling.costs import read
from tests.benchmarks.scaling.measuring import RUNS


def test_all_that_costs_are_fitted_to_is_measured_again() -> None:
    again = {
        (column, workers, case) for columns, workers, cases in RUNS for column in columns for case in cases
    }

    assert again == {(point.column, point.workers, point.case) for point in read().points}
