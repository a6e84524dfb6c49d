"""The costs of this repository's stores, and how well they predict what they were not fitted to.

Fitted are 16 KB and 104.9 MB with one and two workers, and 161 arrays with one. Predicted are 161 arrays
with two workers, in one call and key by key; everything with three workers; and asynchronous stores, which
nothing is fitted to. So are 4.2 MB, which are cheaper per byte, as they stay in the processor's caches;
models do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple, final

import numpy as np

from tests.benchmarks.distributed_worker import CASES
from tests.benchmarks.scaling.costs import Measured, MpiCosts, Point, RayCosts, fit, of_slow_rounds
from tests.benchmarks.scaling.scenario import Cluster, Job
from tests.benchmarks.scaling.simulate import Scenario, exchange_s

SIZES: Final = ("16 KB", "104.9 MB")
MANY: Final = "161 arrays"
ENGINE_OF: Final = {
    "mpi": "mpi",
    "mpi, TCP": "mpi",
    "ray": "ray-sync",
    "ray, SGD": "ray-sync",
    "ray, asynchronous SGD": "ray-async",
}
FITTED: Final = frozenset({(1, size) for size in (*SIZES, MANY)} | {(2, size) for size in SIZES})
"""Workers and case, of the columns `mpi`, `mpi, TCP` and `ray`."""
UPDATE: Final = ("ray, SGD", 1, "104.9 MB")
"""The point that the cost of an optimizer is fitted to."""

_WORKER_COPIES: Final = 4  # into a bucket, into Ray's object store, out of it, into what is pulled
_REPLY_COPIES: Final = 2  # out of the server's values, into Ray's object store


@final
class Checked(NamedTuple):
    """A prediction beside what was measured, in seconds.

    Attributes:
        point: What was measured.
        is_fitted: Whether costs were fitted to it.
        predicted_s: By the model.
    """

    point: Point
    is_fitted: bool
    predicted_s: float


def mpi_costs(measured: Measured, column: str = "mpi") -> MpiCosts:
    """Costs of the replicated store; those of an optimizer are a server's, which runs the same one."""
    directions = [MpiCosts(key_s=1), MpiCosts(peer_s=1), MpiCosts(copy_s=1), MpiCosts(hop_s=1)]
    points = [measured.find(column, *which) for which in sorted(FITTED)]
    found = fit(directions, points, _model(measured, "mpi"), MpiCosts())
    return replace(found, update_s=ray_costs(measured).update_s)


def ray_costs(measured: Measured) -> RayCosts:
    """Costs of the store with servers.

    What takes as long whatever the number of workers are copies, some of a worker and some of the server;
    their time is divided by their number.
    """
    directions = [
        RayCosts(call_s=1), RayCosts(key_s=1), RayCosts(message_s=1), RayCosts(push_s=1),
        RayCosts(copy_s=_WORKER_COPIES, reply_s=_REPLY_COPIES),
    ]  # fmt: skip
    points = [measured.find("ray", *which) for which in sorted(FITTED)]
    found = fit(directions, points, _model(measured, "ray"), RayCosts())
    updates = [measured.find(*UPDATE)]
    found = fit([RayCosts(update_s=1)], updates, _model(measured, "ray"), found)
    slow_s = of_slow_rounds(measured.find("ray", 2, "104.9 MB"))
    return replace(found, picture_s=slow_s / job_of(measured.find(*UPDATE)).whole.size_bytes)


def check(measured: Measured) -> list[Checked]:
    """Every measured point that there is a model of, beside its prediction."""
    ray = replace(ray_costs(measured), picture_s=0.0)  # there is none in the least of the rounds
    of_mpi = {column: mpi_costs(measured, column) for column in ("mpi", "mpi, TCP")}
    found = []
    for point in measured.points:
        if point.column not in ENGINE_OF or point.case == "barrier":
            continue
        if point.column in of_mpi:
            predicted = _model(measured, "mpi")(of_mpi[point.column], point)
        else:
            predicted = _model(measured, "ray")(ray, point)
        is_fitted = point[:3] == UPDATE or (
            (point.workers, point.case) in FITTED and point.column in {"ray", *of_mpi}
        )
        found.append(Checked(point, is_fitted, predicted))
    return found


def job_of(point: Point) -> Job:
    """What was pushed and pulled in a measurement."""
    keys = tuple(int(np.prod(shape)) for shape in CASES[point.case])
    return Job(keys, 0.0, one_by_one="key by key" in point.case, updates="SGD" in point.column)


def _model(measured: Measured, engine_costs: str) -> Callable[[Any, Point], float]:
    """Seconds of the exchange in which a point was measured, on the cores of that machine.

    Args:
        measured: Says how many cores.
        engine_costs: The field of `Scenario` that the costs are, `mpi` or `ray`.
    """
    cluster = Cluster(cores=measured.about["cores"])

    def seconds(costs: Any, point: Point) -> float:
        scenario = Scenario(ENGINE_OF[point.column], job_of(point), cluster)
        return exchange_s(replace(scenario, **{engine_costs: costs}), point.workers)

    return seconds
