"""Everybody takes turns: one process per library, and only one of them works at a time.

Contestants are measured by rounds, and each round begins with another one, so that a slow spell of a shared
machine falls on all of them. A contestant is a library, or a library and a word for another way in which
it does the same work.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, final

from tests.benchmarks.figures import Figures, figures
from tests.benchmarks.load import own_s
from tests.benchmarks.rows import Row

ROOT: Final = Path(__file__).resolve().parents[2]
LOGS: Final = ROOT / "build" / "peers" / "logs"
ROUNDS: Final = 7
ROUND_S: Final = 0.04
LONG_S: Final = 0.25
ENOUGH: Final = 3
ROW_S: Final = 10.0
TOLERANCE: Final = 0.01
_LOOK_S: Final = 0.01
_PATIENCE_S: Final = 0.5

Contestant = tuple[str, str]
"""A library, and the word for its other way, or ''."""


class WorkerError(Exception):
    """A worker ended, or said what no worker says."""


@final
class Process:
    """A worker's process. Made to be used in a `with` statement.

    Args:
        library: Whose rows it does.
        python: The interpreter that has the library.
        threads: How many it may use.
    """

    def __init__(self, library: str, python: str, threads: int) -> None:
        self.library = library
        LOGS.mkdir(parents=True, exist_ok=True)
        self._log = LOGS / f"{library}-{threads}.log"
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [python, "-m", "tests.benchmarks.worker", library, str(threads)],
                cwd=ROOT, env=environment(os.environ, threads), text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    def ask(self, do: str, **words: Any) -> dict[str, Any]:
        """The answer to a request; see `tests.benchmarks.worker`.

        Raises:
            WorkerError: The process has ended.
        """
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"do": do, **words}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            ended = f"the worker of {self.library} ended with {process.wait()}"
            raise WorkerError(f"{ended} when asked to {do}; see {self._log}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def settle(self) -> None:
        """Wait until its threads have stopped spinning, as those of OpenMP do for a while."""
        until, before = time.monotonic() + _PATIENCE_S, own_s(self.pid)
        while time.monotonic() < until:
            time.sleep(_LOOK_S)
            now = own_s(self.pid)
            if now == before:
                return
            before = now

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


def environment(given: Mapping[str, str], threads: int) -> dict[str, str]:
    """The environment in which every library uses so many threads."""
    names = (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
        "OPERAD_NUM_THREADS", "NPROC",
    )  # fmt: skip
    flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    kept = {name: value for name, value in given.items() if name not in ("XLA_FLAGS", "PYTHONPATH")}
    return {
        **kept, **dict.fromkeys(names, str(threads)), "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu",
        "JAX_COMPILATION_CACHE_DIR": str(ROOT / "build" / "peers" / "jax-cache"),
        "MXNET_SUBGRAPH_VERBOSE": "0",
    }  # fmt: skip


@final
@dataclass(slots=True)
class Measured:
    """What was found out about a row.

    Attributes:
        rounds: By contestant: seconds of one operation, on the wall and of processors, of each round.
        values: By library, where nothing is timed.
        notes: By library: why there is no figure.
        checked: Libraries that agreed on the row's numbers with operad.
    """

    row: Row
    rounds: dict[Contestant, tuple[list[float], list[float]]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    checked: list[str] = field(default_factory=list)

    def figures(self) -> dict[Contestant, Figures]:
        """Of each contestant."""
        return {contestant: figures(*seconds) for contestant, seconds in self.rounds.items()}


def measure(row: Row, workers: Sequence[Any], rounds: int = ROUNDS, round_s: float = ROUND_S) -> Measured:
    """Time a row in all workers that have it, in turns.

    A library whose numbers differ from the first one's by more than a hundredth is not timed. A row that
    lasts longer than `ROW_S` seconds ends after `ENOUGH` rounds.
    """
    measured = Measured(row)
    prepared = dict(_prepared(measured, workers))
    repeats = {
        (worker.library, way): _repeats(worker, way, round_s)
        for worker in workers
        if worker.library in prepared
        for way in prepared[worker.library]["contestants"]
    }
    turns = [(worker, way) for worker in workers for lib, way in repeats if lib == worker.library]
    begun = time.monotonic()
    for number in range(rounds):
        if number >= ENOUGH and time.monotonic() - begun > ROW_S:
            break
        first = number % len(turns) if turns else 0
        for worker, way in turns[first:] + turns[:first]:
            contestant = (worker.library, way)
            spent = _run(worker, way, repeats[contestant])
            once = repeats[contestant] * prepared[worker.library]["operations"]
            wall, cpu = measured.rounds.setdefault(contestant, ([], []))
            wall.append(spent["wall"] / once)
            cpu.append(spent["cpu"] / once)
    for worker in workers:
        worker.ask("forget")
    return measured


def _prepared(measured: Measured, workers: Sequence[Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The answers of those that have the row's work ready, by library."""
    expected: dict[str, float] = {}
    for worker in workers:
        answer = worker.ask("prepare", row=measured.row.name)
        worker.settle()
        if "value" in answer:
            measured.values[worker.library] = answer["value"]
        elif "error" in answer:
            measured.notes[worker.library] = f"failed: {answer['error']}"
        elif "contestants" in answer:
            numbers = answer["check"]
            expected = expected or numbers
            wrong = disagreement(expected, numbers) if numbers else None
            if wrong:
                measured.notes[worker.library] = f"computes something else: {wrong}"
                continue
            if numbers:
                measured.checked.append(worker.library)
            yield worker.library, answer


def disagreement(expected: Mapping[str, float], found: Mapping[str, float]) -> str | None:
    """What differs between two libraries' numbers, or None.

    Small numbers are compared by the largest: a gradient that is zero but for rounding has no digits.
    """
    if expected.keys() != found.keys():
        return f"there are {sorted(found)}, expected {sorted(expected)}"
    floor = 1e-3 * max(map(abs, expected.values()), default=0.0)
    for name, value in expected.items():
        # Written so that NaN disagrees.
        if not abs(found[name] - value) <= TOLERANCE * max(abs(value), floor):
            return f"{name} is {found[name]:.6g}, expected {value:.6g}"
    return None


def _run(worker: Any, way: str, times: int) -> dict[str, float]:
    answer = worker.ask("run", contestant=way, times=times)
    if "error" in answer:
        raise WorkerError(f"{worker.library} {way}: {answer['error']}")
    worker.settle()
    return answer


def _repeats(worker: Any, way: str, round_s: float) -> int:
    """How often a round repeats the work so that it lasts long enough for the clock."""
    spent = _run(worker, way, 1)["wall"]  # the first run pays for compilation and caches
    if spent > LONG_S:
        return 1
    count = 1
    while (spent := _run(worker, way, count)["wall"]) < round_s:
        count = max(2 * count, int(count * round_s / max(spent, 1e-9)))
    return count
