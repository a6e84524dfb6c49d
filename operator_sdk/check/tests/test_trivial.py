"""All checks on trivial operators and functions: none breaks, none accuses, and each of them runs."""

from __future__ import annotations

from functools import cache

import pytest

from operad_check import check_numpy, check_operator
from operad_check.register import all_checks
from operad_check.reporting.outcome import OperatorReport, Status
from operator_sdk.check.tests import trivial
from operator_sdk.check.tests.trivial import FEW, each

FAST = ("where W >= 3", "of any integers")
FAST_ROWS = ("of drawn", "with truth")
OPERATORS = trivial.operators()


UNDOCUMENTED = ("limited", "smoother")
"""Operators of mappers, which have no docstring of their own."""


@cache
def report_on(name: str) -> OperatorReport:
    left_out = ("S107", "S108") if name in UNDOCUMENTED else ()
    return check_operator(
        OPERATORS[name], checks=[id for id in all_checks() if id not in left_out], profile=FEW
    )


@cache
def report_on_row(name: str) -> OperatorReport:
    return trivial.report_on_row(check_numpy, name, trivial.ROWS[name].gradient)


@pytest.mark.parametrize("name", each(OPERATORS, FAST))
def test_no_check_breaks_on_a_trivial_operator_or_accuses_it(name):
    report = report_on(name)
    verdicts = (report.red_ids, report.undeclared_ids, report.hard_ids, report.broken_ids)
    assert verdicts == ([], [], [], []), repr(report)


@pytest.mark.parametrize("name", each(trivial.ROWS, FAST_ROWS))
def test_no_check_breaks_on_a_trivial_function_or_accuses_it(name):
    trivial.assert_right(report_on_row(name))


NEVER = {
    "D605": "it takes a GPU",
    "D606": "it takes two kernels, as plugins/normalization has",
    "F223": "it takes an inference from outputs of an author's own",
    "R509": "another process imports the operator from a module",
    "S101": "it takes an entry point",
    "S113": "it takes a parameter that is an axis, as plugins/reduce has",
    "X802": "it takes an expected failure, and nothing here fails",
}
"""Checks that say nothing of any of these, and why."""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_check_compares_something_in_some_of_them():
    passed = {
        outcome.check_id
        for name in OPERATORS
        for outcome in report_on(name).outcomes
        if outcome.status is Status.PASSED
    }
    assert set(all_checks()) - passed == set(NEVER)
