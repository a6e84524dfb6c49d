"""Exchanges through parameter servers, as `operad-kvstore-ray` makes them, synchronous and asynchronous.

Each server is two queues, served in the order of arrival. One takes pushes in: the link and the processor
work on different messages at the same time, so the slower one counts. A processor takes in the bytes, adds
them, and now and then writes the server to a file; in an asynchronous store it also moves the values and
copies them for the answer, for every push; in a synchronous one it does that once per round. The other
queue is the link on which answers leave. A push begins to arrive when it begins to be sent, so sending and
receiving do not add up.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple, final

import numpy as np

from tests.benchmarks.scaling.costs import RayCosts
from tests.benchmarks.scaling.scenario import Cluster, Job, Shard

Times = np.ndarray[Any, np.dtype[np.float64]]


@final
class Service(NamedTuple):
    """Seconds that one server spends.

    Attributes:
        intake: On the push of one worker.
        completion: On a round that is complete.
        reply: Of its link, on the answer to one worker.
    """

    intake: float
    completion: float
    reply: float


def service(
    shard: Shard, workers: int, cluster: Cluster, costs: RayCosts, is_async: bool, updates: bool
) -> Service:
    """Time that a server's work takes."""
    size = shard.size_bytes
    per_byte = costs.push_s + costs.snapshot_s / (cluster.snapshot_every * workers)
    push = costs.visit_s + len(shard.buckets) * costs.message_s + size * per_byte
    completion = size * (costs.reply_s + costs.update_s * updates)
    sent = size / cluster.link_of_server
    if is_async:
        return Service(max(sent, push + completion), 0.0, sent)
    return Service(max(sent, push), completion, sent)


def own_s(job: Job, costs: RayCosts) -> float:
    """Time that a worker itself takes in an exchange: calls and copies."""
    return costs.call_s + job.whole.keys * costs.key_s + job.whole.size_bytes * costs.copy_s


def queued(arrivals: Times, service_s: float) -> Times:
    """Times at which arrivals at a queue are done, served one after another; in any order."""
    order = np.argsort(arrivals, kind="stable")
    places = np.arange(len(arrivals))
    # done_k = max(arrival_k, done_(k - 1)) + service, written out
    waited = np.maximum.accumulate(arrivals[order] - places * service_s)
    done = np.empty_like(arrivals)
    done[order] = waited + (places + 1) * service_s
    return done


def round_s(ready: Times, job: Job, cluster: Cluster, costs: RayCosts) -> Times:
    """Times at which the workers of a synchronous store have the values of a round.

    Args:
        ready: When each has computed its gradients, in seconds.
        job: What is pushed and pulled.
        cluster: Servers and links.
        costs: In processor time.
    """
    for call in job.calls():
        begun = ready + own_s(call, costs)
        sent = begun + call.whole.size_bytes / cluster.link + cluster.latency_s
        ready, completed = begun, []
        for shard in call.shards(cluster.servers):
            times = service(shard, len(ready), cluster, costs, is_async=False, updates=job.updates)
            taken = np.maximum(queued(begun + cluster.latency_s, times.intake), sent)
            completed.append(float(taken.max()) + times.completion)
            answers = queued(np.full(len(ready), completed[-1]), times.reply)
            ready = np.maximum(ready, answers + cluster.latency_s)
        # A worker's own link brings the answers of all servers.
        received = min(completed) + call.whole.size_bytes / cluster.link + cluster.latency_s
        ready = np.maximum(ready, received)
    return ready


def asynchronous_s(compute: Times, job: Job, cluster: Cluster, costs: RayCosts) -> float:
    """Seconds between two steps of one worker, on average, of an asynchronous store.

    The server with the most bytes is simulated, and the others are never later.

    Args:
        compute: Compute times, (steps, workers), in seconds.
        job: What is pushed and pulled.
        cluster: Servers and links.
        costs: In processor time.
    """
    steps, workers = compute.shape
    (call,) = job.calls()
    largest = max(call.shards(cluster.servers), key=lambda shard: shard.size_bytes)
    times = service(largest, workers, cluster, costs, is_async=True, updates=job.updates)
    own, moved = own_s(call, costs), call.whole.size_bytes / cluster.link
    # invariant: arrivals are taken off the heap in the order of time, and cause later ones only
    arrivals = [(compute[0, worker] + own + cluster.latency_s, worker, 0) for worker in range(workers)]
    heapq.heapify(arrivals)
    intake_free = reply_free = 0.0
    first_half = ends = 0.0
    while arrivals:
        arrival, worker, step = heapq.heappop(arrivals)
        intake_free = max(arrival, intake_free) + times.intake
        taken = max(intake_free, arrival + moved)
        reply_free = max(taken, reply_free) + times.reply
        end = max(reply_free, taken + moved) + cluster.latency_s
        if step == steps // 2 - 1:
            first_half += end
        if step + 1 == steps:
            ends += end
        else:
            pushed = end + compute[step + 1, worker] + own
            heapq.heappush(arrivals, (pushed + cluster.latency_s, worker, step + 1))
    # The first half is the time in which the queues fill.
    return float((ends - first_half) / workers / (steps - steps // 2))
