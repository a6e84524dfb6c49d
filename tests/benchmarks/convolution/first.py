"""First calls of all layers in a process: `python -m tests.benchmarks.convolution.first` prints them as JSON.

Kernels are looked for, and kept, in OPERAD_CACHE_DIR.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import operad as od
from operad_sdk.vector.machine import statistics
from tests.benchmarks.convolution.layers import LAYERS, PASSES
from tests.benchmarks.driver import ROOT, environment
from tests.benchmarks.libraries import symbol_layers


def twice(threads: int) -> list[dict[str, Any]]:
    """Results of two processes: with an empty folder, and with what that left; and the folder's bytes."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        variables = {**environment(os.environ, threads), "OPERAD_CACHE_DIR": folder}
        for _ in range(2):
            command = [sys.executable, "-m", "tests.benchmarks.convolution.first"]
            done = subprocess.run(
                command, cwd=ROOT, env=variables, check=True, capture_output=True, text=True
            )
            found.append(json.loads(done.stdout))
            files = [path for path in Path(folder).rglob("*") if path.is_file()]
            found[-1] |= {"files": len(files), "bytes": sum(path.stat().st_size for path in files)}
    return found


def main() -> None:
    """Run each pass of each layer once, and again."""
    seconds = [0.0, 0.0]
    for layer in LAYERS:
        layer.arrays()  # random numbers take longer than anything else
        for of in PASSES:
            begin = time.perf_counter()
            run = symbol_layers.layer(od, tuple(layer), of).run
            run()
            middle = time.perf_counter()
            run()
            seconds[0] += middle - begin
            seconds[1] += time.perf_counter() - middle
    print(
        json.dumps(
            {
                "first": seconds[0],
                "then": seconds[1],
                "compiled": statistics.compiled,
                "loaded": statistics.loaded,
            }
        )
    )


if __name__ == "__main__":
    main()
