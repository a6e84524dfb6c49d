"""The costs of this repository's stores, and how well they predict what they were not fitted to.

Fitted are 16 KB and 104.9 MB with one and two workers, 161 arrays with one, and a barrier of two.
Predicted are 161 arrays with two workers, everything with three, and asynchronous stores. So are 4.2 MB,
which are cheaper per byte, as they stay in the processor's caches; models do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple, final

import numpy as np

from tests.benchmarks.distributed_worker import CASES
from tests.benchmarks.scaling import exchanges, servers
from tests.benchmarks.scaling.costs import Measured, MpiCosts, Point, RayCosts, fit, of_slow_rounds
from tests.benchmarks.scaling.scenario import Cluster, Job

BARRIER: Final = "barrier"
LARGE: Final = "104.9 MB"
FITTED: Final = (
    (1, "16 KB"), (1, LARGE), (1, "161 arrays"), (2, "16 KB"), (2, LARGE),
)  # fmt: skip
"""Workers and case, of the columns `mpi`, `mpi, TCP` and `ray`."""
UPDATE: Final = ("ray, SGD", 1, LARGE, "server")
"""The point that the cost of an optimizer is fitted to."""

_HERE: Final = Cluster()  # links of one machine cost nothing but processor time


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
    directions = [
        MpiCosts(key_s=1), MpiCosts(bucket_s=1), MpiCosts(peer_s=1), MpiCosts(copy_s=1), MpiCosts(hop_s=1),
    ]  # fmt: skip
    found = fit(directions, _mpi_points(measured, column), mpi_s, MpiCosts())
    return replace(found, update_s=ray_costs(measured).update_s)


def ray_costs(measured: Measured) -> RayCosts:
    """Costs of the store with servers, fitted to its workers and its server one after the other."""
    found = RayCosts()
    for who, directions in (
        ("worker", [RayCosts(call_s=1), RayCosts(key_s=1), RayCosts(copy_s=1)]),
        ("server", [RayCosts(visit_s=1), RayCosts(message_s=1), RayCosts(push_s=1), RayCosts(reply_s=1)]),
    ):
        found = fit(directions, _ray_points(measured, who), ray_s, found)
    found = fit([RayCosts(update_s=1)], [measured.find(*UPDATE)], ray_s, found)
    slow = measured.find("ray", 2, LARGE, "server")
    return replace(found, snapshot_s=of_slow_rounds(slow) / job_of(slow).whole.size_bytes)


def check(measured: Measured) -> list[Checked]:
    """Every measured point that there is a model of, beside its prediction."""
    of_ray = replace(ray_costs(measured), snapshot_s=0.0)  # there is none in the least of the rounds
    of_mpi = {column: mpi_costs(measured, column) for column in ("mpi", "mpi, TCP")}
    fitted = [point for column in of_mpi for point in _mpi_points(measured, column)]
    fitted += _ray_points(measured, "worker") + _ray_points(measured, "server")
    fitted.append(measured.find(*UPDATE))
    found = []
    for point in measured.points:
        if point.column in of_mpi:
            found.append(Checked(point, point in fitted, mpi_s(of_mpi[point.column], point)))
        elif point.column.startswith("ray") and point.case != BARRIER:
            found.append(Checked(point, point in fitted, ray_s(of_ray, point)))
    return found


def mpi_s(costs: MpiCosts, point: Point) -> float:
    """Processor time of rank 0, which is the busiest worker of a tree."""
    if point.case == BARRIER:
        return exchanges.agreement_s(point.workers, _HERE, costs)
    return exchanges.replicated_s(job_of(point), point.workers, _HERE, costs, exchanges.tree_s)


def ray_s(costs: RayCosts, point: Point) -> float:
    """Processor time of rank 0, or of the only server."""
    job, is_async = job_of(point), "asynchronous" in point.column
    if point.who == "worker":
        return sum(servers.own_s(call, costs) for call in job.calls())
    total = 0.0
    for call in job.calls():
        times = servers.service(call.whole, point.workers, _HERE, costs, is_async, job.updates)
        total += point.workers * times.intake + times.completion
    return total


def job_of(point: Point) -> Job:
    """Job of a measurement: the keys that were pushed and pulled."""
    keys = tuple(int(np.prod(shape)) for shape in CASES[point.case])
    return Job(keys, 0.0, one_by_one="key by key" in point.case, updates="SGD" in point.column)


def _mpi_points(measured: Measured, column: str) -> list[Point]:
    # A worker alone sends nothing, whatever it would send by.
    points = [measured.find(column if n > 1 else "mpi", n, case, "worker") for n, case in FITTED]
    return [*points, measured.find(column, 2, BARRIER, "worker")]


def _ray_points(measured: Measured, who: str) -> list[Point]:
    return [measured.find("ray", workers, case, who) for workers, case in FITTED]
