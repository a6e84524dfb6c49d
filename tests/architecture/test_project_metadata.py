"""Common metadata, written into the `pyproject.toml` of a distribution that has none or an old one."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools.project_metadata import CLASSIFIERS, URLS, written
from tools.workspace import ROOT, Distribution

BARE = """\
[build-system]
requires = ["hatchling>=1.24"]

[project]
name = "operad-loss"
classifiers = [
    "Programming Language :: Python :: 3.10",
]
dependencies = [
    "operad[cli]>=0.2,<0.3",
]

[project.optional-dependencies]
plot = ["matplotlib>=3.9,<4"]
"""


def in_folder(root: Path, text: str) -> Distribution:
    folder = root / "plugins" / "loss"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return Distribution(folder, tomllib.loads(text))


def test_a_bare_distribution_gets_everything_and_loses_nothing(tmp_path: Path) -> None:
    before, after = tomllib.loads(BARE), tomllib.loads(written(in_folder(tmp_path, BARE)))

    common = {"keywords": ["deep-learning", "mxnet", "loss"], "classifiers": [*CLASSIFIERS], "urls": URLS}
    assert after == before | {"project": before["project"] | common}


def test_what_is_written_stays(tmp_path: Path) -> None:
    once = written(in_folder(tmp_path, BARE))

    assert written(in_folder(tmp_path, once)) == once


@pytest.mark.parametrize(
    ("old", "new"),
    [("operad/blob/main/CHANGELOG.md", "operad/CHANGES"), ('Homepage = "', 'Bugs = "'), ("3.11", "3.10")],
)
def test_an_old_text_is_brought_up_to_date(tmp_path: Path, old: str, new: str) -> None:
    current = written(in_folder(tmp_path, BARE))

    assert written(in_folder(tmp_path, current.replace(old, new))) == current


def test_keywords_of_its_own_stay(tmp_path: Path) -> None:
    text = BARE.replace("classifiers", 'keywords = ["losses"]\nclassifiers', 1)

    assert tomllib.loads(written(in_folder(tmp_path, text)))["project"]["keywords"] == ["losses"]


def test_check_fails_on_a_stale_file_and_changes_nothing(tmp_path: Path) -> None:
    file = in_folder(tmp_path, BARE).folder / "pyproject.toml"
    command = [sys.executable, "-m", "tools.project_metadata", "--root", str(tmp_path)]

    done = subprocess.run([*command, "--check"], cwd=ROOT, check=False, capture_output=True, text=True)
    assert (done.returncode, file.read_text()) == (1, BARE)
    assert "plugins/loss/pyproject.toml is stale" in done.stderr

    assert subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    assert file.read_text() == written(in_folder(tmp_path, file.read_text())) != BARE
