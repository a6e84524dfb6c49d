"""The network of `examples/gpt.py` trained beside PyTorch and JAX: losses from one start, and memory.

    python -m tests.benchmarks.gpt [--steps N] [--threads N ...]

All libraries begin with the same weights and take the same batches, in a process of its own each. The tables
have the loss of the part of the text that training does not see, and the most memory that a process had
resident. Times are rows of `python -m tests.benchmarks --peers --rows gpt`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.benchmarks.driver import environment
from tests.benchmarks.environments import ENVIRONMENTS, FOLDER

WAYS: Final = {
    "operad, symbol": ("operad", "symbol"),
    "operad, compiled function": ("operad", "function"),
    "PyTorch": ("torch", "eager"),
    "torch.compile": ("torch", "compiled"),
    "JAX": ("jax", "compiled"),
}
"""By title: a library, and the way in which it trains."""
HELD_OUT: Final = 12
"""Batches of the part that training does not see."""
CLIP: Final = 1.0


def write_start(folder: Path, steps: int) -> None:
    """Write the weights and the batches that all libraries begin with."""
    from examples import gpt

    size, alphabet, seen, unseen = gpt.prepared(quick=False)
    arrays = {name: array.asnumpy() for name, array in gpt.first_parameters(len(alphabet), size).items()}
    for name, numbers, count in (("seen", seen, steps), ("unseen", unseen, HELD_OUT)):
        given = gpt.batches(numbers, size, shuffle=name == "seen")
        pairs = [
            [part[0].asnumpy().astype(np.int64) for part in (batch.data, batch.label)]
            for batch, _ in zip(given, range(count), strict=False)
        ]
        arrays[name] = np.array(pairs)
    np.savez(folder / "start.npz", **arrays)


def trained(library: str, way: str, folder: Path, steps: int) -> dict[str, Any]:
    """Losses of the steps and of the held-out part, and the most memory in MiB."""
    with np.load(folder / "start.npz") as found:
        arrays = dict(found)
    seen, unseen = arrays.pop("seen")[:steps], arrays.pop("unseen")
    module = importlib.import_module(f"tests.benchmarks.libraries.{library}_gpt")
    step, evaluate = module.training(way, arrays, CLIP)
    losses = [step(*pair) for pair in seen]
    # Before the held-out part, which trains nothing.
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"losses": losses, "held out": float(np.mean([evaluate(*p) for p in unseen])), "MiB": peak_mib}


def rows(steps: int, threads: int) -> dict[str, dict[str, Any]]:
    """Results of `trained`, by title."""
    pythons = {"operad": sys.executable}
    for one in ENVIRONMENTS:
        python = FOLDER / one.folder / "bin" / "python"
        pythons.update({library: str(python) for library in one.libraries if python.exists()})
    found: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        write_start(Path(folder), steps)
        for title, words in WAYS.items():
            if words[0] not in pythons:
                continue
            done = subprocess.run(
                [pythons[words[0]], "-m", "tests.benchmarks.gpt", "--one", *words, folder, str(steps)],
                check=False, capture_output=True, text=True, env=environment(os.environ, threads),
            )  # fmt: skip
            if done.returncode:
                print(f"{title}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
            else:
                found[title] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="*", default=[1])
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        library, way, folder, steps = options.one
        print(json.dumps(trained(library, way, Path(folder), int(steps))))
        return
    for threads in options.threads:
        print(f"\n{threads} thread(s), {options.steps} steps, load {os.getloadavg()[0]:.1f}\n")
        print("| | first loss | last loss | largest difference | held out | MiB resident |")
        print(f"|---|{'---|' * 5}")
        first: list[float] = []
        for title, found in rows(options.steps, threads).items():
            losses = found["losses"]
            first = first or losses
            apart = max(abs(a - b) for a, b in zip(losses, first, strict=True))
            cells = [f"{losses[0]:.4f}", f"{losses[-1]:.4f}", f"{apart:.1e}", f"{found['held out']:.4f}"]
            print(f"| {title} | {' | '.join(cells)} | {found['MiB']:.0f} |", flush=True)


if __name__ == "__main__":
    main()
