"""What becomes of trials that do not end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.laboratory import trials
from tests.reliability.laboratory.commits import within_commits
from tests.reliability.laboratory.outside import Liner, Point, Trial
from tests.reliability.laboratory.trials import CRASH, HANG, NEVER, PYTHON


@pytest.mark.parametrize(
    ("unended", "is_late", "verdict"),
    [(HANG, True, HANG), (NEVER, True, NEVER), (HANG, False, CRASH), (NEVER, False, CRASH)],
)
def test_a_trial_without_an_end_is_judged_by_where_it_was(unended: str, is_late: bool, verdict: str) -> None:
    lines = [
        {"key": "first", "unended": HANG},
        {"kind": "", "text": ""},
        {"key": "second", "unended": unended},
    ]
    found = list(trials._verdicts(lines, "a dump", is_late, is_starved=False))
    assert [(each.key, each.kind) for each in found] == [("first", ""), ("second", verdict)]


def test_a_crash_without_memory_is_no_hang() -> None:
    stderr = "Segmentation fault\n in _written"
    [found] = trials._verdicts([{"key": "only"}], stderr, is_late=False, is_starved=True)
    assert found.kind == PYTHON


@pytest.mark.parametrize(("is_looked_at", "verdict"), [(True, HANG), (False, NEVER)])
def test_a_hang_where_the_interpreter_delivers_nothing_is_no_fault(is_looked_at: bool, verdict: str) -> None:
    trial = Trial(Liner())
    trial._points["key"] = Point("file", "name", 1, 1, "text", is_looked_at)
    assert trial.unended("key") == verdict


def test_lines_within_a_commit_are_those_behind_its_first(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("a = 1\n# commit: begin\nb = 1\nc = 1\nd = 1\n# commit: end\ne = 1\nf = 1  # commit\n")
    assert within_commits(str(source)) == {4, 5}
    assert within_commits(str(tmp_path / "none.py")) == frozenset()
