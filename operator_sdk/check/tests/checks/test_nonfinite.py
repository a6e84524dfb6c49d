"""NaN in the arguments."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import Case, verify
from operad_check.trials.violation import Violation
from operad_sdk import Contract, OperatorProperty, operator


@operator("nonfinite_chosen_rows")
class ChosenRows(OperatorProperty):
    """The rows for which a mask is not 0."""

    spec = "data:(N, D), mask:any(N) -> output:(R, D)"
    is_shaped_by_values = True
    contract = Contract(nan_policy="a NaN in a row that is not chosen does not show")
    count = None

    def for_values(self, in_data):
        chosen = type(self)()
        chosen.is_shaped_by_values = False
        chosen.count = int(np.count_nonzero(in_data[1]))
        return chosen

    def infer_shape(self, in_shapes):
        (data, mask), [output], states = super().infer_shape(in_shapes)
        return [data, mask], [output if self.count is None else (self.count, data[1])], states

    def forward(data, mask):
        return data[mask != 0]


def test_a_nan_that_decides_a_shape_is_given_to_an_operator_made_for_it():
    inputs = {"data": np.ones((3, 1), "float32"), "mask": np.array([1, 1, 0], "float32")}
    assert verify("F212", ChosenRows, Case(inputs=inputs))


def test_a_value_that_decides_a_shape_need_not_show():
    ChosenRows.contract = Contract()
    inputs = {"data": np.ones((1, 1), "float32"), "mask": np.array([2.0**-6], "float32")}
    assert verify("F212", ChosenRows, Case(inputs=inputs))


@pytest.mark.parametrize("is_right", [True, False])
def test_a_truth_beside_an_infinity_is_that_of_the_reference(is_right: bool):
    @operator("nonfinite_all_close")
    class AllClose(OperatorProperty):
        """True if no element is further off than half of the other's size."""

        spec = "lhs:(*S), rhs:(*S) -> output:uint8()"
        contract = Contract(
            nan_policy="NaN is close to nothing",
            reference=lambda lhs, rhs: np.all((abs(lhs - rhs) <= abs(rhs) / 2) & np.isfinite(rhs)),
        )

        def forward(lhs, rhs):
            return np.all((np.abs(lhs - rhs) <= np.abs(rhs) / 2) & (np.isfinite(rhs) | (not is_right)))

    case = Case(inputs={"lhs": np.ones(1, "float32"), "rhs": np.ones(1, "float32")})
    if is_right:
        assert verify("F212", AllClose, case)
    else:
        with pytest.raises(Violation, match=r"where rhs\[0\] is inf"):
            verify("F212", AllClose, case)
