"""The map of earlier tests: a test is found by its id, as another test or as a row, or it is lost."""

from __future__ import annotations

import pytest

from tools import test_map
from tools.test_map import Rule, place_of, rules_of, table


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        test_map,
        "RULES",
        (
            Rule(r"a\.py::test_each\[(?P<row>.*)\]", rows=lambda: {"one": "a.py::test_all", "two": "gone"}),
            Rule(r"a\.py::test_(?P<name>old_.*)", new=r"b.py::test_\g<name>"),
            Rule(r"a\.py::test_double", reason="test_all proves it"),
            Rule(r"a\.py::test_(half|no)", new=r"b.py::test_\1", reason="halves are the rule"),
        ),
    )


NOW = {
    "a.py::test_all": "more",
    "b.py::test_old_one": "fast",
    "b.py::test_half": "more",
    "c.py::test_kept": "slow",
    "c.py::test_walk": "fast",
    "c.py::test_walk[*]": "fast",
}


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        ("c.py::test_kept", ("the same test, slow", "c.py::test_kept")),
        ("a.py::test_each[one]", ("a row of a test, more", "a.py::test_all")),
        ("a.py::test_each[two]", None),
        ("a.py::test_each[three]", None),
        ("a.py::test_old_one", ("another test, fast", "b.py::test_old_one")),
        ("a.py::test_old_two", None),
        ("a.py::test_double", ("gone: test_all proves it", "")),
        ("a.py::test_half", ("halves are the rule, more", "b.py::test_half")),
        ("a.py::test_no", None),
        ("c.py::test_walk[2]", ("a row of a walk, fast", "c.py::test_walk[*]")),
        ("c.py::test_kept[2]", None),
        ("d.py::test_new", None),
    ],
)
@pytest.mark.usefixtures("rules")
def test_an_earlier_test_has_a_place_or_is_lost(old: str, expected: tuple[str, str] | None) -> None:
    assert place_of(old, NOW) == expected


def test_a_test_of_a_folder_that_moved_is_the_same_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_map, "FOLDERS", {"a/tests/b/": "b/tests/", "a/": "c/a/"})
    monkeypatch.setattr(test_map, "RULES", (Rule(r"c/a/test_old\.py::(.*)", new=r"c/a/test_new.py::\1"),))
    moved = {"a/tests/b/test_x.py::f": "b/tests/test_x.py::f", "a/test_old.py::f": "c/a/test_new.py::f"}
    for old, new in moved.items():
        place = place_of(old, {new: "fast"})
        assert (place and place[1]) == new
    assert place_of("d/a/test_x.py::f", {"d/c/a/test_x.py::f": "fast"}) is None


@pytest.mark.usefixtures("rules")
def test_what_has_no_place_is_named() -> None:
    counts, lost = table(["c.py::test_kept", "a.py::test_each[one]", "a.py::test_each[three]"], NOW)
    assert counts == {"the same test, slow": 1, "a row of a test, more": 1}
    assert lost == ["a.py::test_each[three]"]


RULES = r"""
[files]
'c.py' = 'plugin/d.py'

[[gone]]
reason = 'there are no updates'
ids = ['a\.py::test_update.*']

[[moved]]
file = 'a.py'
[moved.names]
test_plain = 'test_new'
'test_row[one]' = 'b.py::test_one'
test_row = 'test_rows\1'

[[patterns]]
old = '(a\.py::test_\w+\[)old-(.*\])'
new = '\1new-\2'

[[renumbered]]
old = 'a\.py::test_file\[content{number}-(.*)\]'
new = 'a.py::test_file[content{number}-\1]'
numbers = [1, 2]
by = 1
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a.py::test_update_of_a_file[1]", ""),
        ("a.py::test_plain", "a.py::test_new"),
        ("a.py::test_row[one]", "b.py::test_one"),
        ("a.py::test_row[two]", "a.py::test_rows[two]"),
        ("a.py::test_form[old-float32]", "a.py::test_form[new-float32]"),
        ("c.py::TestKept::test_one[1]", "plugin/d.py::TestKept::test_one[1]"),
        ("a.py::test_file[content2-cut short]", "a.py::test_file[content3-cut short]"),
        ("a.py::test_file[content3-cut short]", None),
        ("b.py::test_plain", None),
    ],
)
def test_rules_are_read_from_a_table(monkeypatch: pytest.MonkeyPatch, old: str, new: str | None) -> None:
    monkeypatch.setattr(test_map, "RULES", rules_of(RULES))
    place = place_of(old, {new: "fast"} if new else {})
    assert (place and place[1]) == new
