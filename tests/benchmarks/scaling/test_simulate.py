from __future__ import annotations

import json
import sys
from dataclasses import replace
from math import erf
from typing import Any

import numpy as np
import pytest

from tests.benchmarks.scaling import __main__ as command
from tests.benchmarks.scaling.costs import MpiCosts, RayCosts
from tests.benchmarks.scaling.scenario import Chance, Cluster, Job, of_resnet_50
from tests.benchmarks.scaling.simulate import (
    ENGINES,
    STEPS,
    Scenario,
    compute_times,
    predict,
    step_s,
)

JOB = of_resnet_50(compute_s=0.1)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_worker_only_computes(engine: str) -> None:
    slow = Scenario(
        engine, JOB, Cluster(link=1e6, latency_s=1), mpi=MpiCosts(copy_s=1), ray=RayCosts(copy_s=1)
    )

    assert step_s(slow, 1) == pytest.approx(0.1)


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_that_exchange_for_nothing_scale_perfectly(engine: str) -> None:
    found = predict(Scenario(engine, JOB), 1024)

    assert found.efficiency == pytest.approx(1)
    assert found.bottleneck == "compute"


@pytest.mark.parametrize("workers", [2, 10, 100])
def test_a_step_waits_for_the_slow_ones(workers: int) -> None:
    job, chance = Job((1,), compute_s=1.0), Chance(slow_share=0.02, slow_factor=3.0)
    expected = 1 + 2 * (1 - 0.98**workers)

    steps = [step_s(Scenario("ring", job, chance=chance, seed=seed), workers) for seed in range(100)]

    error = np.std(steps) / np.sqrt(len(steps))
    assert abs(np.mean(steps) - expected) < 4 * error


def test_of_two_log_normal_times_the_larger_has_its_known_mean() -> None:
    spread = 0.5
    expected = 1 + erf(spread / 2)  # 2 times the normal distribution at spread/sqrt(2)

    scenario = Scenario("ring", Job((1,), compute_s=1.0), chance=Chance(spread=spread))
    largest = [compute_times(replace(scenario, seed=seed), 2).max(axis=1) for seed in range(200)]

    assert np.mean(largest) == pytest.approx(expected, abs=4 * np.std(largest) / np.sqrt(200 * STEPS))


@pytest.mark.parametrize(
    ("engine", "changes", "bottleneck"),
    [
        ("ring", {"cluster": Cluster(link=1e7)}, "worker's link"),
        ("mpi", {"mpi": MpiCosts(peer_s=1)}, "messages"),
        ("mpi", {"mpi": MpiCosts(hop_s=1e-6)}, "worker's processor"),
        ("ring", {"chance": Chance(slow_share=0.5, slow_factor=100)}, "stragglers"),
        ("ring", {"chance": Chance(mtbf_s=1000)}, "failures"),
        ("ray-sync", {"cluster": Cluster(link=1e9)}, "server's link"),
        ("ray-async", {"cluster": Cluster(link=1e9)}, "server's link"),
        ("ray-sync", {"ray": RayCosts(push_s=1e-6)}, "server's processor"),
        ("ray-async", {"ray": RayCosts(reply_s=1e-6)}, "server's processor"),
    ],
)
def test_the_bottleneck_is_what_was_made_slow(engine: str, changes: dict[str, Any], bottleneck: str) -> None:
    assert predict(Scenario(engine, JOB, **changes), 16).bottleneck == bottleneck


def test_failures_of_synchronous_workers_stop_all_of_them() -> None:
    chance = Chance(mtbf_s=1e6, restart_s=60, checkpoint_s=600)

    lost = step_s(Scenario("ring", JOB, chance=chance), 100) / step_s(Scenario("ring", JOB), 100) - 1

    assert lost == pytest.approx(100 * (60 + 300) / 1e6)


def test_equal_seeds_give_equal_predictions() -> None:
    scenario = Scenario("ray-async", JOB, chance=Chance(spread=0.3))

    assert predict(scenario, 8) == predict(scenario, 8)
    assert predict(scenario, 8) != predict(replace(scenario, seed=1), 8)


def test_the_command_predicts_each_power_of_two(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["scaling", "--most", "8", "--json"])

    command.main()

    found = json.loads(capsys.readouterr().out)
    assert {engine: [one["workers"] for one in of] for engine, of in found.items()} == {
        engine: [1, 2, 4, 8] for engine in ENGINES
    }
