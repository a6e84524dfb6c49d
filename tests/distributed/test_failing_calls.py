"""A call of the system that fails in a worker of a job, on Ray or under MPI: a named error, or the same bits.

After a named error the job, started again in its folder, trains what an undisturbed one does. `FAULT_SEED`
says which calls fail.
"""

from __future__ import annotations

import errno
import os
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.distributed.conftest import Run

ERRORS = (errno.ENOSPC, errno.EIO, errno.EMFILE, errno.EINTR, errno.ECONNRESET)
SEED = os.environ.get("FAULT_SEED", "0")
NAMED = re.compile(r"named \w+ of \w")
"""Printed by the worker whose call has failed; others name the worker that they have lost."""
pytestmark = pytest.mark.long


def verdicts(run: Run, engine: str, above: Path, count: int) -> Counter[str]:
    """How many trials ended how; those that ended wrong fail the test, all of them tried."""
    undisturbed = run(2, "failing_calls", str(above / "undisturbed"), "0", "0", "0")
    expected = sorted(undisturbed.lines("trained"))
    assert (undisturbed.code, len(expected)) == (0, 2), undisturbed.output
    most = min(int(found) for found in re.findall(r"made (\d+) calls", undisturbed.output))
    rng, found, wrong = random.Random(f"{SEED} {engine}"), Counter[str](), list[str]()
    for trial in range(count):
        rank, number, error = rng.randrange(2), rng.randint(1, most), rng.choice(ERRORS)
        what = f"seed {SEED}: {engine}, rank {rank}, call {number} of {most}, {errno.errorcode[error]}"
        words = ("failing_calls", str(above / str(trial)))
        ended = run(2, *words, f"{rank}", f"{number}", f"{error}")
        verdict = "same"
        if ended.code:
            verdict = "named" if NAMED.search(ended.output) else "bare"
            ended = run(2, *words, "0", "0", "0") if verdict == "named" else ended
        if verdict == "bare" or sorted(ended.lines("trained")) != expected:
            wrong.append(f"{what}, {verdict}:\n{ended.output}")
        found[verdict] += 1
    print(f"{engine}: {count} calls of {most} in each of two workers: {dict(found)}")  # noqa: T201 - figures for the documentation
    assert not wrong, "\n\n".join(wrong)
    return found


COUNTS = [3, pytest.param(40, marks=[pytest.mark.slow, pytest.mark.timeout(3000)])]


@pytest.mark.parametrize("count", COUNTS)
def test_a_call_that_fails_in_a_worker_under_mpi(run_mpi: Run, tmp_path: Path, count: int) -> None:
    assert verdicts(run_mpi, "MPI", tmp_path, count).total() == count


@pytest.mark.parametrize("count", COUNTS)
def test_a_call_that_fails_in_a_worker_on_ray(run_ray: Run, tmp_path: Path, count: int) -> None:
    assert verdicts(run_ray, "Ray", tmp_path, count).total() == count
