"""Binding of random networks with fusion beside binding without, kernels being on the disk.

    python -m tests.benchmarks.binding [NETWORKS]

Each network is bound alternately, seven times each way; of both the least processor time counts.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

import operad as od
from plugins.fusion.tests.networks import Network

ROUNDS = 7
FIRST = 1000
"""Seed of the first network."""


def seconds(network: Network, mode: str) -> float:
    """Processor time of a binding."""
    os.environ["OPERAD_FUSION"] = mode
    start = time.process_time()
    network.symbol.simple_bind(od.cpu(), grad_req=network.requests, **network.shapes)
    return time.process_time() - start


def main() -> None:
    """Print the ratios."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    pairs = []
    for seed in range(FIRST, FIRST + count):
        network = Network(seed)
        for mode in ("on", "off"):
            seconds(network, mode)
        rounds = [(seconds(network, "on"), seconds(network, "off")) for _ in range(ROUNDS)]
        pairs.append(tuple(min(each) for each in zip(*rounds, strict=True)))
    ratios = sorted(on / off for on, off in pairs)
    worst = max(pairs, key=lambda pair: pair[0] - 2 * pair[1])
    print(
        f"{count} networks: with fusion {statistics.median(ratios):.2f} of without in the median,"
        f" {ratios[int(0.9 * count)]:.2f} at the ninth decile, {ratios[-1]:.2f} at most;"
        f" worst beyond twice: {worst[0] * 1e3:.1f} ms for {worst[1] * 1e3:.1f}"
    )


if __name__ == "__main__":
    main()
