"""The first call of operators in a new process, with nothing in the cache and with what that call left there.

    python -m tests.benchmarks.first_calls [NAME ...]

Each call is recorded and has its gradients, in a process of its own that imported operad and made arrays. The
second call there shows what is left. Seconds on the wall and of processors, the least of three runs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
CASES: Final[dict[str, tuple[list[tuple[int, ...]], dict[str, Any]]]] = {
    "tanh": ([(512, 1000)], {}),
    "erf": ([(512, 1000)], {}),
    "elemwise_add": ([(512, 1000)] * 2, {}),
    "smooth_l1": ([(512, 1000)], {}),
    "softmax": ([(512, 1000)], {}),
    "sum": ([(512, 1000)], {"axis": 1}),
    "LayerNorm": ([(512, 1000), (1000,), (1000,)], {}),
    "Dropout": ([(512, 1000)], {}),
    "FullyConnected": ([(128, 784), (512, 784), (512,)], {"num_hidden": 512}),
    "Convolution": ([(8, 32, 28, 28), (32, 32, 3, 3), (32,)], {"kernel": (3, 3), "num_filter": 32}),
    "Pooling": ([(8, 32, 28, 28)], {"kernel": (2, 2), "stride": (2, 2), "pool_type": "max"}),
    "RMSNorm": ([(2048, 1024), (1024,)], {}),
    "rotary_embedding": ([(2, 16, 256, 64)], {}),
    "attention": (
        [(2, 16, 256, 64), (2, 4, 256, 64), (2, 4, 256, 64)],
        {"causal": True, "group_size": 4},
    ),
    "author_selective_scan": (
        [(2, 256, 256), (2, 256, 256), (256, 16), (2, 256, 16), (2, 256, 16)],
        {},
    ),
}
PROCESSES: Final = 3


def main() -> None:
    """Print the table."""
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(_one(sys.argv[2])))
        return
    print("| first call | cold, s | warm, s | of processors, cold | warm | second call |")
    print("|---|---|---|---|---|---|")
    for name in sys.argv[1:] or CASES:
        with tempfile.TemporaryDirectory() as folder:
            cold = _least([_process(name, f"{folder}/{number}") for number in range(PROCESSES)])
            warm = _least([_process(name, f"{folder}/0") for _ in range(PROCESSES)])
        print(
            f"| `{name}` {CASES[name][0][0]} | {cold['wall']:.3f} | {warm['wall']:.3f} | {cold['cpu']:.3f} "
            f"| {warm['cpu']:.3f} | {warm['second']:.4f} |",
            flush=True,
        )


def _process(name: str, cache: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.first_calls", "--one", name],
        cwd=ROOT, env={**os.environ, "OPERAD_CACHE_DIR": cache}, check=True, capture_output=True, text=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _least(runs: list[dict[str, float]]) -> dict[str, float]:
    return {key: min(run[key] for run in runs) for key in runs[0]}


def _one(name: str) -> dict[str, float]:
    import numpy as np

    import operad as od

    if name.startswith("author_"):
        sys.path.insert(0, str(Path(__file__).parent / "authors"))
        module = __import__(name.removeprefix("author_"))
        for value in vars(module).values():
            if getattr(value, "name", None) == name:
                od.registry.register(value)
    shapes, params = CASES[name]
    rng = np.random.default_rng(0)
    arrays = [od.nd.array(np.abs(rng.standard_normal(shape)).astype(np.float32) + 0.1) for shape in shapes]
    for array in arrays:
        array.attach_grad()
    od.waitall()
    times = []
    for _ in range(2):
        wall, cpu = time.perf_counter(), time.process_time()
        with od.autograd.record():
            found = getattr(od.nd, name)(*arrays, **params)
        (found[0] if isinstance(found, (list, tuple)) else found).backward()
        od.waitall()
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    return {"wall": times[0][0], "cpu": times[0][1], "second": times[1][0]}


if __name__ == "__main__":
    main()
