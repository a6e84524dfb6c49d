"""What a declared reference is called with."""

from __future__ import annotations

import numpy as np

from operad_check import Profile, check_operator
from operad_sdk import Contract, OperatorProperty, operator, param

FEW = Profile("few", examples=5, seconds=1.0)


@operator("reference_counted")
class Counted(OperatorProperty):
    """Write its number into each of many states."""

    count = param(int, ge=1, doc="How many there are.")
    spec = "state data_[count]:(*S[i]) -> done:float32(1)"
    has_gradient = False
    contract = Contract(
        dtypes=("float32",),
        params={"count": (8,)},
        reference=lambda **data: (
            np.zeros(1), *(np.full_like(array, place) for place, array in enumerate(data.values()))
        ),
    )  # fmt: skip

    def forward(data_, done):
        for place, array in enumerate(data_):
            array.fill(place)
        done.fill(0)


def test_states_come_by_keyword_in_their_order():
    report = check_operator(Counted, checks=["F213", "X805"], profile=FEW)
    assert report.red_ids == []
    compared = next(outcome for outcome in report.outcomes if outcome.check_id == "F213").evidence
    assert {f"data_{place}" for place in range(8)} <= set(compared)


def inverted(name, **declared):
    @operator(name)
    class Inverted(OperatorProperty):
        """Copy, and keep `1 / data` in a state, which is infinite for zeros."""

        accepts = ("float32",)
        spec = "data:(N + 4), state kept:(N + 4) -> output:(N + 4)"
        has_gradient = False
        contract = Contract(no_numeric_gradient="it has none", **declared)

        def forward(data, kept):
            with np.errstate(divide="ignore"):
                np.divide(1, data, out=kept)
            return data

    return Inverted


def test_a_state_that_is_infinite_by_the_reference_too_is_meant():
    alone = check_operator(inverted("reference_less_inverted"), checks=["F219"], profile=FEW)
    assert alone.red_ids == ["F219"]
    beside = inverted("reference_inverted", reference=lambda data, kept: (data, 1 / data))
    assert check_operator(beside, checks=["F219"], profile=FEW).red_ids == []
