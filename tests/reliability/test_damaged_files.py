"""Damaged files are refused by name, or read: never a crash, a hang, or memory for what a number claims."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import operad as od
from operad import config
from operad.errors import LimitError
from operad_module.state_file import read_state
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


def limited() -> list[tuple[str, str]]:
    """Each format with each setting that its row of the page names, by itself or as that of the row above."""
    table = (ROOT / "SECURITY.md").read_text().partition("## Files")[2].partition("## Limits")[0]
    found, above = [], ["", ""]
    for row in [row.split("|") for row in table.splitlines() if row.startswith("| ") and "`" in row]:
        limits = [re.sub("as above", before, cell) for cell, before in zip(row[3:5], above, strict=True)]
        above = limits
        settings = re.findall(r"OPERAD_\w+", " ".join(limits))
        found += [(name, setting) for name in re.findall(r"`([\w-]+)`", row[2]) for setting in settings]
    return [(kind, setting) for kind, setting in found if kind != "metadata"]  # its limit makes a record


BESIDE: dict[str, Callable[[Path], object]] = {
    "resume": read_state,
    "states": lambda path: _store().load_optimizer_states(path),
    "initializer": lambda path: od.sym.load(str(path)),
    "records": lambda path: list(od.recordio.MXRecordIO(path, "r")),
}
"""Readers of files, where those of the damaged ones are given bytes, or what is read beside them."""


def _store() -> Any:
    store = od.kv.create("local")
    store.set_optimizer(od.optimizer.SGD())
    return store


@pytest.mark.parametrize(("kind", "setting"), limited())
def test_each_limit_of_the_page_holds_for_its_format(
    kind: str, setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = BESIDE.get(kind, FORMATS[kind].read)
    path = tmp_path / "case"
    path.write_bytes(FORMATS[kind].seeds()[0])
    if kind not in BESIDE:
        read(path)
    monkeypatch.setenv(setting, "1")
    config.reload()
    try:
        with pytest.raises(LimitError, match=setting):
            read(path)
    finally:
        monkeypatch.undo()
        config.reload()
