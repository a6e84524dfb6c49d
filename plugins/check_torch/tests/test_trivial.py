"""All checks on trivial functions of PyTorch: none breaks, and none accuses. Skipped without PyTorch."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="PyTorch is an extra")

from operad_check_torch import check_torch
from operator_sdk.check.tests.trivial import ROWS, assert_right, each, report_on_row

pytestmark = pytest.mark.filterwarnings("default")  # PyTorch warns of its own


@pytest.mark.parametrize("name", each(ROWS, ("W >= 3", "of places")))
def test_no_check_breaks_on_a_trivial_function_or_accuses_it(name):
    assert_right(report_on_row(check_torch, name))
