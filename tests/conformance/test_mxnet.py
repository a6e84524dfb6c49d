"""operad against the record of MXNet 1.9.1; see docs/conformance.md.

What differs today is a strict xfail with its reason from `recorded/differences.toml`.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance.recorded import differences, faults, store
from tests.conformance.recorded.catalogue import catalogue
from tests.conformance.recorded.checks import Check, checks

RECORD = store.load()
EVERY_CHECK = list(checks(RECORD))
CHECKS = [check for check in EVERY_CHECK if not faults.excuses(check.id)]
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


def test_every_operator_has_recorded_facts_and_at_least_one_case() -> None:
    assert [op for op, cases in catalogue().items() if op not in RECORD.facts or not cases] == []


def test_no_two_checks_share_an_id() -> None:
    counts = Counter(check.id for check in EVERY_CHECK)

    assert [test_id for test_id, count in counts.items() if count > 1] == []


def test_every_fault_of_mxnet_concerns_what_is_recorded() -> None:
    recorded = {*RECORD.facts, *(case.id for cases in catalogue().values() for case in cases)}
    ids = [one for fault in faults.load() for one in fault.ids]

    assert [one for one in ids if not fnmatch.filter(recorded, one.partition(":")[0])] == []
