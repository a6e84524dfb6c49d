"""All checks on trivial functions of JAX: none breaks, and none accuses. Skipped without JAX."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="JAX is an extra")

from operad_check.plan.profile import Profile
from operad_check.reporting.outcome import Status
from operad_check_jax import check_jax
from operad_sdk import Contract
from operator_sdk.check.tests.trivial import ROWS

pytestmark = pytest.mark.filterwarnings("default")  # JAX warns of its own

FEW = Profile("few", 4, 1.0)
FAST = ("W >= 3",)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in ROWS]
)
def test_no_check_breaks_on_a_trivial_function_or_accuses_it(name):
    row = ROWS[name]

    report = check_jax(row.expression, row.line, contract=Contract(**row.contract), profile=FEW)

    assert (report.red_ids, report.broken_ids) == ([], []), repr(report)
    assert any(outcome.status is Status.PASSED for outcome in report.outcomes)
