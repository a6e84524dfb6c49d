"""A fault at the n-th call of a whole program, in a process of its own; see `failing` and `programs`.

    python -m tests.reliability.calls.trials PROGRAM FOLDER [SEED COUNT]

Runs the program without a fault, which says how many calls there are, and then forks a process for each call
and each kind of failure, or for COUNT of them that a seed draws. Prints a line of JSON for each that is a
fault of operad: the call that failed, the verdict and its reason; and at last the sums.

*same*: the outcome of the run without a fault. *named*: an `OperadError` came out, and after it the program,
run again in the folder as it is, has the same outcome. All else is a fault of operad: *bare*, *other bits*,
*hang*, *crash*, *spoilt*.
"""

from __future__ import annotations

import errno
import faulthandler
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Final

import operad as od
from tests.reliability.calls.failing import Calls
from tests.reliability.calls.programs import PROGRAMS

ERRORS: Final = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EINTR, errno.ECONNRESET)
LONGEST_S: Final = 100


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
    for path in folder.glob("*.json*"):
        for text in path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]:
            json.loads(text)  # what is there is whole
    return "ended", found


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
        folder, said = Path(above, "folder"), Path(above, "said")
        shutil.copytree(prepared, folder)
        if not (child := os.fork()):
            with said.open("w") as file:
                signal.alarm(LONGEST_S)
                faulthandler.dump_traceback_later(LONGEST_S - 5, file=file)
                found = trial(name, folder, number, error, right)
                faulthandler.cancel_dump_traceback_later()
                json.dump(found, file)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        text = said.read_text()
        if status:
            return "", "hang" if status == -signal.SIGALRM else "crash", f"exit code {status}: {text}"
        failed, verdict, why = json.loads(text)
        return failed, verdict, why


def main(name: str, prepared: Path, seed: str = "", count: str = "0") -> int:
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
    trials = list(product(range(1, len(calls.made) + 1), ERRORS))
    if int(count):
        trials = random.Random(int(seed)).sample(trials, min(int(count), len(trials)))
    sums = Counter[str]()
    for number, error in trials:
        failed, verdict, why = in_a_child(name, prepared, number, error, right)
        sums[verdict] += 1
        if verdict not in ("same", "named"):
            print(json.dumps([number, errno.errorcode[error], failed, verdict, why]), flush=True)
    print(json.dumps({"calls": len(calls.made), "trials": len(trials), **sums}), flush=True)
    return len(trials) - sums["same"] - sums["named"]


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]), 100))
