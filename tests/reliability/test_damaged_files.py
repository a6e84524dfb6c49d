"""Damaged files are refused by name, or read: never a crash, a hang, or memory for what a number claims."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.processes import environment

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("FUZZ_SECONDS", "20"))
"""For each reader; a thorough run takes 600."""


@pytest.mark.parametrize("seed", [int(os.environ.get("FUZZ_SEED", "0"))])
@pytest.mark.parametrize("reader", ["params", "json", "metadata"])
def test_no_damaged_file_ends_a_reader(reader: str, seed: int, tmp_path: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-X", "faulthandler", "-m", "tests.reliability.fuzzing"]
    done = subprocess.run(
        [*program, reader, str(SECONDS), str(seed), str(tmp_path)],
        env=environment(num_threads=1), capture_output=True, text=True, timeout=SECONDS + 120, check=False,
    )  # fmt: skip
    last = (tmp_path / "last").read_bytes()
    assert done.returncode == 0, f"{done.stderr[-2000:]}\nthe file, to be kept as a test: {last!r}"
    assert int(done.stdout) > 20 * SECONDS
