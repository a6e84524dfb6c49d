"""operad against the record of MXNet 1.9.1; see docs/conformance.md.

One test walks every recorded fact and case of an operator, and names those that differ. What differs today
is listed, with its reason, in `recorded/differences.toml`; what is listed and does not differ is red too.
"""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.recorded import differences, faults, store
from tests.conformance.recorded.catalogue import catalogue
from tests.conformance.recorded.checks import Check, checks
from tests.conformance.recorded.operators import PLUGIN_OF

ROWS = Path(__file__).parents[2] / "docs" / "differences.md"

record = cache(store.load)  # when the first test asks: it takes a second
listed = cache(differences.load)


@cache
def every_check() -> list[Check]:
    return list(checks(record()))


@cache
def compared() -> dict[str, list[Check]]:
    """By operator, the checks that no fault of MXNet excuses."""
    found: dict[str, list[Check]] = {operator: [] for operator in PLUGIN_OF}
    for check in every_check():
        if not faults.excuses(check.id):
            found[check.operator].append(check)
    return found


AGAIN = ("gradient", "add", "bound", "files")
"""Aspects that run the cases again: with gradients, added to others, bound to an executor, and from files."""


FEW_CALLS = 5
"""Calls of an operator that the fast suite makes; the record has 15 for each."""


@cache
def is_again(check: Check) -> bool:
    """Return whether a check is of these aspects, or a call behind the first few."""
    if check.aspect != "forward":
        return check.aspect in AGAIN
    calls = [one.id for one in compared()[check.operator] if one.aspect == "forward"]
    return check.id not in calls[:FEW_CALLS]


def misjudged(operator: str, *, again: bool) -> list[str]:
    """Messages of an operator's checks that are red: of facts and a few calls, or of all others."""
    matcher = differences.Matcher(listed())
    chosen = [check for check in compared()[operator] if is_again(check) is again]
    return list(differences.misjudged(matcher, ((check.id, check.run) for check in chosen)))


each_operator = pytest.mark.parametrize("operator", PLUGIN_OF)
ignore_undefined = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of undefined results


@ignore_undefined
@each_operator
def test_facts_and_a_few_calls_are_those_of_mxnet(operator: str) -> None:
    assert misjudged(operator, again=False) == []


@pytest.mark.more
@ignore_undefined
@each_operator
def test_other_calls_gradients_executors_and_files_are_those_of_mxnet(operator: str) -> None:
    assert misjudged(operator, again=True) == []


def walk_of(check: Check) -> Callable[[str], None]:
    """The test that walks a check."""
    return (
        test_other_calls_gradients_executors_and_files_are_those_of_mxnet
        if is_again(check)
        else test_facts_and_a_few_calls_are_those_of_mxnet
    )


def test_every_pattern_of_differences_matches_a_check() -> None:
    matcher = differences.Matcher(listed())
    for checks_of_one in compared().values():
        for check in checks_of_one:
            matcher.find(check.id)
    assert sorted(matcher.unused) == []


def test_every_deliberate_difference_has_its_row_in_the_documentation() -> None:
    rows = {
        line.split("|")[1].strip()
        for line in ROWS.read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    }

    assert [entry for entry in listed() if entry.kind == "deliberate" and entry.row not in rows] == []


def test_every_operator_has_recorded_facts_and_at_least_one_case() -> None:
    assert [op for op, cases in catalogue().items() if op not in record().facts or not cases] == []


def test_no_two_checks_share_an_id() -> None:
    counts = Counter(check.id for check in every_check())

    assert [test_id for test_id, count in counts.items() if count > 1] == []


def test_every_fault_of_mxnet_concerns_what_is_recorded() -> None:
    recorded = {*record().facts, *(case.id for cases in catalogue().values() for case in cases)}
    ids = [one for fault in faults.load() for one in fault.ids]

    assert [one for one in ids if not fnmatch.filter(recorded, one.partition(":")[0])] == []
