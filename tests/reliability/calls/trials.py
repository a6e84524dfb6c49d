"""A fault at the n-th call of a whole program, in a process of its own; see `failing` and `programs`.

    python -m tests.reliability.calls.trials PROGRAM FOLDER [SEED COUNT [strace]]

Runs the program without a fault, which says how many calls there are, and then forks a process for each call
and each kind of failure, or for COUNT of them that a seed draws. Prints a line of JSON for each that is a
fault of operad: the call that failed, the verdict and its reason; and at last the sums.

*same*: the outcome of the run without a fault. *named*: an `OperadError` came out, and after it the program,
run again in the folder as it is, has the same outcome. All else is a fault of operad: *bare*, *other bits*,
*hang*, *crash*, *spoilt*, *torn file*.

With `strace` the calls are those of the C library, of every thread for itself, and `strace` has them fail.
"""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Final

import operad as od
from tests.reliability.calls.failing import Calls
from tests.reliability.calls.programs import PROGRAMS

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EINTR, errno.ECONNRESET)
LONGEST_S: Final = 100
TRACED: Final = (
    "accept4", "connect", "fstat", "fsync", "ftruncate", "getdents64", "lseek", "mkdir", "newfstatat",
    "openat", "pread64", "read", "recvfrom", "rename", "sendto", "setsockopt", "socket", "unlink", "write",
)  # fmt: skip


def outcome(name: str, folder: Path, calls: Calls) -> tuple[str, str]:
    """Verdict of one run with calls that may fail, and what was seen."""
    run = PROGRAMS[name][1]
    try:
        with calls.watched():
            found = run(folder)
    except od.OperadError as error:
        return "named", f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - is a verdict
        return "bare", traceback.format_exc(limit=-6)
    return "ended", found


def is_whole(folder: Path) -> bool:
    """Return whether all lines of logs and all profiles in a folder are."""
    for path in folder.glob("*.json*"):
        for text in path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
            try:
                json.loads(text)
            except ValueError:
                return False
    return True


def trial(name: str, folder: Path, number: int, error: int, right: str) -> tuple[str, str, str]:
    """The call that failed, the verdict and its reason."""
    calls = Calls(number, error)
    verdict, seen = outcome(name, folder, calls)
    if verdict == "ended":
        return calls.failed, "same" if seen == right else "other bits", seen
    if verdict == "named":
        again, found = outcome(name, folder, Calls())
        if (again, found) != ("ended", right):
            return calls.failed, "spoilt", f"{seen}; then {again}: {found}"
    return calls.failed, verdict, seen


def in_a_child(name: str, prepared: Path, number: int, error: int, right: str) -> tuple[str, str, str]:
    """As `trial`, in a fork of this process, with a time limit."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(shutil.copytree(prepared, Path(above, "folder")))
        found = forked(lambda: trial(name, folder, number, error, right), Path(above, "said"))
        return found if is_whole(folder) else (found[0], "torn file", found[2])


def forked(
    work: Callable[[], tuple[str, str, str]], said: Path, tracer: Sequence[str] = ()
) -> tuple[str, str, str]:
    """What `work` gives in a fork of this process, within a time limit.

    Args:
        said: A file for what the fork says.
        tracer: A command that follows the fork's calls, but for the number of the process.
    """
    if not (child := os.fork()):
        signal.alarm(LONGEST_S)
        if tracer:
            os.kill(os.getpid(), signal.SIGSTOP)
        found = work()
        for _ in range(3):  # a call of this, too, may be the one that fails
            with suppress(OSError):
                said.write_text(json.dumps(found))
                break
        os._exit(0)
    follower = None
    if tracer:
        os.waitpid(child, os.WUNTRACED)
        follower = subprocess.Popen([*tracer, "-p", str(child)], stderr=subprocess.DEVNULL)
        while "TracerPid:\t0\n" in Path(f"/proc/{child}/status").read_text():
            assert follower.poll() is None, "strace cannot follow a process here"
            time.sleep(0.002)
        os.kill(child, signal.SIGCONT)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if follower is not None:
        follower.wait()
    if status:
        return "", "hang" if status == -signal.SIGALRM else "crash", f"exit code {status}"
    failed, verdict, why = json.loads(said.read_text())
    return failed, verdict, why


def under_strace(
    name: str, prepared: Path, call: str, number: int, error: int, right: str
) -> tuple[str, str, str]:
    """As `in_a_child`, where the n-th such call of each thread fails."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(shutil.copytree(prepared, Path(above, "folder")))
        inject = f"inject={call}:error={errno.errorcode[error]}:when={number}"
        tracer = ("strace", "-f", "-qq", "-o", os.devnull, "-e", inject)
        _, verdict, seen = forked(lambda: ("", *outcome(name, folder, Calls())), Path(above, "said"), tracer)
        if verdict == "ended":
            verdict = "same" if seen == right else "other bits"
        if verdict == "named":
            again = forked(lambda: ("", *outcome(name, folder, Calls())), Path(above, "again"))
            if again[1:] != ("ended", right):
                verdict, seen = "spoilt", f"{seen}; then {again}"
        verdict = verdict if is_whole(folder) else "torn file"
        return f"{call} {number}", verdict, seen


def calls_under_strace(name: str, prepared: Path) -> list[tuple[str, int]]:
    """Each call of the C library that the program makes, by its name and number in its thread."""
    with tempfile.TemporaryDirectory() as above:
        folder, log = Path(shutil.copytree(prepared, Path(above, "folder"))), Path(above, "log")
        tracer = (
            "strace",
            "-f",
            "-qq",
            "-o",
            str(log),
            "-e",
            f"trace={','.join(f'?{call}' for call in TRACED)}",
        )
        forked(lambda: ("", *outcome(name, folder, Calls())), Path(above, "said"), tracer)
        made = Counter(tuple(line.partition("(")[0].split()) for line in log.read_text().splitlines())
        most = {
            call: max(n for (_, *of), n in made.items() if of == [call])
            for _, *_, call in made
            if call in TRACED
        }
        return [(call, number) for call in TRACED for number in range(1, most.get(call, 0) + 1)]


def main(name: str, prepared: Path, seed: str = "", count: str = "0", how: str = "") -> int:
    """See the module; returns how many trials were faults of operad's."""
    warnings.simplefilter("ignore")
    PROGRAMS[name][0](prepared)
    right = ""
    for _ in range(2):  # the first one loads and compiles
        with tempfile.TemporaryDirectory() as above:
            folder = Path(shutil.copytree(prepared, Path(above, "folder")))
            calls = Calls()
            verdict, found = outcome(name, folder, calls)
            assert (verdict, found) == ("ended", right or found)
            right = found
            if (folder / "cache").exists():  # half of the kernels are there, and half must be compiled
                shutil.rmtree(prepared / "cache", ignore_errors=True)
                shutil.copytree(folder / "cache", prepared / "cache")
                for path in sorted((prepared / "cache").rglob("*.o"))[::2]:
                    path.unlink()
    places = calls_under_strace(name, prepared) if how else [("", at + 1) for at in range(len(calls.made))]
    trials = list(product(places, ERRORS))
    if int(count):
        trials = random.Random(int(seed)).sample(trials, min(int(count), len(trials)))
    sums = Counter[str]()
    for (call, number), error in trials:
        if call:
            failed, verdict, why = under_strace(name, prepared, call, number, error, right)
        else:
            failed, verdict, why = in_a_child(name, prepared, number, error, right)
        sums[verdict] += 1
        if verdict not in ("same", "named"):
            print(json.dumps([number, errno.errorcode[error], failed, verdict, why]), flush=True)
    print(json.dumps({"calls": len(places), "trials": len(trials), **sums}), flush=True)
    return len(trials) - sums["same"] - sums["named"]


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]), 100))
