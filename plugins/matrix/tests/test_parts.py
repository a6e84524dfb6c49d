"""Large products are divided, and results do not depend on the number of threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib
import numpy as np
import operad as od

PRODUCTS = [
    ("dot", [(512, 300), (300, 250)], {}),
    ("dot", [(300, 40), (300, 2000)], {"transpose_a": True}),
    ("batch_dot", [(5, 160, 300), (5, 300, 160)], {}),
    ("linalg_gemm2", [(512, 300), (250, 300)], {"alpha": 2.0, "transpose_b": True}),
    ("linalg_gemm", [(512, 300), (300, 250), (512, 250)], {"beta": 0.5}),
]
rng, found = np.random.default_rng(0), hashlib.sha256()
for name, shapes, params in PRODUCTS:
    arrays = [od.nd.array(rng.standard_normal(shape)) for shape in shapes]
    for array in arrays:
        array.attach_grad()
    with od.autograd.record():
        output = getattr(od.nd, name)(*arrays, **params)
    output.backward()
    for array in (output, *(each.grad for each in arrays)):
        found.update(array.asnumpy().tobytes())
    symbol = getattr(od.sym, name)(*(od.sym.var(f"x{i}") for i in range(len(shapes))), **params)
    bound = symbol.simple_bind(**{f"x{i}": shape for i, shape in enumerate(shapes)})
    kernels = {row.kernel.rpartition(".")[2] for row in bound.why().rows}
    assert any(kernel.endswith(("in_parts", "in_vectors")) for kernel in kernels), (name, kernels)
print(found.hexdigest())
"""


@pytest.mark.more
@pytest.mark.parametrize("engine", ["threaded", "naive"])
@pytest.mark.parametrize("vector", ["on", "off"])
def test_one_answer_for_any_number_of_threads(engine: str, vector: str) -> None:
    found = set()
    for threads in ("1", "2", "3"):
        environment = {**os.environ, "OPERAD_ENGINE": engine, "OPERAD_NUM_THREADS": threads}
        environment["OPERAD_VECTOR"] = vector
        run = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
        )
        assert not run.returncode, run.stderr
        found.add(run.stdout)
    assert len(found) == 1
