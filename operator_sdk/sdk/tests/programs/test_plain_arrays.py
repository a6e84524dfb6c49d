"""Functions that fill arrays which NumPy makes."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import BackwardArrays, ForwardArrays, OpContext, OpReq
from operad_sdk import OperatorProperty, operator
from operad_sdk.programs.operator import ProgramOperator
from operad_sdk.vector import reason_against

pytestmark = pytest.mark.skipif(bool(reason_against()), reason="there is no vector code")

SINGLE = np.dtype(np.float32)
TRAINING = OpContext(cpu(), is_train=True)


def made(part, data):
    return ProgramOperator((part,), PlainArrays(), cpu(), [data.shape], [data.dtype])


def part_of(data, count):
    """As authors write what two functions need: NumPy makes an array, and parts of it are filled."""
    made = np.zeros((len(data), count), np.asarray(data).dtype)
    made[:, ::2] = np.sort(data, axis=1)[:, ::2]
    return made


@operator("program_plain_arrays")
class PlainArrays(OperatorProperty):
    """Fills arrays that NumPy makes, and asks NumPy for arrays of arrays."""

    spec = "data:(N, D) -> output:(N, D)"
    accepts = "floating"

    def forward(data):
        made = part_of(np.ascontiguousarray(data), data.shape[1])
        made[:, 1::2] = np.array(data)[:, 1::2]
        out = np.tanh(made, out=np.empty(data.shape, data.dtype))
        return out * 3 + np.full(data.shape, 0.5, data.dtype)

    def data_grad(output_grad, data):
        slope = np.empty(data.shape, data.dtype)
        slope[...] = output_grad
        slope[:, 0] = 0
        return slope * np.exp(-data * data)


@pytest.mark.more
def test_arrays_that_numpy_makes_are_filled_as_those_of_the_trace():
    data, head = np.random.default_rng(0).standard_normal((2, 512, 64)).astype(SINGLE)
    found, slope = np.empty_like(data), np.empty_like(data)
    made("forward", data).forward(TRAINING, ForwardArrays([data], [OpReq.WRITE], [found]))
    arrays = BackwardArrays([head], [data], [None], [OpReq.WRITE], [slope])
    made("data_grad", data).backward(TRAINING, arrays)

    plain = vars(PlainArrays)
    np.testing.assert_allclose(found, plain["forward"](data), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(slope, plain["data_grad"](head, data), rtol=1e-6, atol=1e-6)
    assert part_of.__globals__["np"] is np
