from __future__ import annotations

import pytest

from tests.benchmarks.scaling.costs import MpiCosts, Point, fit, of_slow_rounds
from tests.benchmarks.scaling.exchanges import replicated_s, tree_s
from tests.benchmarks.scaling.scenario import Cluster, Job

DIRECTIONS = [MpiCosts(key_s=1), MpiCosts(peer_s=1), MpiCosts(copy_s=1), MpiCosts(hop_s=1)]
KEYS = {"small": (1000,), "large": (10_000_000,), "many": (10_000,) * 100}


def _seconds(costs: MpiCosts, point: Point) -> float:
    return replicated_s(Job(KEYS[point.case], updates=False), point.workers, Cluster(), costs, tree_s)


def test_a_fit_finds_the_costs_that_made_the_measurements() -> None:
    costs = MpiCosts(key_s=1e-4, peer_s=3e-4, copy_s=1e-9, hop_s=2e-9)
    points = [Point("", workers, case, "worker", (0.0,)) for workers in (1, 2) for case in KEYS]
    points = [point._replace(rounds_s=(9.0, _seconds(costs, point))) for point in points]

    found = fit(DIRECTIONS, points, _seconds, MpiCosts())

    assert found.key_s == pytest.approx(costs.key_s)
    assert found.peer_s == pytest.approx(costs.peer_s)
    assert found.copy_s == pytest.approx(costs.copy_s)
    assert found.hop_s == pytest.approx(costs.hop_s)


def test_points_that_do_not_determine_the_costs_are_refused() -> None:
    points = [Point("", 1, case, "worker", (1.0,)) for case in KEYS]

    with pytest.raises(ValueError, match="3 points do not determine 4 costs"):
        fit(DIRECTIONS, points, _seconds, MpiCosts())


def test_slow_rounds_are_compared_with_the_least() -> None:
    assert of_slow_rounds(Point("", 2, "", "server", (1.0, 5.0, 1.1, 5.2, 1.2, 5.1))) == pytest.approx(4.1)
