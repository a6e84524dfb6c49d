"""Every file compiles without a warning, by this Python and by the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import next_python


@pytest.mark.more
def test_every_file_compiles_without_a_warning() -> None:
    assert list(next_python.faults(next_python.sources())) == []


def test_what_a_python_warns_of_is_a_fault(tmp_path: Path) -> None:
    right, warned, wrong = (tmp_path / name for name in ("right.py", "warned.py", "wrong.py"))
    right.write_text("x = 1\n")
    warned.write_text("x = '\\d'\n")
    wrong.write_text("x = = 1\n")
    assert [line.partition(":")[0] for line in next_python.faults([right, warned, wrong])] == [
        str(warned), str(wrong),
    ]  # fmt: skip


@pytest.mark.parametrize("program", ["node", "npm"])
def test_what_is_missing_is_named_and_the_status_is_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, program: str
) -> None:
    if program == "npm":
        (tmp_path / "node").write_text("#!/bin/sh\n")
        (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert next_python.main([]) == 2
    assert capsys.readouterr().err == f"cannot run: there is no {program}\n"
