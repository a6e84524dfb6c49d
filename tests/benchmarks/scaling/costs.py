"""Costs of the stores in processor time, fitted to runs of `tests.benchmarks.distributed`.

The models of what a worker and a server do are linear in these costs. So a row of the least squares
problem is the model itself with one cost set to 1 and the others to 0, and no formula is written twice.
Rows are divided by what was measured, so that relative errors count, and no cost is below zero. Processor
time is fitted, not wall time, because the machine was shared; and the least of all rounds, because caches
are shared, too.

A server's snapshot (see `plugins/kvstore_ray`) is written in some rounds only, and so is not in the least
one. With two workers that is every second round, and a snapshot costs the time that such a round takes
longer. Time of the disk is not processor time and is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple, TypeVar, final

import numpy as np
from scipy.optimize import nnls

MEASURED: Final = Path(__file__).with_name("measured.json")


@final
@dataclass(frozen=True, slots=True)
class MpiCosts:
    """Of a worker of a replicated store.

    Attributes:
        key_s: Per key of a call.
        bucket_s: Per bucket, whatever is in it.
        peer_s: Per other worker and bucket, to agree on what comes next.
        copy_s: Per byte, for all copies that a worker makes in an exchange.
        hop_s: Per byte that a worker receives, adds and sends on.
        update_s: Per byte that an optimizer moves.
    """

    key_s: float = 0.0
    bucket_s: float = 0.0
    peer_s: float = 0.0
    copy_s: float = 0.0
    hop_s: float = 0.0
    update_s: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class RayCosts:
    """Of workers and servers.

    Attributes:
        call_s: Per call of a worker, whatever is in it.
        key_s: Per key of a call.
        visit_s: Per call of a worker, at a server.
        message_s: Per message that a server takes in.
        copy_s: Per byte, for all copies that a worker makes in an exchange.
        push_s: Per byte that a server takes in and adds.
        reply_s: Per byte, for all copies that a server makes to answer.
        update_s: Per byte that an optimizer moves.
        snapshot_s: Per byte of a server that is written to a file.
    """

    call_s: float = 0.0
    key_s: float = 0.0
    visit_s: float = 0.0
    message_s: float = 0.0
    copy_s: float = 0.0
    push_s: float = 0.0
    reply_s: float = 0.0
    update_s: float = 0.0
    snapshot_s: float = 0.0


C = TypeVar("C", MpiCosts, RayCosts)


@final
class Point(NamedTuple):
    """The rounds of one case.

    Attributes:
        column: Of `tests.benchmarks.distributed`.
        workers: How many.
        case: What they pushed and pulled.
        who: Whose processor time it is, `worker` or `server`.
        rounds_s: Seconds of each round.
    """

    column: str
    workers: int
    case: str
    who: str
    rounds_s: tuple[float, ...]

    @property
    def least_s(self) -> float:
        """Of the rounds."""
        return min(self.rounds_s)


@final
class Measured(NamedTuple):
    """Results that `tests.benchmarks.distributed --json` has written.

    Attributes:
        about: Date, cores, load and machine.
        points: All measurements.
    """

    about: dict[str, Any]
    points: tuple[Point, ...]

    def find(self, column: str, workers: int, case: str, who: str) -> Point:
        """One of the points.

        Raises:
            KeyError: It was not measured.
        """
        for point in self.points:
            if point[:4] == (column, workers, case, who):
                return point
        raise KeyError(f"{case!r} of column {column!r} with {workers} workers was not measured for {who}")


def read(path: Path = MEASURED) -> Measured:
    """Measured rounds, from a file."""
    content = json.loads(path.read_text())
    points = tuple(
        Point(one["column"], one["workers"], one["case"], who, tuple(ms / 1000 for ms in one[f"{who}_ms"]))
        for one in content.pop("rounds")
        for who in ("worker", "server")
        if f"{who}_ms" in one
    )
    return Measured(content, points)


def fit(directions: Sequence[C], points: Sequence[Point], model: Callable[[C, Point], float], known: C) -> C:
    """The costs with which a model comes closest to points.

    Args:
        directions: Each is fitted by one factor; costs that stand in one direction keep their proportion.
        points: What was measured.
        model: Seconds of processor time, linear in the costs.
        known: Costs that stand already, and are added.
    Raises:
        ValueError: The points do not determine the costs.
    """
    scale = np.array([1 / point.least_s for point in points])
    rest = np.array([point.least_s - model(known, point) for point in points])
    design = np.array([[model(one, point) for one in directions] for point in points]) * scale[:, None]
    sizes = np.abs(design).max(axis=0)  # of seconds per call and seconds per byte
    if not sizes.all() or np.linalg.matrix_rank(design / sizes) < len(directions):
        raise ValueError(f"{len(points)} points do not determine {len(directions)} costs; measure more cases")
    factors, _ = nnls(design / sizes, rest * scale)
    return _sum(known, directions, factors / sizes)


def of_slow_rounds(point: Point) -> float:
    """By how many seconds the slower half of the rounds takes longer than the least."""
    return max(median(sorted(point.rounds_s)[len(point.rounds_s) // 2 :]) - point.least_s, 0.0)


def _sum(first: C, others: Sequence[C], factors: Iterable[float]) -> C:
    total = {field.name: getattr(first, field.name) for field in fields(first)}
    for one, factor in zip(others, factors, strict=True):
        for name in total:
            total[name] += float(factor) * getattr(one, name)
    return type(first)(**total)
