"""Libraries take turns: one process per library, and only one of them works at a time.

Contestants are measured by rounds, and each round begins with another one, so that a slow spell of a shared
machine falls on all of them. A contestant is a library, or a library and a word for another way in which
it does the same work.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
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
    """Measurements of one row.

    Attributes:
        rounds: By contestant: seconds of one operation, on the wall and of processors, of each round.
        values: By library, where nothing is timed.
        notes: By library: why there is no figure.
        checked: Libraries that agreed on the row's numbers with operad.
        shares: Of each operator in operad's time, largest first, as its profiler tells.
    """

    row: Row
    rounds: dict[Contestant, tuple[list[float], list[float]]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    checked: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)

    def figures(self) -> dict[Contestant, Figures]:
        """Of each contestant."""
        return {contestant: figures(*seconds) for contestant, seconds in self.rounds.items()}


def measure(row: Row, workers: Sequence[Any], rounds: int = ROUNDS, round_s: float = ROUND_S) -> Measured:
    """Time a row in all workers that have it, alternately.

    A library whose numbers differ from the first one's by more than a hundredth is not timed, and one that
    fails goes on with the next row. A row that lasts longer than `ROW_S` seconds ends after `ENOUGH` rounds.
    """
    measured = Measured(row)
    prepared = dict(_prepared(measured, workers))
    turns = [_Turn(worker, way, answer["operations"]) for worker, answer in prepared.values()
             for way in answer["contestants"]]  # fmt: skip
    for turn in turns:
        _guarded(measured, turn, lambda turn=turn: turn.calibrate(round_s))
    begun = time.monotonic()
    for number in range(rounds):
        if number >= ENOUGH and time.monotonic() - begun > ROW_S:
            break
        first = number % len(turns) if turns else 0
        for turn in turns[first:] + turns[:first]:
            _guarded(measured, turn, lambda turn=turn: turn.take(measured))
    for turn in turns:
        if (turn.library, turn.way) == ("operad", ""):
            _guarded(measured, turn, lambda turn=turn: turn.profile(measured))
    for worker in workers:
        with suppress(WorkerError):
            worker.ask("forget")
    return measured


def _guarded(measured: Measured, turn: _Turn, do: Callable[[], None]) -> None:
    """Run a function, unless the library has failed before; a failure is noted and drops its rounds."""
    if turn.library in measured.notes:
        return
    try:
        do()
    except WorkerError as error:
        measured.notes[turn.library] = f"failed: {error}"
        for contestant in [one for one in measured.rounds if one[0] == turn.library]:
            del measured.rounds[contestant]


@final
class _Turn:
    """A contestant in the rounds of a row.

    Args:
        worker: Who does the work.
        way: In which way, or ''.
        operations: That the work has each time.
    """

    def __init__(self, worker: Any, way: str, operations: int) -> None:
        self.library: str = worker.library
        self.way = way
        self._worker, self._operations = worker, operations
        self._times = 1

    def calibrate(self, round_s: float) -> None:
        """Find how often a round repeats the work so that it lasts long enough for the clock."""
        # The first run pays for compilation and caches, so it does not say that the work is long.
        if self._run()["wall"] > LONG_S and self._run()["wall"] > LONG_S:
            return
        while (spent := self._run()["wall"]) < round_s:
            self._times = max(2 * self._times, int(self._times * round_s / max(spent, 1e-9)))

    def take(self, measured: Measured) -> None:
        """Run for a round, and note the seconds of one operation."""
        spent, operations = self._run(), self._times * self._operations
        wall, cpu = measured.rounds.setdefault((self.library, self.way), ([], []))
        wall.append(spent["wall"] / operations)
        cpu.append(spent["cpu"] / operations)

    def profile(self, measured: Measured) -> None:
        """Run for a round under the profiler."""
        answer = self._worker.ask("profile", times=self._times)
        if "error" in answer:
            raise WorkerError(answer["error"])
        measured.shares = answer["shares"]

    def _run(self) -> dict[str, float]:
        answer = self._worker.ask("run", contestant=self.way, times=self._times)
        if "error" in answer:
            raise WorkerError(answer["error"])
        self._worker.settle()
        found: dict[str, float] = answer
        return found


def _prepared(measured: Measured, workers: Sequence[Any]) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Those that have the row's work ready, with their answers, by library."""
    expected: dict[str, float] = {}
    for worker in workers:
        try:
            answer = worker.ask("prepare", row=measured.row.name)
        except WorkerError as error:
            answer = {"error": str(error)}
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
            yield worker.library, (worker, answer)


def disagreement(expected: Mapping[str, float], found: Mapping[str, float]) -> str | None:
    """Difference between two libraries' numbers, in words, or None.

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
