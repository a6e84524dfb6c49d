from __future__ import annotations

from dataclasses import astuple

import pytest

from tests.benchmarks.scaling.calibration import Checked, check, mpi_costs, ray_costs
from tests.benchmarks.scaling.costs import read


@pytest.fixture(scope="module")
def checked() -> list[Checked]:
    return check(read())


def test_costs_are_those_of_a_processor() -> None:
    measured = read()

    for costs in (mpi_costs(measured), mpi_costs(measured, "mpi, TCP"), ray_costs(measured)):
        assert all(0 <= one < 0.1 for one in astuple(costs))


def test_three_workers_take_what_one_and_two_let_expect(checked: list[Checked]) -> None:
    found = [one for one in checked if one.point.workers == 3 and one.point.case == "104.9 MB"]

    assert not any(one.is_fitted for one in found)
    for one in found:
        assert 0.5 < one.predicted_s / one.point.least_s < 2, one
    assert {one.point.column for one in found} >= {"mpi", "ray"}
