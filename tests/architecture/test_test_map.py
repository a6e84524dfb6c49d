"""The map of earlier tests: a test is found by its id, as another test or as a row, or it is lost."""

from __future__ import annotations

import pytest

from tools import test_map
from tools.test_map import Rule, place_of, table


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        test_map,
        "RULES",
        (
            Rule(r"a\.py::test_each\[(?P<row>.*)\]", rows=lambda: {"one": "a.py::test_all", "two": "gone"}),
            Rule(r"a\.py::test_(?P<name>old_.*)", new=r"b.py::test_\g<name>"),
            Rule(r"a\.py::test_double", reason="test_all proves it"),
        ),
    )


NOW = {"a.py::test_all": "more", "b.py::test_old_one": "fast", "c.py::test_kept": "slow"}


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
        ("d.py::test_new", None),
    ],
)
@pytest.mark.usefixtures("rules")
def test_an_earlier_test_has_a_place_or_is_lost(old: str, expected: tuple[str, str] | None) -> None:
    assert place_of(old, NOW) == expected


@pytest.mark.usefixtures("rules")
def test_what_has_no_place_is_named() -> None:
    counts, lost = table(["c.py::test_kept", "a.py::test_each[one]", "a.py::test_each[three]"], NOW)
    assert counts == {"the same test, slow": 1, "a row of a test, more": 1}
    assert lost == ["a.py::test_each[three]"]
