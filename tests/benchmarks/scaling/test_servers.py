from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks.scaling.costs import RayCosts
from tests.benchmarks.scaling.scenario import Cluster, Job
from tests.benchmarks.scaling.servers import asynchronous_s, queued, round_s

ELEMENTS = 1 << 22
BYTES = 4 * ELEMENTS
FREE = RayCosts()


def test_a_queue_serves_in_the_order_of_arrival() -> None:
    arrivals = np.random.default_rng(0).random(100)
    free, expected = 0.0, {}
    for arrival in sorted(arrivals):
        free = expected[arrival] = max(arrival, free) + 0.01

    assert queued(arrivals, 0.01).tolist() == pytest.approx([expected[arrival] for arrival in arrivals])


@pytest.mark.parametrize("workers", [1, 2, 64])
def test_one_server_receives_and_sends_the_bytes_of_all_workers(workers: int) -> None:
    last = round_s(np.zeros(workers), Job((ELEMENTS,)), Cluster(link=1e9), FREE).max()

    assert last == pytest.approx(2 * workers * BYTES / 1e9)


def test_servers_share_the_bytes_of_many_keys() -> None:
    job = Job((ELEMENTS,) * 8)

    one, four = (round_s(np.zeros(64), job, Cluster(servers, link=1e9), FREE).max() for servers in (1, 4))

    assert four == pytest.approx(one / 4)


@pytest.mark.parametrize(("elements", "gain"), [(1_000_000, 1), (4_000_000, 4)])
def test_keys_of_more_than_a_million_elements_are_spread(elements: int, gain: float) -> None:
    job, fast = Job((elements,)), 1e15

    one, four = (
        round_s(np.zeros(8), job, Cluster(servers, link=fast, server_link=1e9), FREE).max()
        for servers in (1, 4)
    )

    assert one / four == pytest.approx(gain, rel=1e-3)


def test_a_worker_alone_is_as_fast_as_its_own_link() -> None:
    cluster = Cluster(servers=4, link=1e9, server_link=1e12)

    alone = round_s(np.zeros(1), Job((ELEMENTS,) * 4), cluster, FREE)

    assert alone[0] == pytest.approx(2 * 4 * BYTES / 1e9, rel=1e-3)


def test_nobody_has_a_round_before_the_last_push() -> None:
    ready = np.array([0.0, 0.0, 5.0])

    done = round_s(ready, Job((ELEMENTS,)), Cluster(), RayCosts(push_s=1 / BYTES, update_s=2 / BYTES))

    assert done.tolist() == pytest.approx([8, 8, 8])


def test_asynchronous_workers_wait_for_nobody_where_servers_cost_nothing() -> None:
    compute = np.broadcast_to([1.0, 1.0, 4.0], (20, 3))

    assert asynchronous_s(compute, Job((ELEMENTS,)), Cluster(), FREE) == pytest.approx(2)


def test_asynchronous_workers_queue_at_a_busy_server() -> None:
    costs = RayCosts(push_s=0.5 / BYTES, reply_s=0.5 / BYTES)

    assert asynchronous_s(np.full((40, 8), 2.0), Job((ELEMENTS,)), Cluster(), costs) == pytest.approx(8)
    assert asynchronous_s(np.full((40, 2), 2.0), Job((ELEMENTS,)), Cluster(), costs) == pytest.approx(3)


def test_snapshots_cost_by_the_round() -> None:
    cluster, costs = Cluster(snapshot_every=4), RayCosts(snapshot_s=1 / BYTES)

    done = round_s(np.zeros(8), Job((ELEMENTS,)), cluster, costs).max()

    assert done == pytest.approx(1 / 4)
