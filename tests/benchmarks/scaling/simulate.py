"""Throughput of a job on 1 to many workers, and what limits it.

A step is compute time, drawn for every worker and step, and then an exchange of all gradients: nothing
overlaps, because `Module` pushes all keys in one call behind the backward pass. What limits a step is
found by asking: of all resources, the bottleneck is the one without whose cost a step would be shortest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np

from tests.benchmarks.scaling import exchanges, servers
from tests.benchmarks.scaling.costs import MpiCosts, RayCosts
from tests.benchmarks.scaling.scenario import Chance, Cluster, Job

STEPS: Final = 40
ENGINES: Final = ("ring", "mpi", "ray-sync", "ray-async")

Times = np.ndarray[Any, np.dtype[np.float64]]


@final
@dataclass(frozen=True, slots=True)
class Scenario:
    """All that a prediction depends on, other than the number of workers.

    Attributes:
        engine: One of `ENGINES`. `mpi` and `ray-...` work as operad's stores, `ring` as `mpi` over a ring.
        seed: Of compute times. Every number of workers and every question about a resource draws the same.
    """

    engine: str
    job: Job
    cluster: Cluster = field(default_factory=Cluster)
    chance: Chance = field(default_factory=Chance)
    mpi: MpiCosts = field(default_factory=MpiCosts)
    ray: RayCosts = field(default_factory=RayCosts)
    seed: int = 0


@final
@dataclass(frozen=True, slots=True)
class Prediction:
    """Prediction for one number of workers.

    Attributes:
        workers: Number of workers.
        samples_per_s: Of all workers together.
        efficiency: Of `workers` times what one worker does alone.
        bottleneck: The resource that limits most.
        gain: Share by which a step would be shorter without its cost.
    """

    workers: int
    samples_per_s: float
    efficiency: float
    bottleneck: str
    gain: float


def predict(scenario: Scenario, workers: int) -> Prediction:
    """Throughput and bottleneck."""
    step = step_s(scenario, workers)
    gains = {name: 1 - step_s(change(scenario), workers) / step for name, change in RESOURCES.items()}
    # Without compute time no worker straggles, and nothing fails.
    gains["compute"] -= gains["stragglers"] + gains["failures"]
    bottleneck = max(gains, key=lambda name: gains[name])
    rate = workers * scenario.job.batch / step
    alone = scenario.job.batch / step_s(scenario, 1)
    return Prediction(workers, rate, rate / (workers * alone), bottleneck, gains[bottleneck])


def step_s(scenario: Scenario, workers: int) -> float:
    """Mean seconds between two steps, with the time that failures take. One worker only computes."""
    compute = compute_times(scenario, workers)
    if workers == 1:
        step = float(compute.mean())
    elif scenario.engine == "ray-async":
        step = servers.asynchronous_s(compute, scenario.job, scenario.cluster, scenario.ray)
    elif scenario.engine == "ray-sync":
        step = _of_rounds(scenario, compute)
    else:
        step = float(compute.max(axis=1).mean()) + exchange_s(scenario, workers)
    return step * (1 + lost_share(scenario, workers))


def exchange_s(scenario: Scenario, workers: int) -> float:
    """Seconds of one exchange of workers that begin together, until the last has its values."""
    job, cluster = scenario.job, scenario.cluster
    match scenario.engine:
        case "ring" | "mpi":
            bucket_s = exchanges.ring_s if scenario.engine == "ring" else exchanges.tree_s
            return exchanges.replicated_s(job, workers, cluster, scenario.mpi, bucket_s)
        case "ray-sync":
            return float(servers.round_s(np.zeros(workers), job, cluster, scenario.ray).max())
        case "ray-async":
            return servers.asynchronous_s(np.zeros((STEPS, workers)), job, cluster, scenario.ray)
    raise ValueError(f"no engine {scenario.engine!r}; there are {', '.join(ENGINES)}")


def compute_times(scenario: Scenario, workers: int) -> Times:
    """Compute times, (steps, workers), in seconds: log-normal, with the job's mean if no worker is slow."""
    chance = scenario.chance
    rng = np.random.default_rng([scenario.seed, workers])
    normal = rng.standard_normal((STEPS, workers))
    is_slow = rng.random((STEPS, workers)) < chance.slow_share
    factors = np.exp(chance.spread * normal - chance.spread**2 / 2)
    times: Times = scenario.job.compute_s * factors * np.where(is_slow, chance.slow_factor, 1.0)
    return times


def lost_share(scenario: Scenario, workers: int) -> float:
    """Seconds lost to failures per second of training.

    A synchronous job begins again from a checkpoint when a worker ends. In an asynchronous one only that
    worker begins again. A server comes back by itself, but all wait for it.
    """
    chance = scenario.chance
    if math.isinf(chance.mtbf_s):
        return 0.0
    if scenario.engine == "ray-async" and workers > 1:
        of_workers = chance.restart_s / chance.mtbf_s  # of one worker, which is one of many
    else:
        of_workers = workers * (chance.restart_s + chance.checkpoint_s / 2) / chance.mtbf_s
    has_servers = scenario.engine.startswith("ray") and workers > 1
    of_servers = scenario.cluster.servers * chance.server_recovery_s / chance.mtbf_s
    return of_workers + of_servers * has_servers


def _of_rounds(scenario: Scenario, compute: Times) -> float:
    """Mean seconds between two rounds of a synchronous store with servers.

    A worker that gets its answer first computes while others still wait, so rounds are not independent.
    """
    at = np.zeros(compute.shape[1])
    for times in compute:
        at = servers.round_s(at + times, scenario.job, scenario.cluster, scenario.ray)
    return float(at.mean()) / len(compute)


def _without_compute(scenario: Scenario) -> Scenario:
    return replace(scenario, job=replace(scenario.job, compute_s=0.0))


def _without_stragglers(scenario: Scenario) -> Scenario:
    return replace(scenario, chance=replace(scenario.chance, spread=0.0, slow_share=0.0))


def _without_failures(scenario: Scenario) -> Scenario:
    return replace(scenario, chance=replace(scenario.chance, mtbf_s=math.inf))


def _without_worker_link(scenario: Scenario) -> Scenario:
    kept = scenario.cluster.link_of_server
    return replace(scenario, cluster=replace(scenario.cluster, link=math.inf, server_link=kept))


def _without_server_link(scenario: Scenario) -> Scenario:
    return replace(scenario, cluster=replace(scenario.cluster, server_link=math.inf))


def _without_messages(scenario: Scenario) -> Scenario:
    return replace(
        scenario,
        cluster=replace(scenario.cluster, latency_s=0.0),
        mpi=replace(scenario.mpi, bucket_s=0.0, peer_s=0.0),
        ray=replace(scenario.ray, call_s=0.0, visit_s=0.0, message_s=0.0),
    )


def _without_worker(scenario: Scenario) -> Scenario:
    return replace(
        scenario,
        mpi=MpiCosts(bucket_s=scenario.mpi.bucket_s, peer_s=scenario.mpi.peer_s),
        ray=replace(scenario.ray, key_s=0.0, copy_s=0.0),
    )


def _without_server(scenario: Scenario) -> Scenario:
    ray = replace(scenario.ray, push_s=0.0, reply_s=0.0, update_s=0.0, snapshot_s=0.0)
    return replace(scenario, ray=ray)


RESOURCES: Final[Mapping[str, Callable[[Scenario], Scenario]]] = {
    "compute": _without_compute,
    "stragglers": _without_stragglers,
    "failures": _without_failures,
    "worker's link": _without_worker_link,
    "server's link": _without_server_link,
    "messages": _without_messages,
    "worker's processor": _without_worker,
    "server's processor": _without_server,
}
