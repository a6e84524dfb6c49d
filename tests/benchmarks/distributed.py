"""Time `pushpull` of distributed stores: `python -m tests.benchmarks.distributed [--peers]`.

A column is a library and a store, with a number of workers on this machine, one thread each. All columns
of a number of workers run at once and take turns, so a slow spell of the machine falls on all of them; who
has no turn sleeps. What the workers do is in `distributed_worker.py`. The table has the median and the least
milliseconds of all rounds, as rank 0 sees them, and beside PyTorch the least over PyTorch's least.
`--json` keeps every round, for `tests.benchmarks.scaling`.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple, final

from tests.benchmarks import environments, load
from tests.benchmarks.distributed_worker import BARRIER, CASES, tell

HERE: Final = Path(__file__).resolve().parent
SCRIPTS: Final = Path(sys.executable).parent
LIMIT_S: Final = 900
OBJECT_STORE_MB: Final = 4000

Rounds = dict[tuple[str, int, str], dict[str, list[float]]]
"""By column, number of workers and case: milliseconds of each round, by what was measured."""


@final
class Column(NamedTuple):
    """One store or library that is measured beside others.

    Attributes:
        arguments: Of `distributed_worker.py`.
        start: Starter of the workers: `alone`, `mpirun`, `launch`, `dmlc` (MXNet's) or `gloo` (PyTorch's).
        options: Options of the starter.
    """

    arguments: tuple[str, ...]
    start: str
    options: tuple[str, ...] = ()


COLUMNS: Final = {
    "local": Column(("operad", "local"), "alone"),
    "mpi": Column(("operad", "dist_sync"), "mpirun"),
    "mpi, TCP": Column(("operad", "dist_sync"), "mpirun", ("--mca", "btl", "self,tcp")),
    "ray": Column(("operad", "dist_sync"), "launch"),
    "ray, SGD": Column(("operad", "dist_sync", "--update"), "launch"),
    "ray, asynchronous SGD": Column(("operad", "dist_async", "--update"), "launch"),
    "ray, bare": Column(("ray", "bare"), "launch"),
    "torch": Column(("torch", "gloo"), "gloo"),
    "mxnet": Column(("mxnet", "dist_sync"), "dmlc"),
}
BARE: Final = "ray, bare"
"""Times of Ray without a store."""
PEERS: Final = (BARE, "torch", "mxnet")
DEFAULT: Final = ("mpi", "ray")


def main() -> int:
    """Measure columns and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.distributed", description=main.__doc__)
    parser.add_argument("--columns", nargs="+", choices=sorted(COLUMNS), default=list(DEFAULT))
    parser.add_argument(
        "--peers",
        action="store_true",
        help="beside PyTorch's gloo, MXNet's ps-lite and an actor of Ray that does nothing",
    )
    parser.add_argument("--workers", nargs="+", type=int, default=[2], help="how many (default %(default)s)")
    names = [*CASES, BARRIER]
    parser.add_argument("--cases", nargs="+", choices=names, default=names, help="some of the cases")
    parser.add_argument("--rounds", type=int, default=15, help="turns of each column in each case")
    parser.add_argument("--in-a-row", type=int, default=1, help="rounds of a turn (default %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round to a file")
    options = parser.parse_args()
    columns = list(dict.fromkeys([*options.columns, *(PEERS if options.peers else ())]))
    cores = os.cpu_count() or 1
    rounds, begun, loads = no_rounds(), dt.datetime.now(tz=dt.UTC), [os.getloadavg()[0]]
    before = load.idle_load(cores)
    for workers in options.workers:
        measure(rounds, loads, columns, workers, options.cases, options.rounds, options.in_a_row)
    if options.json:
        options.json.write_text(record(rounds, begun, loads))
    after = load.idle_load(cores)
    print(f"load of the last minute: {min(loads):.1f} to {max(loads):.1f}")
    print(f"others' load per core before: {before or 0:.2f}, after: {after or 0:.2f}\n")
    print(table(rounds))
    return 0


def no_rounds() -> Rounds:
    """Empty lists of rounds, for a run that begins."""
    return defaultdict(lambda: defaultdict(list))


def measure(
    rounds: Rounds, loads: list[float], columns: Sequence[str], workers: int, cases: Sequence[str],
    count: int, in_a_row: int = 1,
) -> None:  # fmt: skip
    """Let columns with a number of workers take `count` turns in each case, and add what was measured.

    Args:
        rounds: Gets the rounds.
        loads: Gets the machine's load after each case.
        columns: Of `COLUMNS`.
        workers: How many each has.
        cases: Of `CASES`, or "barrier".
        count: See `take_turns`.
        in_a_row: Likewise.
    """
    pythons = environments.peers()[0] if set(columns) & set(PEERS) else {}
    with ExitStack() as stack:
        jobs = {
            name: stack.enter_context(
                Job(COLUMNS[name], workers if name != "local" else 1, pythons.get(name))
            )
            for name in columns
        }
        for case in cases:
            take_turns(rounds, jobs, case, count, in_a_row)
            loads.append(os.getloadavg()[0])


def take_turns(rounds: Rounds, jobs: Mapping[str, Job], case: str, count: int, in_a_row: int) -> None:
    """Let each job do a case `in_a_row` times, and that `count` times, each time another one first."""
    names = list(jobs)
    for job in jobs.values():
        job.do(case, 1)  # keys, and what pays for first times
    for number in range(count):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            for what, ms in jobs[name].do(case, in_a_row).items():
                rounds[name, jobs[name].workers, case][what] += ms


@final
class Job:
    """The workers of a column, which wait for orders. Made to be used in a `with` statement.

    Args:
        column: What runs.
        workers: How many.
        python: Of a peer.
    """

    def __init__(self, column: Column, workers: int, python: str | None) -> None:
        self.workers = workers
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=workers)
        self._listener.settimeout(LIMIT_S)
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by `__exit__`
        self._processes = [
            subprocess.Popen(command, env=env, stdout=self._log, stderr=self._log, stdin=subprocess.DEVNULL)
            for command, env in _commands(column, workers, python, str(self._listener.getsockname()[1]))
        ]
        self._streams: dict[int, Any] = {}

    def __enter__(self) -> Job:
        try:
            while len(self._streams) < self.workers:
                connection, _ = self._listener.accept()
                connection.settimeout(LIMIT_S)
                stream = connection.makefile("rw")
                connection.close()  # the stream has it
                self._streams[json.loads(stream.readline())["rank"]] = stream
        except BaseException:
            self._end()
            raise
        return self

    def do(self, case: str, count: int) -> dict[str, list[float]]:
        """Rounds of a case; milliseconds of each, by what was measured, as rank 0 has them.

        Raises:
            RuntimeError: A worker failed.
        """
        for stream in self._streams.values():
            tell(stream, {"case": case, "rounds": count})
        lines = {rank: stream.readline() for rank, stream in self._streams.items()}
        if not all(lines.values()):
            self._log.seek(0)
            raise RuntimeError(f"a worker failed in case {case!r}; its job said:\n{self._log.read()}")
        found: dict[str, list[float]] = json.loads(lines[0])
        return found

    def __exit__(self, *_: object) -> None:
        for stream in self._streams.values():
            stream.close()  # which ends the worker
        self._end()

    def _end(self) -> None:
        for process in reversed(self._processes):  # workers before the servers that they end
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()
        self._listener.close()
        self._log.close()


def _commands(
    column: Column, workers: int, python: str | None, port: str
) -> list[tuple[list[str], dict[str, str]]]:
    """Commands that start the workers of a column, with their variables; the last one ends first."""
    program = [str(HERE / "distributed_worker.py"), *column.arguments]
    environ = {name: value for name, value in os.environ.items() if name != "PORT"}
    environ |= {"OPERAD_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environ["OPERAD_KV_SILENCE_S"] = str(LIMIT_S)  # a busy machine is slow, not dead
    environ["RAY_worker_niceness"] = "0"  # as all other processes here; Ray's own is 15
    environ["BENCHMARK_PORT"] = port
    match column.start:
        case "dmlc":
            assert python is not None
            return [([python, *program], {**environ, **one}) for one in _of_dmlc(workers)]
        case "gloo":
            assert python is not None
            return [([python, *program], {**environ, **one}) for one in _of_gloo(workers)]
        case "mpirun":
            # Not from another MPI that stands earlier in the path.
            mpirun = [str(SCRIPTS / "mpirun"), "--allow-run-as-root", "--oversubscribe", *column.options]
            return [([*mpirun, "-n", str(workers), sys.executable, *program], environ)]
        case "launch":
            launch = [str(SCRIPTS / "operad"), "launch", "--object-store-mb", str(OBJECT_STORE_MB)]
            return [([*launch, *column.options, "-n", str(workers), *program], environ)]
        case _:
            return [([sys.executable, *program], environ)]


def table(rounds: Rounds) -> str:
    """Median (least) milliseconds, and the least over PyTorch's, as Markdown: one line per case."""
    columns = list(dict.fromkeys((name, workers) for name, workers, _ in rounds))
    cases = list(dict.fromkeys(case for *_, case in rounds))
    compared = [column for column in columns if ("torch", column[1]) in columns and column[0] != "torch"]
    head = [f"{name}, {workers}" for name, workers in columns]
    head += [f"{name} / torch, {workers}" for name, workers in compared]
    lines = [_line(["ms: median (least)", *head]), _line(["---"] * (len(head) + 1))]
    for case in cases:
        of_case = {column: rounds.get((*column, case), {}).get("ms", []) for column in columns}
        figures = [_figures(of_case[column]) for column in columns]
        figures += [f"{min(of_case[one]) / min(of_case['torch', one[1]]):.2f}" for one in compared]
        lines.append(_line([case, *figures]))
    return "\n".join(lines)


def record(rounds: Rounds, begun: dt.datetime, loads: Sequence[float]) -> str:
    """All that was measured as JSON, a line for each case."""
    about = {
        "date": begun.date().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.machine()}",
        "cores": os.cpu_count(),
        "load": [round(min(loads), 1), round(max(loads), 1)],
    }
    of_cases = [
        {"column": name, "workers": workers, "case": case}
        | {what: [round(one, 3) for one in ms] for what, ms in of_case.items()}
        for (name, workers, case), of_case in rounds.items()
    ]
    lines = ",\n  ".join(map(json.dumps, of_cases))
    return f'{json.dumps(about)[:-1]}, "rounds": [\n  {lines}\n]}}\n'


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _figures(ms: Sequence[float]) -> str:
    return f"{_rounded(statistics.median(ms))} ({_rounded(min(ms))})"


def _rounded(ms: float) -> str:
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"


def _of_dmlc(workers: int) -> list[dict[str, str]]:
    """The variables of MXNet's scheduler, server and workers, as its own launcher has them."""
    shared = {
        "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_NODE_HOST": "127.0.0.1", "DMLC_PS_ROOT_PORT": _free_port(),
        "DMLC_NUM_WORKER": str(workers), "DMLC_NUM_SERVER": "1",
    }  # fmt: skip
    return [{**shared, "DMLC_ROLE": role} for role in ["scheduler", "server", *["worker"] * workers]]


def _of_gloo(workers: int) -> list[dict[str, str]]:
    """The variables of PyTorch's workers, which meet as `torchrun` has it."""
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port(), "WORLD_SIZE": str(workers)}
    return [{**shared, "RANK": str(rank)} for rank in range(workers)]


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())
