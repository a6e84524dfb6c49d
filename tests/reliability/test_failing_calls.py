"""A call of the system that fails, each in turn, in whole programs: a named error, or the same bits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.calls.programs import PROGRAMS
from tests.reliability.processes import environment

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="each trial is a fork of one process")
SEED = os.environ.get("FAULT_SEED", "0")
SAMPLE = {"fit": 120, "files": 60, "connections": 20}
OF_LIBRARY = {"fit": 20, "files": 20, "connections": 5}
"""Trials of each program in `make test-more`."""


def _can_trace() -> bool:
    return (
        shutil.which("strace") is not None
        and not subprocess.run(
            ["strace", "-o", os.devnull, "true"], capture_output=True, check=False
        ).returncode
    )


def trials(name: str, folder: Path, *sample: str, limit_s: int = 500) -> dict[str, Any]:
    """The sums of trials, none of which is a fault."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.reliability.calls.trials", name, str(folder), *sample],
        env=environment(num_threads=1), capture_output=True, text=True, timeout=limit_s, check=False,
    )  # fmt: skip
    assert not done.returncode, f"seed {SEED}\n{done.stdout[-4000:]}\n{done.stderr[-2000:]}"
    sums: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert sums["trials"] == sums.get("same", 0) + sums.get("named", 0)
    return sums


@pytest.mark.more
@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLE)
def test_some_calls_that_fail_are_named_errors_or_change_nothing(name: str, tmp_path: Path) -> None:
    assert trials(name, tmp_path, SEED, str(SAMPLE[name]))["trials"] == SAMPLE[name]


STRACE = pytest.mark.skipif(
    not _can_trace(), reason="needs strace, which may follow processes here (apt-get install strace)"
)


@STRACE
@pytest.mark.more
@pytest.mark.long
@pytest.mark.parametrize("name", OF_LIBRARY)
def test_some_calls_of_the_c_library_that_fail_are_named_errors_or_change_nothing(
    name: str, tmp_path: Path
) -> None:
    assert trials(name, tmp_path, SEED, str(OF_LIBRARY[name]), "strace")["trials"] == OF_LIBRARY[name]


@STRACE
@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_call_of_the_c_library_that_fails_is_a_named_error_or_changes_nothing(
    name: str, tmp_path: Path
) -> None:
    sums = trials(name, tmp_path, "0", "0", "strace", limit_s=1700)
    assert sums["trials"] == 5 * sums["calls"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_call_that_fails_is_a_named_error_or_changes_nothing(name: str, tmp_path: Path) -> None:
    sums = trials(name, tmp_path, limit_s=1700)
    assert sums["trials"] == 5 * sums["calls"]
