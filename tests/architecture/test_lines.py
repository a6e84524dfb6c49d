"""Lines of code of the core: how they are counted, and the ceiling of decision 0018."""

from __future__ import annotations

import pytest

from tools.lines import by_room, code_lines, of_commit, of_tree
from tools.workspace import ROOT

CEILING = 15_400
"""Only a change of docs/decisions/0018 moves it."""


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('"""Title."""\n\nx = 1\n', 1),
        ("# why\nx = (\n    1,\n)  # how\n", 3),
        ('def f():\n    """Title.\n\n    More.\n    """\n    return 1\n', 2),
        ('class A:\n    x: int\n    """What it is."""\n', 2),
        ('text = """two\nlines"""\n', 2),
        ("", 0),
    ],
)
def test_only_code_counts(source: str, lines: int) -> None:
    assert code_lines(source) == lines


def test_rooms_are_folders_and_the_command_line_is_none() -> None:
    files = [("engine/a.py", "x = 1\ny = 2\n"), ("cli/b.py", "x = 1\n"), ("device.py", "x = 1\n")]
    assert by_room(files) == {"engine": 2, "ground": 1}


def test_the_core_stays_below_its_ceiling() -> None:
    assert by_room(of_tree()).total() <= CEILING


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no history here")
def test_a_commit_is_counted_as_its_tree_was() -> None:
    assert {path for path, _ in of_commit("HEAD")} >= {"engine/lock.py", "op/kernel.py"}
