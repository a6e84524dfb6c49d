from __future__ import annotations

import numpy as np
import pytest

from operad_check.comparison.closeness import expect_close
from operad_check.trials.violation import Violation


@pytest.mark.parametrize(
    ("found", "expected"), [(7.0, np.inf), (np.inf, -np.inf), (np.inf, 7.0), (np.nan, np.inf)]
)
def test_nothing_but_the_same_infinity_is_close_to_one(found, expected):
    with pytest.raises(Violation):
        expect_close(["output"], [np.array([found])], [np.array([expected])], "", (1e-3, 1e-3))


def test_equal_infinities_and_nan_are_close():
    both = [np.array([np.inf, -np.inf, np.nan])]
    assert expect_close(["output"], both, both, "", (1e-3, 1e-3)) == 3
