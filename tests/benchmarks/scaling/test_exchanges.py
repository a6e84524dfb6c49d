from __future__ import annotations

import pytest

from operad_kvstore_mpi.transport import CHUNK_BYTES
from tests.benchmarks.scaling.costs import MpiCosts
from tests.benchmarks.scaling.exchanges import replicated_s, ring_s, tree_s
from tests.benchmarks.scaling.scenario import Cluster, Job

LINK = Cluster(link=1e9, latency_s=1e-4)
FREE = MpiCosts()
SIZE = 16 << 20


@pytest.mark.parametrize("workers", [2, 3, 1024])
def test_a_ring_takes_the_time_of_its_formula(workers: int) -> None:
    expected = 2 * (workers - 1) / workers * SIZE / 1e9 + 2 * (workers - 1) * 1e-4

    assert ring_s(SIZE, workers, LINK, FREE) == pytest.approx(expected)


@pytest.mark.parametrize(("workers", "levels"), [(2, 1), (3, 2), (4, 2), (5, 3), (1024, 10)])
def test_the_root_of_a_tree_receives_a_bucket_per_level(workers: int, levels: int) -> None:
    expected = levels * ((SIZE + CHUNK_BYTES) / 1e9 + 2e-4)

    assert tree_s(SIZE, workers, LINK, FREE) == pytest.approx(expected)


def test_the_slower_of_link_and_processor_counts() -> None:
    slow, quick = MpiCosts(hop_s=2e-9), MpiCosts(hop_s=0.5e-9)

    assert ring_s(SIZE, 2, Cluster(link=1e9), slow) == pytest.approx(SIZE * 2e-9)
    assert ring_s(SIZE, 2, Cluster(link=1e9), quick) == pytest.approx(SIZE * 1e-9)


def test_workers_agree_once_per_bucket_with_every_other() -> None:
    job = Job((SIZE // 4,) * 3)

    assert replicated_s(job, 9, Cluster(), MpiCosts(peer_s=1e-3), tree_s) == pytest.approx(3 * 8e-3)


def test_keys_one_by_one_are_as_many_buckets_as_keys() -> None:
    keys, peer = (1000,) * 50, MpiCosts(peer_s=1.0)

    assert replicated_s(Job(keys), 2, Cluster(), peer, tree_s) == 1
    assert replicated_s(Job(keys, one_by_one=True), 2, Cluster(), peer, tree_s) == 50
