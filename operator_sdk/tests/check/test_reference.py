"""What a declared reference is called with."""

from __future__ import annotations

import numpy as np

from operad_sdk import Contract, OperatorProperty, operator, param
from operad_sdk.check import Profile, check_operator

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
