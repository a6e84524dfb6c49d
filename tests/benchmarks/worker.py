"""A process that does rows for one library: `python -m tests.benchmarks.worker LIBRARY THREADS`.

A line of JSON on standard input is a request, a line on standard output its answer. What else the library
prints goes to standard error. `about` names versions. `prepare` makes a row's work, and its answer has the
contestants with their operations, and the numbers that all libraries must agree on; or the value of a row
where nothing is timed; or `absent`. `profile` does the work under operad's profiler and answers the share of
each operator. `run` does a contestant's work so many times and answers seconds on the
wall and seconds of processors, of all threads and ended children. `forget` lets the work go.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, TextIO

from tests.benchmarks import rows
from tests.benchmarks.convolution import layers
from tests.benchmarks.work import AbsentError, Fact, Work

LIBRARIES = {
    "operad": ("symbols", "arrays", "symbol_layers", "operad_rows", "operad_gpt"),
    "standard": ("symbols", "arrays", "symbol_layers", "operad_rows", "operad_gpt"),
    "mxnet": ("symbols", "arrays", "symbol_layers"),
    "torch": ("torch_rows", "torch_layers", "torch_authors", "torch_gpt"),
    "jax": ("jax_rows", "jax_gpt"),
}

BY_NAME = {row.name: row for row in [*rows.ROWS, *layers.rows()]}


class Worker:
    """Answers requests about the rows of one library.

    Args:
        name: What the library is called.
        version: Its version.
        makers: What makes the work of rows.
    """

    def __init__(self, name: str, version: str, makers: dict[str, Callable[..., Any]]) -> None:
        self._name, self._version, self._makers = name, version, makers
        self._runs: dict[str, Callable[[], object]] = {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; a failure of the library is one, too."""
        words = dict(request)
        try:
            return getattr(self, f"_{words.pop('do')}")(**words)
        except Exception as error:  # noqa: BLE001 - whatever a library raises is an answer
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {str(error)[:300]}"}

    def _about(self) -> dict[str, Any]:
        return {"library": self._name, "version": self._version, "python": platform.python_version()}

    def _prepare(self, row: str) -> dict[str, Any]:
        chosen = BY_NAME[row]
        if chosen.maker not in self._makers:
            return {"absent": True}
        try:
            made = self._makers[chosen.maker](**chosen.options)
        except AbsentError:
            return {"absent": True}
        if isinstance(made, Fact):
            return {"value": made.value}
        assert isinstance(made, Work), made
        # The library's own way has no name, others have one.
        self._runs = {"": made.run, **made.beside}
        checked = made.check() if made.check else {}
        return {"contestants": list(self._runs), "operations": made.operations, "check": checked}

    def _run(self, contestant: str, times: int) -> dict[str, Any]:
        run = self._runs[contestant]
        gc.disable()
        try:
            wall, cpu = time.perf_counter(), processor_seconds()
            for _ in range(times):
                run()
            return {"wall": time.perf_counter() - wall, "cpu": processor_seconds() - cpu}
        finally:
            gc.enable()

    def _profile(self, times: int) -> dict[str, Any]:
        if self._name != "operad":
            return {"absent": True}
        profiler = importlib.import_module("operad").profiler
        run = self._runs[""]
        profiler.set_config(aggregate_stats=True)
        profiler.start()
        for _ in range(times):
            run()
        profiler.stop()
        return {"shares": shares(json.loads(profiler.dumps(reset=True, format="json")))}

    def _forget(self) -> dict[str, Any]:
        self._runs = {}
        gc.collect()
        return {}


def shares(profile: dict[str, Any]) -> dict[str, float]:
    """The share of each operator and pass in the time of all threads that ran something, largest first."""
    threads = profile["Threads"]
    found: dict[str, float] = {}
    for row in profile["Nodes"]:
        name = f"{row['Operator']} {row['Pass'] or ''}".strip()
        found[name] = found.get(name, 0.0) + sum(row["Shares"])
    for name, title in (("Outside nodes", "between nodes"), ("Idle", "outside operations")):
        found[title] = sum(thread[name] / thread["Window"] for thread in threads if thread["Window"])
    largest = sorted(found.items(), key=lambda pair: -pair[1])
    return {name: share / len(threads) for name, share in largest} if threads else {}


def processor_seconds() -> float:
    """Of all threads of this process, and of its children that have ended."""
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def serve(worker: Worker, requests: TextIO, answers: TextIO) -> None:
    """Answer until there are no more requests."""
    for line in requests:
        answers.write(json.dumps(worker.answer(json.loads(line))) + "\n")
        answers.flush()


def load(name: str, threads: int) -> Worker:
    """The worker for a library that this interpreter has."""
    if name == "standard":
        sys.modules["numba"] = None  # type: ignore[assignment]  # as if it were not installed
    library = importlib.import_module("operad" if name == "standard" else name)
    if name == "torch":
        library.set_num_threads(threads)
    makers: dict[str, Callable[..., Any]] = {}
    for module in LIBRARIES[name]:
        makers.update(importlib.import_module(f"tests.benchmarks.libraries.{module}").makers(library))
    return Worker(name, library.__version__, makers)


def main() -> None:
    """Serve on standard input and output."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed
    serve(load(sys.argv[1], int(sys.argv[2])), sys.stdin, answers)


if __name__ == "__main__":
    main()
