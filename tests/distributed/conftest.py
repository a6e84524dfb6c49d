"""Real workers under the engines that are installed: Ray by `operad launch`, MPI by `mpirun`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, final

import pytest

PROGRAMS = Path(__file__).parent / "programs"
ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent
LIMIT_S = 400
"""For one program. Where the machine is idle one takes some seconds; Ray starts many processes."""

collect_ignore_glob = ["programs/*.py"]  # they run in workers


@final
class Ended(NamedTuple):
    """How a program of several workers ended.

    Attributes:
        code: The exit code of what started the workers.
        output: What all wrote.
    """

    code: int
    output: str

    def lines(self, word: str) -> list[str]:
        """The lines with a word in them."""
        return [line for line in self.output.splitlines() if word in line]


Run = Callable[..., Ended]


def _environment(extra: dict[str, str]) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("OPERAD_KV_")}
    return {**inherited, "OPERAD_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), **extra}


def _ended(command: list[Any], environ: dict[str, str]) -> Ended:
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, errors="replace", timeout=LIMIT_S, check=False
    )
    return Ended(done.returncode, done.stdout + done.stderr)


@pytest.fixture(scope="session")
def cluster() -> Iterator[dict[str, str]]:
    """The variables of a running Ray; it is started for the tests unless `RAY_ADDRESS` names one."""
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed")
    with running_cluster() as variables:
        yield variables


@contextmanager
def running_cluster() -> Iterator[dict[str, str]]:
    """See `cluster`."""
    if "RAY_ADDRESS" in os.environ:
        yield {}
        return
    command = [sys.executable, PROGRAMS / "cluster.py"]
    with subprocess.Popen(
        command,
        env=_environment({}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        variables = json.loads(started.stdout.readline() or b"null")
        assert variables, "Ray did not start within its 30 s, three times: is the machine that busy?"
        yield variables
        started.stdin.close()
        started.wait(60)


def ray_command(workers: int, program: str, *words: str, options: tuple[str, ...] = ()) -> list[Any]:
    """The command that runs a program under Ray."""
    return [SCRIPTS / "operad", "launch", "-n", str(workers), *options, PROGRAMS / f"{program}.py", *words]


def mpi_command(workers: int, program: str, *words: str, options: tuple[str, ...] = ()) -> list[Any]:
    """The command that runs a program under MPI."""
    allowed = ["--allow-run-as-root", "--oversubscribe"]
    python = [sys.executable, PROGRAMS / f"{program}.py"]
    return [SCRIPTS / "mpirun", *allowed, *options, "-n", str(workers), *python, *words]


def restarted_mpi_command(workers: int, program: str, *words: str, restarts: int = 2) -> list[Any]:
    """The command that runs a program under MPI, and starts it again so often."""
    options = ["--restart", str(restarts), "--mpi", "--allow-run-as-root", "--mpi", "--oversubscribe"]
    return [SCRIPTS / "operad", "mpirun", "-n", str(workers), *options, PROGRAMS / f"{program}.py", *words]


@pytest.fixture
def run_ray(cluster: dict[str, str]) -> Run:
    """Runs (workers, program, words) to the end under Ray."""

    def run(workers: int, program: str, *words: str, options: tuple[str, ...] = (), **extra: str) -> Ended:
        usual = () if "--grace" in options else ("--grace", "20")
        command = ray_command(workers, program, *words, options=(*usual, *options))
        return _ended(command, _environment(cluster | extra))

    return run


def interrupted_after(
    command: list[Any], environ: dict[str, str], word: str, number: int = signal.SIGINT
) -> int:
    """The exit code of a program that ends after a signal, with a worker that would go on for ten minutes.

    Args:
        command: What starts the workers.
        environ: Their variables.
        word: Comes in the line of output after which the signal is sent, before the number of a process that
            must have ended as well.
        number: The signal.
    """
    # What a shell runs in the background ignores Ctrl-C, and so do its children, unless somebody listens.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = subprocess.Popen(
        command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    signal.signal(signal.SIGINT, before)
    try:
        assert started.stdout is not None
        found = next(filter(None, (re.search(rf"{word} (\d+)$", line) for line in started.stdout)))
        worker = int(found[1])
        end = time.monotonic() + LIMIT_S / 2
        os.kill(started.pid, number)
        started.communicate(timeout=LIMIT_S / 2)
        while _is_running(worker):
            assert time.monotonic() < end, f"process {worker} outlasts its launcher"
            time.sleep(0.05)
        return started.returncode
    finally:
        with started:  # which closes its output and waits for its end
            started.kill()


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()


@pytest.fixture
def run_mpi() -> Run:
    """Runs (workers, program, words) to the end under MPI."""
    if find_spec("mpi4py") is None or not (SCRIPTS / "mpirun").exists():
        pytest.skip("mpi4py and an MPI with mpirun are not installed")

    def run(workers: int, program: str, *words: str, options: tuple[str, ...] = (), **extra: str) -> Ended:
        return _ended(mpi_command(workers, program, *words, options=options), _environment(extra))

    return run
