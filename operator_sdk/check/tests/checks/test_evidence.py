from __future__ import annotations

import numpy as np
import pytest

from operad_check import check_operator
from operad_check.plan.profile import Profile
from operad_sdk import OperatorProperty, operator


@operator("audit_product")
class Product(OperatorProperty):
    """The product of all elements: exact for most of the short numbers that are drawn."""

    spec = "data:(...) -> output:(1)"
    accepts = "floating"

    def forward(data, output):
        output[...] = np.prod(data)

    def data_grad(output_grad, data):
        others = [np.prod(np.delete(data.reshape(-1), i)) for i in range(data.size)]
        return output_grad * np.array(others, data.dtype).reshape(data.shape)


@pytest.mark.parametrize("seed", [0, 1, 45])
def test_a_fault_that_shows_when_arguments_move_is_noticed_where_it_does_not_show_at_once(seed) -> None:
    # With seed 45 one case differs in single precision, and there no movement is large enough.
    report = check_operator(Product, checks=["X804"], profile=Profile("few", 12, 0.1, seed=seed))
    assert [outcome.red_id for outcome in report.outcomes if outcome.red_id] == []
