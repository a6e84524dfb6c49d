"""Binding here beside binding in another checkout: ratios of processor time, one thread, in turns.

    python -m tests.benchmarks.bind_pairs CHECKOUT [CASE ...] [--rounds N]

CHECKOUT has an environment of its own in `.venv`. A case runs in new processes, here and there in turns, and
each row has the median of the ratios of rounds, their least and largest. Kernels are on the disk: a first
round does not count. A *first* bind is a network's alone in its process; *a near size* and *a far size* are
batches that this process has not seen, larger by few rows and by half and more, the median of several, and
*with its step* adds the first forward and backward.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from tests.benchmarks.compiled import OperadLayers
from tests.benchmarks.libraries.symbols import Layers
from tests.benchmarks.networks import TASKS, Task, lstm_task, transformer

HERE: Final = Path(__file__).resolve().parents[2]
TASK: Final = {
    "mlp": TASKS["mlp 64-64"],
    "resnet20": TASKS["resnet20"],
    "lstm": lstm_task(10, 200, 32),
    "transformer": Task(transformer, {"data": (8 * 32, 64)}),
}
CASES: Final = ("a op b", "chain", *TASK)
NEAR: Final = (1, 2, 3, 4, 5, 6, 7)
"""Rows by which batches are larger; of a transformer, samples of 32 rows."""
FAR: Final = (16, 32, 64)
SMALL_GRAPHS: Final = 28


class _Layers(Layers):
    """Those of the benchmark, with a transformer's."""

    attention = OperadLayers.attention

    def layer_norm(self, data: Any, name: str, channels: int) -> Any:
        return self._sym.LayerNorm(data, *[self._parameter(f"{name}_{end}") for end in ("gamma", "beta")])


def _network(od: Any, case: str) -> tuple[Any, Callable[[int], dict[str, tuple[int, ...]]]]:
    """Symbol of a case, and the shapes of its inputs by the rows that are more than usual."""
    x = od.sym.var("x")
    if case == "chain":
        for i in range(1000):
            x = x + 1.0 if i % 2 else x * 0.5
        return x, lambda number: {"x": (16 + number, 16)}
    task = TASK[case]
    outputs = task.network(_Layers(od), **{name: od.sym.var(name) for name in task.shapes})
    step = 32 if case == "transformer" else 1
    return od.sym.Group(outputs), lambda number: {
        name: (shape[0] + step * number, *shape[1:]) for name, shape in task.shapes.items()
    }


def _milliseconds(function: Callable[[], object]) -> float:
    begun = time.process_time()
    function()
    return (time.process_time() - begun) * 1e3


def of_binary(od: Any) -> Iterator[tuple[str, float]]:
    """Small graphs of two arrays and one operator, each of a shape that was not seen."""
    a, b = od.sym.var("a"), od.sym.var("b")
    graphs = [a + b, a - b, a * b, a / b]
    ones = np.random.default_rng(0).integers(1, 30, (SMALL_GRAPHS, 3))
    for number, lengths in enumerate(np.unique(ones, axis=0)):
        shape = tuple(map(int, lengths))
        found: list[Any] = []

        def bind(number: int = number, shape: tuple[int, ...] = shape, found: list[Any] = found) -> None:
            found.append(
                graphs[number % len(graphs)].simple_bind(od.cpu(), grad_req="write", a=shape, b=shape)
            )

        def step(shape: tuple[int, ...] = shape, found: list[Any] = found) -> None:
            found[0].forward(is_train=True)
            found[0].backward(od.nd.ones(shape))
            od.nd.waitall()

        bound = _milliseconds(bind)
        yield "new shape", bound
        yield "new shape with its step", bound + _milliseconds(step)


def of_network(od: Any, case: str) -> Iterator[tuple[str, float]]:
    """A first bind, and binds of other sizes."""
    symbol, shapes = _network(od, case)
    for number in (0, *NEAR, *FAR):
        found: list[Any] = []
        given, what = (
            shapes(number),
            "a far size" if number in FAR else "a near size" if number else "first bind",
        )

        def bind(found: list[Any] = found, given: dict[str, tuple[int, ...]] = given) -> None:
            found.append(symbol.simple_bind(od.cpu(), grad_req="write", **given))

        def step(found: list[Any] = found) -> None:
            for array in found[0].arg_dict.values():
                array[:] = 0.5
            found[0].forward(is_train=True)
            found[0].backward([od.nd.ones(x.shape) for x in found[0].outputs])
            od.nd.waitall()

        bound = _milliseconds(bind)
        yield what, bound
        if number in (0, *NEAR[1:4]):  # more would take minutes
            yield f"{what} with its step", bound + _milliseconds(step)


def work(case: str) -> dict[str, float]:
    """Medians in this process, in milliseconds."""
    import operad as od

    od.nd.ones((2,)).wait_to_read()
    gc.collect()  # else garbage of imports is looked for in one first bind or the other
    rows: dict[str, list[float]] = {}
    for name, value in of_binary(od) if case == "a op b" else of_network(od, case):
        rows.setdefault(name, []).append(value)
    return {name: statistics.median(values) for name, values in rows.items()}


def asked(checkout: Path, case: str) -> dict[str, float]:
    """Figures of a new process with the packages of a checkout."""
    words = [
        str(checkout / ".venv" / "bin" / "python"),
        "-m",
        "tests.benchmarks.bind_pairs",
        "--worker",
        case,
    ]
    one = dict.fromkeys(("OPERAD_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    cache = HERE / "build" / "bind-pairs" / f"{zlib.crc32(str(checkout.resolve()).encode()):08x}"
    # Modules are compiled as installed ones are, whatever this environment says.
    env = {**os.environ, **one, "OPERAD_CACHE_DIR": str(cache), "PYTHONPYCACHEPREFIX": str(cache / "python")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(words, cwd=HERE, env=env, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path, nargs="?")
    parser.add_argument("cases", nargs="*", choices=[*CASES, []])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--worker", choices=CASES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(work(options.worker)))
        return
    if options.checkout is None:
        parser.error("name the checkout to compare with")
    print("| | there, ms | here, ms | ratio | of rounds |\n| --- | ---: | ---: | ---: | ---: |")
    for case in options.cases or CASES:
        rounds = [(asked(options.checkout, case), asked(HERE, case)) for _ in range(options.rounds + 1)][1:]
        for row in rounds[0][0]:
            there, here = ([one[side][row] for one in rounds] for side in (0, 1))
            ratios = [b / a for a, b in zip(there, here, strict=True)]
            print(
                f"| {case}: {row} | {statistics.median(there):.2f} | {statistics.median(here):.2f} "
                f"| {statistics.median(ratios):.2f} | {min(ratios):.2f} to {max(ratios):.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
