"""Scratch memory that the checks lend to operators."""

from __future__ import annotations

import numpy as np
import pytest

from operad.errors import OutOfMemoryError
from operad_check import check_operator
from operad_check.trials.resources import FilledSpace
from operad_sdk import OperatorProperty, ResourceRequest, operator, param


@pytest.mark.parametrize("length", [1 << 46, 1 << 61, 1 << 70])
def test_space_that_no_machine_has_is_refused_as_an_engine_refuses_it(length: int) -> None:
    with pytest.raises(OutOfMemoryError, match=r"no memory for [\d,]+ bytes"):
        FilledSpace().get_space((length, 4), np.dtype("float32"))


def test_scratch_memory_that_grows_with_a_parameter_is_no_fault_of_a_check() -> None:
    @operator("resources_scratch")
    class Scratch(OperatorProperty):
        """A copy through scratch memory, of which there is much where the parameter is large."""

        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"
        width = param(int, 1, ge=1, doc="Elements of scratch memory for each of the data's.")
        resource = ResourceRequest.TEMP_SPACE

        def forward(op_ctx, data, width, output):
            space = op_ctx.requested[0].get_space((width**4, *data.shape), data.dtype)[0]
            np.copyto(space, data)
            np.copyto(output, space)

    report = check_operator(Scratch, checks=["S112"])
    assert report.broken_ids == []
    assert report.red_ids == []
