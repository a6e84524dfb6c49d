"""Kernels beside each other."""

from __future__ import annotations

import numpy as np

from operad_sdk import OperatorProperty, operator
from operad_sdk.check import Profile, check_operator

FEW = Profile("few", examples=30, seconds=1.0)


def test_a_kernel_that_is_never_chosen_for_some_types_need_not_run_in_place_there():
    """Of whole numbers the second kernel is always chosen; the first cannot write quotients into them."""

    @operator("precision_half")
    class Half(OperatorProperty):
        """Half of each number, of whole ones rounded towards zero."""

        spec = "data:(*S) -> output:(*S)"
        accepts = "number"
        inplace = "data -> output"

        def forward(data, output):
            np.divide(data, 2, out=output)

        def data_grad(output_grad):
            return output_grad / 2

    @Half.kernel(priority=1, when=lambda prop, in_shapes, in_types: in_types[0].kind in "iu", name="whole")
    def _(data, output):
        np.floor_divide(data - np.fmod(data, 2), 2, out=output)

    (outcome,) = check_operator(Half, checks=["D606"], profile=FEW).outcomes
    assert outcome.status == "does not apply", (outcome.status, outcome.reason, outcome.failure)
