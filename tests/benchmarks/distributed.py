"""Time `pushpull` of distributed stores: `python -m tests.benchmarks.distributed [--mxnet P] [--torch P]`.

A column is a library and a store, with a number of workers on this machine, one thread each. Columns
alternate within each repeat, so a slow spell of the machine falls on all of them. What the workers do is
in `distributed_worker.py`; the table has the median and the least milliseconds of all rounds, as rank 0
sees them. `--json` keeps every round, for `tests.benchmarks.scaling`.
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
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, final

HERE: Final = Path(__file__).resolve().parent
SCRIPTS: Final = Path(sys.executable).parent
LIMIT_S: Final = 900
OBJECT_STORE_MB: Final = 4000

Rounds = dict[tuple[str, int, str], dict[str, list[float]]]
"""By column, number of workers and case: milliseconds of each round, by what was measured."""


@final
class Column(NamedTuple):
    """What is measured beside others.

    Attributes:
        arguments: Of `distributed_worker.py`.
        start: What starts the workers: `alone`, `mpirun`, `launch`, `dmlc` (MXNet's) or `gloo` (PyTorch's).
        options: Of what starts them.
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
    "mxnet": Column(("mxnet", "dist_sync"), "dmlc"),
    "torch": Column(("torch", "gloo"), "gloo"),
}
PEERS: Final = ("mxnet", "torch")
DEFAULT: Final = ("local", "mpi", "ray")


def main() -> int:
    """Measure columns and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.distributed", description=main.__doc__)
    parser.add_argument("--columns", nargs="+", choices=sorted(COLUMNS), default=list(DEFAULT))
    parser.add_argument("--workers", nargs="+", type=int, default=[2], help="how many (default %(default)s)")
    parser.add_argument("--cases", nargs="+", default=[], help="some of the cases")
    parser.add_argument("--repeats", type=int, default=2, help="processes of each (default %(default)s)")
    for peer in PEERS:
        parser.add_argument(
            f"--{peer}", metavar="PYTHON", help=f"a Python that imports {peer}, for a column of it"
        )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every round to a file")
    options = parser.parse_args()
    pythons = {peer: getattr(options, peer) for peer in PEERS}
    names = list(dict.fromkeys([*options.columns, *(peer for peer in PEERS if pythons[peer])]))
    for peer in PEERS:
        if peer in names and not pythons[peer]:
            parser.error(f"the column {peer!r} needs --{peer} PYTHON")
    runs = [(name, n) for n in options.workers for name in names if name != "local"]
    if "local" in names:
        runs.insert(0, ("local", 1))
    rounds: Rounds = defaultdict(lambda: defaultdict(list))
    begun, loads = dt.datetime.now(tz=dt.UTC), []
    for name, workers in runs * options.repeats:
        loads.append(os.getloadavg()[0])
        for line in measured(COLUMNS[name], workers, options.cases, pythons.get(name)):
            for what in line.keys() - {"case"}:
                rounds[name, workers, line["case"]][what] += line[what]
        if options.json:  # what is measured stays, whatever the next run does
            options.json.write_text(record(rounds, begun, loads))
    print(f"load of the last minute before each column: {min(loads):.1f} to {max(loads):.1f}")
    print(table(rounds))
    return 0


def measured(column: Column, workers: int, cases: Sequence[str], python: str | None) -> list[dict[str, Any]]:
    """What `distributed_worker.py` prints of each case, in one run of all its workers.

    Raises:
        CalledProcessError: The run failed; its output has been shown.
    """
    program = [str(HERE / "distributed_worker.py"), *column.arguments]
    if cases:
        program += ["--cases", *cases]
    environ = {name: value for name, value in os.environ.items() if name != "PORT"}
    environ |= {"OPERAD_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environ["OPERAD_KV_SILENCE_S"] = str(LIMIT_S)  # a busy machine is slow, not dead
    environ["RAY_worker_niceness"] = "0"  # as all other processes here; Ray's own is 15
    match column.start:
        case "dmlc":
            assert python is not None
            output = _of_dmlc([python, *program], workers, environ)
        case "gloo":
            assert python is not None
            output = _of_gloo([python, *program], workers, environ)
        case "mpirun":
            # Not from another MPI that stands earlier in the path.
            mpirun = [str(SCRIPTS / "mpirun"), "--allow-run-as-root", "--oversubscribe", *column.options]
            output = _output([*mpirun, "-n", str(workers), sys.executable, *program], environ)
        case "launch":
            launch = [str(SCRIPTS / "operad"), "launch", "--object-store-mb", str(OBJECT_STORE_MB)]
            output = _output([*launch, *column.options, "-n", str(workers), *program], environ)
        case _:
            output = _output([sys.executable, *program], environ)
    # `operad launch` puts a rank in front of each line.
    return [json.loads(line[line.index("{") :]) for line in output.splitlines() if '{"case"' in line]


def table(rounds: Rounds) -> str:
    """Median and least milliseconds: a line for each case, a column for each store and number of workers."""
    columns = list(dict.fromkeys((name, workers) for name, workers, _ in rounds))
    cases = list(dict.fromkeys(case for *_, case in rounds))
    head = [f"{name}, {workers}" if workers > 1 else name for name, workers in columns]
    lines = [_line("ms: median (least)", head)]
    lines += [
        _line(case, [_figures(rounds.get((*column, case), {}).get("ms")) for column in columns])
        for case in cases
    ]
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


def _line(first: str, others: Iterable[str]) -> str:
    return f"{first:<24}" + "".join(f"{other:>24}" for other in others)


def _figures(ms: Sequence[float] | None) -> str:
    if not ms:
        return "-"
    return f"{_rounded(statistics.median(ms))} ({_rounded(min(ms))})"


def _rounded(ms: float) -> str:
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"


def _output(command: Sequence[str], environ: Mapping[str, str]) -> str:
    done = subprocess.run(command, env=environ, text=True, capture_output=True, timeout=LIMIT_S, check=False)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()
    return done.stdout


def _of_dmlc(command: Sequence[str], workers: int, environ: Mapping[str, str]) -> str:
    """What MXNet's workers print; a scheduler, a server and the workers start as its own launcher has it."""
    shared = {
        **environ, "DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_NODE_HOST": "127.0.0.1",
        "DMLC_PS_ROOT_PORT": _free_port(), "DMLC_NUM_WORKER": str(workers), "DMLC_NUM_SERVER": "1",
    }  # fmt: skip
    roles = ["scheduler", "server", *["worker"] * workers]
    return _of_all(command, [{**shared, "DMLC_ROLE": role} for role in roles])


def _of_gloo(command: Sequence[str], workers: int, environ: Mapping[str, str]) -> str:
    """What PyTorch's workers print, which meet as `torchrun` has it."""
    shared = {
        **environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port(), "WORLD_SIZE": str(workers),
    }  # fmt: skip
    return _of_all(command, [{**shared, "RANK": str(rank)} for rank in range(workers)])


def _free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def _of_all(command: Sequence[str], environments: Sequence[Mapping[str, str]]) -> str:
    """What processes of one command print; those that end last are started first."""
    started = [subprocess.Popen(command, env=env, text=True, stdout=subprocess.PIPE) for env in environments]
    end = time.monotonic() + LIMIT_S
    try:
        outputs = [process.communicate(timeout=end - time.monotonic())[0] for process in reversed(started)]
    finally:
        for process in started:
            process.kill()
    for process in started:
        if process.wait():
            raise subprocess.CalledProcessError(process.returncode, list(command))
    return "".join(outputs)


if __name__ == "__main__":
    sys.exit(main())
