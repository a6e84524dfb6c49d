"""All checks on trivial functions of JAX: none breaks, and none accuses. Skipped without JAX."""

from __future__ import annotations

import pytest

pytest.importorskip("jax", reason="JAX is an extra")

from operad_check_jax import check_jax
from operator_sdk.check.tests.trivial import ROWS, assert_right, each, report_on_row

pytestmark = pytest.mark.filterwarnings("default")  # JAX warns of its own


@pytest.mark.parametrize("name", each(ROWS, ("W >= 3",)))
def test_no_check_breaks_on_a_trivial_function_or_accuses_it(name):
    assert_right(report_on_row(check_jax, name))
