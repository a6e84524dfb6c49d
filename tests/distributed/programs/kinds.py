"""One worker runs this: training that is saved with one kind of store goes on with another. Prints `passed`.

Usage: kinds.py FOLDER
"""

from __future__ import annotations

import sys
from itertools import permutations
from typing import Any

import numpy as np

import operad as od

KINDS = {"none": None, "local": "local", "device": "device", "dist_sync": "dist_sync"}
numbers = np.random.RandomState(0)
data = numbers.randn(48, 5).astype("float32")
labels = numbers.randint(0, 3, 48).astype("float32")
hidden = od.sym.FullyConnected(od.sym.var("data"), num_hidden=6, name="fc1").tanh()
network = od.sym.SoftmaxOutput(od.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


def trained(kind: str, num_epoch: int = 3, **given: Any) -> list[Any]:
    """The weights after so many epochs."""
    od.random.seed(0)
    module = od.mod.Module(network, context=[od.cpu(0), od.cpu(1)])
    module.fit(
        od.io.NDArrayIter(data, labels, 8, shuffle=True, seed=3), num_epoch=num_epoch, kvstore=KINDS[kind],
        optimizer="adam", optimizer_params={"learning_rate": 0.1}, **given,
    )  # fmt: skip
    return [value.asnumpy() for _, value in sorted(module.get_params()[0].items())]


whole = trained("local")
for before, after in permutations(KINDS, 2):
    prefix = f"{sys.argv[1]}/{before}-{after}/net"
    trained(before, num_epoch=1, checkpoint=od.callback.Checkpoint(prefix))
    for own, expected in zip(trained(after, resume=prefix), whole, strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-4, atol=1e-6, err_msg=f"{before}, then {after}")
print("passed", flush=True)
