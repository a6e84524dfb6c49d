"""The tool itself: which edits there are, how they are drawn, and that a fault is taken out again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.__main__ import NUMBER, stages
from tests.faults.drawing import GROUPS, Edit, edits
from tests.faults.listed import applied, load

SOURCE = '''\
def f(x: int = 1) -> int:
    """Compare: 1 < 2."""
    if x < 2 and not g(x):
        h(x)
    raise ValueError("1 + 1")
'''


def test_edits_change_what_runs_and_no_text() -> None:
    assert sorted(edit.after.strip() for edit in edits("f.py", SOURCE)) == sorted([
        "def f(x: int = 2) -> int:",
        "if (not (x < 2 and not g(x))):",
        "if x < 2 or not g(x):",
        "if x <= 2 and not g(x):",
        "if x < 3 and not g(x):",
        "if x < 2 and g(x):",
        "pass",
    ])  # fmt: skip


def test_every_edit_leaves_a_module_that_parses() -> None:
    for edit in edits("f.py", SOURCE):
        lines = SOURCE.splitlines()
        lines[edit.line - 1] = edit.after
        compile("\n".join(lines), "f.py", "exec")


def test_a_fault_is_in_the_file_for_the_time_of_the_block(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("a = 1\nb = 1\na = 1\n")
    with applied(Edit("f.py", 3, "a = 1", "a = 2"), tmp_path):
        assert (tmp_path / "f.py").read_text() == "a = 1\nb = 1\na = 2\n"
    assert (tmp_path / "f.py").read_text() == "a = 1\nb = 1\na = 1\n"


def test_a_line_that_is_gone_is_said(tmp_path: Path) -> None:
    (tmp_path / "f.py").write_text("a = 1\n")
    with pytest.raises(LookupError, match="is gone"), applied(Edit("f.py", 1, "b = 1", "b = 2"), tmp_path):
        pytest.fail("applied")


def test_the_list_has_faults_of_every_group() -> None:
    files = [fault.edit.file for fault in load()]
    assert len(files) == NUMBER
    assert all(any(file.startswith(f"{group}/") for file in files) for group in GROUPS)


def test_the_nearest_tests_run_first_and_all_at_last() -> None:
    assert list(stages("core/src/operad/engine/var.py")) == [
        ["core/tests/engine/test_var.py"], ["core/tests/engine"], ["core/tests"], ["core"], [],
    ]  # fmt: skip
