"""Exchanges without servers: sums over a ring, and over a tree, as `operad-kvstore-mpi` makes them.

`operad-kvstore-mpi` goes through buckets one after another. For each, every worker sends a line to every
other one and waits for theirs; then chunks of 1 MB are summed in place. For sums in place Open MPI (5.0,
libnbc) takes a binomial tree towards rank 0 and back, whatever the size. Chunks follow each other closely,
so a bucket takes what its busiest worker takes: rank 0 receives it once per level of the tree, adds, and
sends it as often. A ring gives every worker the same work instead: 2(n - 1)/n of a bucket, in 2(n - 1)
steps.

A link and a processor work at the same time on different chunks, so the slower one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from operad_kvstore_mpi.transport import CHUNK_BYTES
from tests.benchmarks.scaling.costs import MpiCosts
from tests.benchmarks.scaling.scenario import Cluster, Job

BucketTime = Callable[[int, int, Cluster, MpiCosts], float]


def agreement_s(workers: int, cluster: Cluster, costs: MpiCosts) -> float:
    """Seconds in which every worker sends a line to every other one, and reads theirs; a barrier is that."""
    return (workers - 1) * costs.peer_s + cluster.latency_s


def ring_s(size_bytes: int, workers: int, cluster: Cluster, costs: MpiCosts) -> float:
    """Seconds to sum a bucket over a ring: 2(n - 1)/n of its bytes in 2(n - 1) steps."""
    per_byte = max(1 / cluster.link, costs.hop_s)
    return 2 * (workers - 1) * (size_bytes / workers * per_byte + cluster.latency_s)


def tree_s(size_bytes: int, workers: int, cluster: Cluster, costs: MpiCosts) -> float:
    """Seconds to sum a bucket over a binomial tree and send the sum back.

    Per level rank 0 receives the whole bucket, and sends a chunk on when it has its sum.
    """
    levels = math.ceil(math.log2(workers))
    per_byte = max(1 / cluster.link, costs.hop_s)
    # What is sent on stays behind what is received by one chunk; a link does both at a time.
    fill = min(CHUNK_BYTES, size_bytes) / cluster.link
    return levels * (size_bytes * per_byte + fill + 2 * cluster.latency_s)


def replicated_s(job: Job, workers: int, cluster: Cluster, costs: MpiCosts, bucket_s: BucketTime) -> float:
    """Seconds in which workers that begin together bring their values to the same new state.

    Args:
        job: What is pushed and pulled.
        workers: Number of workers; a single worker exchanges nothing, and only copies.
        cluster: Its servers are not used.
        costs: In processor time.
        bucket_s: `ring_s` or `tree_s`.
    """
    total = 0.0
    for call in job.calls():
        per_byte = costs.copy_s + costs.update_s * job.updates
        total += call.whole.keys * costs.key_s + call.whole.size_bytes * per_byte
        if workers > 1:
            each = agreement_s(workers, cluster, costs) + costs.bucket_s
            total += sum(each + bucket_s(size, workers, cluster, costs) for size in call.whole.buckets)
    return total
