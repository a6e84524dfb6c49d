from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.operator_table import BEGIN, END, PAGE, with_table
from tools.workspace import ROOT

TEXT = f"# Title\n\n{BEGIN}\n\n{END}\n\nAfter.\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of one plugin that provides two operators, which have a page."""
    folder = tmp_path / "plugins" / "elemwise"
    folder.mkdir(parents=True)
    (tmp_path / "docs/operators").mkdir(parents=True)
    (tmp_path / "docs/operators/elemwise.md").touch()
    (tmp_path / PAGE).write_text(TEXT)
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "operad-elemwise"\ndescription = "Unary and binary operators."\n'
        '[project.entry-points."operad.operators"]\n'
        '_plus_scalar = "operad_elemwise.scalar:plus"\ntanh = "operad_elemwise.unary:tanh"\n'
    )
    return tmp_path


def _run(checkout: Path, *words: str) -> int:
    command = [sys.executable, "-m", "tools.operator_table", "--root", str(checkout), *words]
    return subprocess.run(command, check=False, cwd=ROOT, capture_output=True).returncode


def test_the_table_is_read_off_the_distributions(checkout: Path) -> None:
    assert _run(checkout) == 0

    name, page = "[`operad-elemwise`](../plugins/elemwise)", "[page](operators/elemwise.md)"
    assert f"| {name} | Unary and binary operators | {page} |" in (checkout / PAGE).read_text().splitlines()


def test_check_fails_on_a_stale_table_and_changes_nothing(checkout: Path) -> None:
    assert _run(checkout, "--check") == 1
    assert (checkout / PAGE).read_text() == TEXT


def test_a_written_table_passes_the_check(checkout: Path) -> None:
    _run(checkout)

    assert _run(checkout, "--check") == 0


def test_writing_keeps_the_text_around_the_markers() -> None:
    assert with_table(TEXT, "rows") == f"# Title\n\n{BEGIN}\n\nrows\n\n{END}\n\nAfter.\n"
    assert with_table(with_table(TEXT, "old"), "new") == with_table(TEXT, "new")


@pytest.mark.parametrize("text", ["no markers", BEGIN, END, f"{END}{BEGIN}", TEXT + TEXT])
def test_missing_or_repeated_markers_are_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"docs/distributions\.md: expected one"):
        with_table(text, "rows")
