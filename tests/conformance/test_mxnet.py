"""operad against the record of MXNet 1.9.1; see docs/conformance.md.

What differs today is a strict xfail with its reason from `recorded/differences.toml`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.recorded import differences, faults, store
from tests.conformance.recorded.checks import Check, checks

RECORD = store.load()
CHECKS = [check for check in checks(RECORD) if not faults.is_undefined(check.id)]
DIFFERENCES = differences.load()
MATCHER = differences.Matcher(DIFFERENCES)
ROWS = Path(__file__).parents[2] / "docs" / "differences.md"


def _marked(check: Check) -> object:
    difference = MATCHER.find(check.id)
    marks = (
        () if difference is None else (pytest.mark.xfail(reason=f"{difference.kind}: {difference.reason}"),)
    )
    return pytest.param(check, id=check.id, marks=marks)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of infinite and undefined results
@pytest.mark.parametrize("check", [_marked(check) for check in CHECKS])
def test_operad_does_as_mxnet(check: Check) -> None:
    if words := check.run():
        pytest.fail(f"{check.id}: {words}", pytrace=False)


def test_every_pattern_of_differences_matches_a_check() -> None:
    assert sorted(MATCHER.unused) == []


def test_every_deliberate_difference_has_its_row_in_the_documentation() -> None:
    rows = {
        line.split("|")[1].strip()
        for line in ROWS.read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    }

    assert [entry for entry in DIFFERENCES if entry.kind == "deliberate" and entry.row not in rows] == []


def test_what_differs_must_stop_being_listed_when_it_is_mended(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.getini("xfail_strict")
