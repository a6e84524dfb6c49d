"""Every worker runs this: the rules of asynchronous stores. Prints `passed` at the end."""

from __future__ import annotations

import numpy as np

import operad as od

kv = od.kv.create("dist_async")
rank, workers = kv.rank, kv.num_workers
out = od.nd.zeros(3)
kv.init("w", od.nd.zeros(3))

try:
    kv.push("w", od.nd.ones(3))
except TypeError as error:
    assert "'dist_async' needs set_optimizer first" in str(error)  # noqa: PT017 - a program, not a test
else:
    raise AssertionError("a push without an optimizer was accepted")

# Every push counts at once: rank 0 sees its own before another worker has pushed anything.
kv.set_optimizer(od.optimizer.SGD(learning_rate=1.0))
if rank == 0:
    kv.push("w", od.nd.ones(3))
    kv.pull("w", out=out)
    assert out.asnumpy().tolist() == [-1, -1, -1]
kv.barrier()

# And every push counts once, in whatever order they come.
for _ in range(10):
    kv.push("w", od.nd.ones(3))
kv.pull("w", out=out)
kv.barrier()
kv.pull("w", out=out)
assert np.array_equal(out.asnumpy(), [-1 - 10 * workers] * 3), out.asnumpy()
kv.barrier()
print("passed", flush=True)
