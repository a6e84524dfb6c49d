"""Faults that are put into operators."""

from __future__ import annotations

import pytest

from operad.resource import ResourceRequest
from operad_check import Status, check_operator
from operad_sdk import Contract, Distribution, OperatorProperty, operator, param


@operator("faults_die")
class Die(OperatorProperty):
    """Throws of a die, which are integers and nothing else.

    Shapes:
        output: `shape`.
    """

    shape = param("shape", (200,), doc="Shape of the output.")
    spec = "-> output:int32(*shape)"
    resource = ResourceRequest.RANDOM
    contract = Contract(
        params={"shape": ((200,),)},
        distribution=Distribution(mean=lambda prop: 3.5, variance=lambda prop: 35 / 12),
    )

    def forward(op_ctx, shape):
        """From 1 to 6."""
        return op_ctx.requested[0].generator.integers(1, 7, shape, dtype="int32")


@pytest.mark.parametrize("check", ["F218", "X804"])
def test_whole_numbers_that_are_off_are_noticed(check: str) -> None:
    """F218 passes on the right draws, and the audit X804 finds that it would not pass on wrong ones."""
    (outcome,) = check_operator(Die, checks=[check]).outcomes
    assert outcome.status is Status.PASSED, outcome
