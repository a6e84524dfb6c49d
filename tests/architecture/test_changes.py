"""Fragments of the changelog: towncrier refuses a wrong name, and each holds one entry."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.workspace import ROOT


def draft(folder: Path) -> subprocess.CompletedProcess[str]:
    """The next entry of the changelog, as `make changes` shows it."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


def wrong_fragments(folder: Path) -> list[str]:
    """Names of fragments that are no Markdown file with the text of one entry."""
    found = sorted(file for file in folder.iterdir() if file.name.startswith("+"))
    return [file.name for file in found if file.suffix != ".md" or not _is_entry(file.read_text())]


def _is_entry(text: str) -> bool:
    """Towncrier makes the list: a text is one paragraph without a sign of its own."""
    return bool(text.strip()) and "\n\n" not in text.strip() and text.lstrip()[0] not in "-*#"


@pytest.fixture
def changes(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "changes", tmp_path / "changes", ignore=shutil.ignore_patterns("+*"))
    return tmp_path / "changes"


def test_the_fragments_of_this_checkout_make_an_entry() -> None:
    assert draft(ROOT).returncode == 0, draft(ROOT).stderr
    assert wrong_fragments(ROOT / "changes") == []


@pytest.mark.parametrize("kind", ["Added", "Changed", "Fixed", "Removed"])
def test_a_fragment_is_an_item_under_the_heading_of_its_kind(changes: Path, kind: str) -> None:
    (changes / f"+first.{kind.lower()}.md").write_text("`nd.first` gives the first row.\n")
    assert f"### {kind}\n\n- `nd.first` gives the first row.\n" in draft(changes.parent).stdout


@pytest.mark.parametrize(
    "name", ["12.added.md", "first.added.md", "+first.md", "+first.feature.md", "first.md", "notes.txt"]
)
def test_a_fragment_with_a_wrong_name_is_refused(changes: Path, name: str) -> None:
    (changes / name).write_text("`nd.first` gives the first row.\n")
    assert draft(changes.parent).returncode != 0


@pytest.mark.parametrize(
    ("name", "text", "is_wrong"),
    [
        ("+first.added.md", "`nd.first` gives\nthe first row.\n", False),
        ("+first.added.txt", "`nd.first` gives the first row.\n", True),
        ("+first.added", "`nd.first` gives the first row.\n", True),
        ("+first.added.md", "\n", True),
        ("+first.added.md", "- `nd.first` gives the first row.\n", True),
        ("+first.added.md", "`nd.first`\n\ngives the first row.\n", True),
    ],
)
def test_a_fragment_holds_one_entry(tmp_path: Path, name: str, text: str, is_wrong: bool) -> None:
    (tmp_path / name).write_text(text)
    assert wrong_fragments(tmp_path) == ([name] if is_wrong else [])
