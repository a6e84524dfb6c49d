"""A pipeline that is no operator: files are read, parsed and summed by the engine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples import file_sums
from operad import engine


@pytest.fixture(autouse=True, params=["threaded", "naive"])
def each_engine(request: pytest.FixtureRequest) -> Iterator[None]:
    engine.set(request.param)
    yield
    engine.set("threaded")


def folder_of(tmp_path: Path, *texts: str) -> Path:
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.csv").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_sum_is_that_of_all_files(tmp_path: Path) -> None:
    sums = file_sums.Sums()
    for path in sorted(folder_of(tmp_path, "1,2\n3", "4", "0.5").glob("*.csv")):
        sums.add(path)
    assert sums.errors() == {}
    assert sums.wait() == 10.5


def test_a_failure_is_that_of_its_file_and_of_what_reads_it(tmp_path: Path) -> None:
    sums = file_sums.Sums()
    for path in [*sorted(folder_of(tmp_path, "1", "x", "2").glob("*.csv")), tmp_path / "none.csv"]:
        sums.add(path)
    errors = sums.errors()
    assert set(errors) == {"1.csv", "none.csv"}
    assert "could not convert" in errors["1.csv"]
    with pytest.raises((ValueError, OSError)):
        sums.wait()


def test_the_program_says_which_files_are_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["file_sums", str(folder_of(tmp_path, "1", "2"))])
    file_sums.main()
    assert capsys.readouterr().out == "2 files, sum 3\n"
    folder_of(tmp_path, "1", "x")
    file_sums.main()
    assert capsys.readouterr().out.startswith("1.csv: could not convert")
