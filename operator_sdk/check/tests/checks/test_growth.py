from __future__ import annotations

import gc

import pytest

from operad_check import check_operator
from operad_check.plan.profile import Profile
from operator_sdk.check.tests import trivial


@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_program_finds_frozen_what_it_froze_and_nothing_else(is_frozen):
    try:
        (gc.freeze if is_frozen else gc.unfreeze)()
        operator = trivial.operators()["where W >= 3"]
        report = check_operator(operator, checks=["M411"], profile=Profile("few", 4, 1.0))
        assert [outcome.status.name for outcome in report.outcomes] == ["PASSED"]
        assert (gc.get_freeze_count() > 0) is is_frozen
    finally:
        gc.freeze()
