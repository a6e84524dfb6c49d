"""Finalizers that push and wait, at every point where Python may run one; prints what became of them.

Run as a program. Objects die in cycles, so that the garbage collector, which runs wherever objects are
made, finalizes them inside whatever is being done, the engine's own steps included.
"""

from __future__ import annotations

import gc
import json
import sys
import threading

import operad as od

x = od.nd.ones((4,))
large = od.nd.ones((300, 300))
seen = {"read": 0, "refused": 0, "wrong": 0}


class Last:
    """Computes and reads when it dies."""

    def __init__(self) -> None:
        self.cycle = self

    def __del__(self) -> None:
        try:
            value = (x * 2.0 + 1.0).asnumpy()
        except od.OperadError:  # inside a step of the engine nobody may wait
            seen["refused"] += 1
        else:
            seen["read" if value.tolist() == [3.0] * 4 else "wrong"] += 1


def work(rounds: int) -> None:
    """Push small and large operations, among which cycles die."""
    for _ in range(rounds):
        Last()
        y = od.nd.tanh(x) + x
        z = od.nd.dot(large, large)
        Last()
        del y, z


def main(rounds: int) -> None:
    """Work in two threads with a collector that runs at almost every object."""
    gc.set_threshold(3, 2, 2)
    threads = [threading.Thread(target=work, args=(rounds,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.set_threshold(700, 10, 10)
    gc.collect()
    od.nd.waitall()
    print(json.dumps({**seen, "sum": float((x + x).asnumpy().sum())}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
