"""Damaged files are refused by name, or read: never a crash, a hang, or memory for what a number claims."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.formats import FORMATS
from tests.reliability.processes import environment
from tools.workspace import ROOT

SECONDS = float(os.environ.get("FUZZ_SECONDS", "10"))
"""Of processor time, for each format; a thorough run takes 600."""
CASES = 60
"""For each format, the same in every run."""


def read_damaged(kind: str, seconds: float, seed: int, folder: Path, *cases: int) -> dict[str, int]:
    """How many damaged files of each format were read."""
    program = [sys.executable, "-W", "ignore", "-X", "faulthandler", "-m", "tests.reliability.fuzzing"]
    done = subprocess.run(
        [*program, kind, *map(str, (seconds, seed, folder, *cases))],
        env=environment(num_threads=1), capture_output=True, text=True, timeout=20 * seconds + 120,
        check=False,
    )  # fmt: skip
    last = (folder / "last").read_bytes() if (folder / "last").exists() else b""
    assert done.returncode == 0, (
        f"{done.stderr[-2000:]}\nbehind {done.stdout!r}; the file, to be kept as a test: {last!r}"
    )
    return {name: int(count) for name, count in map(str.split, done.stdout.splitlines())}


def test_some_damaged_files_end_no_reader(tmp_path: Path) -> None:
    assert read_damaged("all", 10, 1, tmp_path, CASES) == dict.fromkeys(FORMATS, CASES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [int(os.environ.get("FUZZ_SEED", "0"))])
@pytest.mark.parametrize("kind", FORMATS)
def test_no_damaged_file_ends_a_reader(kind: str, seed: int, tmp_path: Path) -> None:
    assert read_damaged(kind, SECONDS, seed, tmp_path)[kind] > SECONDS


def test_the_page_of_limits_has_a_row_for_every_format() -> None:
    table = (ROOT / "SECURITY.md").read_text().partition("## Files")[2].partition("## Limits")[0]
    rows = [row.split("|")[2] for row in table.splitlines() if row.startswith("| ")]
    assert {name for cell in rows for name in re.findall(r"`([\w-]+)`", cell)} == set(FORMATS)
