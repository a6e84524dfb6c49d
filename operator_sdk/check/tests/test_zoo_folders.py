"""Wrong operators of reports and of rare circumstances are red; right ones that are unusual are not.

Each is checked in a process of its own, because some change what belongs to the whole process.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import pytest

from operator_sdk.check.tests.zoo.fault import Fault, Right
from operator_sdk.check.tests.zoo.folders import inhabitants
from operator_sdk.check.tests.zoo.table import ZOO
from tools.zoo import result

TRACKERS = ("https://github.com/",)
EXAMPLES, LIMIT_S = 50, 300.0

MISSED = {
    "impossible_window": "an operator may sum what there is of a window; no declaration says otherwise",
    "tired": "it changes once, after hundreds of calls; which check meets that is chance",
    "log_softmax": "it loses as much as rounding its arguments once; so does every mean that is subtracted",
}
"""Wrong operators that no check sees, without `zoo_`, and why."""


def names(*folders: str) -> list[str]:
    found = chain.from_iterable(map(inhabitants, folders))
    return sorted(one.operator.name.removeprefix("zoo_") for one in found)


def settled(kind: type, *folders: str) -> Iterator[Any]:
    for folder in folders:
        for number, one in enumerate(inhabitants(folder)):
            if not isinstance(one, kind):
                continue
            if one.operator.name.removeprefix("zoo_") not in MISSED:
                yield pytest.param(folder, number, one, id=one.title, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("folder", "number", "fault"),
    list(settled(Fault, "reported", "circumstances", "weighed", "strangers")),
)
def test_a_wrong_operator_is_caught_and_its_programs_fail_likewise(
    folder: str, number: int, fault: Fault
) -> None:
    found = result(folder, number, fault, EXAMPLES, LIMIT_S)
    assert (found.verdict, found.mute) == ("caught", [])


@pytest.mark.parametrize(("folder", "number", "right"), list(settled(Right, "right", "weighed", "strangers")))
def test_a_right_operator_is_cleared(folder: str, number: int, right: Right) -> None:
    found = result(folder, number, right, EXAMPLES, LIMIT_S)
    assert (found.verdict, found.red) == ("cleared", []), found.words


def test_every_reported_fault_says_where_it_was_reported() -> None:
    unsaid = [one.title for one in inhabitants("reported") if not one.report.startswith(TRACKERS)]
    assert unsaid == []


def test_no_two_inhabitants_have_one_name() -> None:
    found = names("reported", "circumstances", "right", "weighed", "strangers")
    assert found == sorted(set(found))


def test_what_is_missed_is_in_the_zoo() -> None:
    assert set(names("reported", "circumstances", "weighed", "strangers")) >= set(MISSED)


def test_a_third_of_the_weighed_is_held_back() -> None:
    open_ones, held_back = names("weighed"), names("weighed:held-back")
    assert not set(open_ones) & set(held_back)
    assert 0.25 < len(held_back) / (len(open_ones) + len(held_back)) < 0.42


def test_the_zoo_has_many_more_wrong_operators_than_checks() -> None:
    assert len([*ZOO, *inhabitants("reported"), *inhabitants("circumstances")]) >= 240
