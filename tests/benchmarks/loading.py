"""Time reading records and images: `python -m tests.benchmarks.loading [--mxnet PYTHON] [--torch PYTHON]`.

Other libraries live in environments of their own, so every figure is of a process: `loading_worker.py`, run
by the Python that has the library, on the same files. Processes alternate, and each prints items per second
and per second of processor time; the latter is what stands on a machine that others use as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple, final

import numpy as np

import operad as od

HERE: Final = Path(__file__).resolve().parent
RECORDS: Final = {"1 KB": (1 << 10, 40_000), "100 KB": (100 << 10, 2_000)}
"""Bytes of a record, and how many there are."""
IMAGES: Final = 512


@final
class Task(NamedTuple):
    """Task of a worker: a kind, the files' prefix, and threads."""

    kind: str
    prefix: str
    threads: int
    name: str


def main() -> int:
    """Write files, measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.loading", description=main.__doc__)
    parser.add_argument("--mxnet", help="a Python that imports mxnet")
    parser.add_argument("--torch", help="a Python that imports torch and simplejpeg")
    parser.add_argument("--rounds", type=int, default=5, help="processes of each (default %(default)s)")
    arguments = parser.parse_args()
    pythons = {"operad": sys.executable, "mxnet": arguments.mxnet, "torch": arguments.torch}
    with tempfile.TemporaryDirectory() as folder:
        for task in _tasks(Path(folder)):
            sides = {name: python for name, python in pythons.items() if python}
            found: dict[str, list[dict[str, float]]] = {name: [] for name in sides}
            for _ in range(arguments.rounds):
                for name, python in sides.items():
                    found[name].append(_measured(python, name, task))
            for name, results in found.items():
                wall, cpu = (
                    statistics.median(r[key] for r in results) for key in ("per_second", "per_cpu_second")
                )
                print(f"{task.name:<40} {name:<8} {wall:>12,.0f} /s {cpu:>12,.0f} per CPU-second", flush=True)
    return 0


def _tasks(folder: Path) -> list[Task]:
    found = []
    for name, (size, count) in RECORDS.items():
        prefix = str(folder / name.replace(" ", ""))
        rng = np.random.default_rng(0)
        with od.recordio.MXIndexedRecordIO(f"{prefix}.idx", f"{prefix}.rec", "w") as out:
            for key in range(count):
                out.write_idx(key, rng.bytes(size))
        found += [
            Task("sequential", prefix, 1, f"records of {name}, in a row"),
            Task("indexed", prefix, 1, f"records of {name}, by key"),
        ]
    prefix = str(folder / "images")
    _write_images(prefix)
    found += [Task("images", prefix, threads, f"images, {threads} threads") for threads in (1, 2, 4)]
    return found


def _write_images(prefix: str) -> None:
    """Parts of 400x300 of scikit-learn's photographs, resized to 341x256; about 27 KB at quality 90."""
    spec = find_spec("sklearn")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "datasets" / "images"
    photographs = [
        od.image.codec.decode((folder / name).read_bytes()) for name in ("china.jpg", "flower.jpg")
    ]
    rng = np.random.default_rng(0)
    with od.recordio.MXIndexedRecordIO(f"{prefix}.idx", f"{prefix}.rec", "w") as out:
        for number in range(IMAGES):
            pixels = photographs[number % 2]
            top, left = rng.integers(0, 128), rng.integers(0, 241)
            part = od.image.imresize(pixels[top : top + 300, left : left + 400], 341, 256)
            header = od.recordio.IRHeader(0, number % 10, number, 0)
            out.write_idx(number, od.recordio.pack(header, od.image.codec.encode(part, quality=90)))


def _measured(python: str, library: str, task: Task) -> dict[str, Any]:
    command = [python, str(HERE / "loading_worker.py"), library, task.kind, task.prefix, str(task.threads)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


if __name__ == "__main__":
    sys.exit(main())
