"""What refuses a position that is not there: an error of the author's, or NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import Profile, check_operator, verify
from operad_check.reporting.outcome import Status
from operad_check.trials.case import Case
from operad_check.trials.violation import Violation
from operator_sdk.check.tests.zoo.positions import RowsAndForOr, RowsWithoutGradientFromEnd
from operator_sdk.check.tests.zoo.right.places import PickedElement

FEW = Profile("few", examples=30, seconds=1.0)


def test_an_index_error_of_numpy_refuses_an_element() -> None:
    case = Case(inputs={"data": np.ones((2, 3)), "index": np.array([0, 2])})

    verify("F222", PickedElement, case)


def test_an_element_that_is_not_refused_alone_is_found() -> None:
    case = Case(inputs={"table": np.arange(6.0).reshape(3, 2), "index": np.array([0, 2])})

    with pytest.raises(Violation, match="index may hold -100, and 100, and is refused where it holds both"):
        verify("F222", RowsAndForOr, case)


def test_a_gradient_that_knows_no_position_from_the_end_is_found() -> None:
    case = Case(inputs={"table": np.arange(6.0).reshape(3, 2), "index": np.array([0, 2])})

    with pytest.raises(
        Violation, match=r"gradient of table\[\d, 0\] is 0.0 for -\d in index, and not for \d"
    ):
        verify("F222", RowsWithoutGradientFromEnd, case)


@pytest.mark.parametrize("check", ["F222", "X804"])
def test_the_audit_notices_a_position_beyond_where_numpy_refuses_it(check: str) -> None:
    """F222 passes, and the audit finds that it would not if one position more were taken."""
    (outcome,) = check_operator(PickedElement, checks=[check], profile=FEW).outcomes

    assert outcome.status is Status.PASSED, outcome
