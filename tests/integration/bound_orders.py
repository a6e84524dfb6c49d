"""What networks compute that are bound in some order, of some sizes, in this process or in a new one.

A job is the seed of a network, its batch, what is asked of its gradients, and an element type. As a program:
every job in a child of its own, in which nothing was bound before; the digests go to standard output.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from typing import Any, NamedTuple

import numpy as np

import operad as od
from operad.graph import renamed
from tests.integration.bound_networks import Network

SEED = 7
BATCHES = (5, 9, 36, 48)
EDGES = ((1, 2), (7, 8), (31, 32), (32, 33), (36, 37), (40, 41), (127, 128), (511, 512))
"""Batches that one comparison of lengths tells apart: with 1, with the width of layers, with the largest of a
class of sizes, or of elements with the sizes from which clusters, and kernels of elements, are compiled."""
REQUESTS = ("null", "write", "add")
TYPES = ("float32", "float64")


class Job(NamedTuple):
    """One bind, a pass of training, and one of prediction."""

    seed: int
    batch: int
    request: str
    dtype: str


def digest(job: Job, prefix: str = "") -> str:
    """Digest of all bits that a job gives: outputs, states and gradients.

    Args:
        prefix: Of the names of all nodes.
    """
    network, dtype = Network(job.seed, job.batch), job.dtype
    values = {prefix + name: value for name, value in {**network.arguments, **network.states}.items()}
    requests = dict.fromkeys([prefix + name for name in network.trained], job.request)
    shapes = {prefix + name: shape for name, shape in network.shapes.items()}
    symbol = od.sym.Symbol(renamed(network.symbol.graph, lambda node: prefix + node.name).outputs)
    executor = symbol.simple_bind(od.cpu(), requests, dict.fromkeys(values, dtype), **shapes)
    for name, array in {**executor.arg_dict, **executor.aux_dict}.items():
        array[:] = values[name]
    found = hashlib.sha256()

    def note(arrays: Any) -> None:
        for array in arrays:
            found.update(np.ascontiguousarray(array.asnumpy()).tobytes())

    for is_train in (True, False):
        od.random.seed(SEED)
        executor.forward(is_train=is_train)
        if is_train and job.request != "null":
            executor.backward([od.nd.ones(one.shape, dtype=dtype) for one in executor.outputs])
        note([*executor.outputs, *executor.aux_dict.values()])
    note([executor.grad_dict[name] for name in requests if job.request != "null"])
    return found.hexdigest()


def in_a_child(job: Job) -> str:
    """The digest of a job in a child of this process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, digest(job).encode())
        finally:
            os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as file:
        return file.read()


if __name__ == "__main__":
    sys.stdout.write(json.dumps([in_a_child(Job(*job)) for job in json.loads(sys.argv[1])]))
