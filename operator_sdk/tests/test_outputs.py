from __future__ import annotations

import numpy as np
import pytest

from operad.operator import OpReq
from operad_sdk import Output
from operad_sdk.outputs import Absent


def output(req):
    array = np.ones((2, 3), np.float32)
    return array, Output(array, req)


@pytest.mark.parametrize(
    ("req", "expected"), [(OpReq.NULL, 1), (OpReq.WRITE, 5), (OpReq.INPLACE, 5), (OpReq.ADD, 6)]
)
def test_assign_applies_the_request(req, expected):
    array, out = output(req)
    out.assign(np.full((2, 3), 5, np.float64))
    np.testing.assert_array_equal(array, expected)
    assert array.dtype == np.float32


def test_assign_broadcasts():
    array, out = output(OpReq.ADD)
    out.assign([1, 2, 3])
    np.testing.assert_array_equal(array, [[2, 3, 4]] * 2)


@pytest.mark.parametrize(
    ("req", "expected"), [(OpReq.NULL, 1), (OpReq.WRITE, 5), (OpReq.INPLACE, 5), (OpReq.ADD, 6)]
)
def test_writing_applies_the_request(req, expected):
    array, out = output(req)
    with out.writing() as target:
        target[...] = 5
    np.testing.assert_array_equal(array, expected)


def test_writing_gives_the_output_itself_where_it_may():
    for req, is_itself in [
        (OpReq.WRITE, True),
        (OpReq.INPLACE, True),
        (OpReq.ADD, False),
        (OpReq.NULL, False),
    ]:
        array, out = output(req)
        with out.writing() as target:
            assert (target is array) == is_itself
            assert (target.shape, target.dtype) == (array.shape, array.dtype)
            target[...] = 0


def test_error_while_writing_adds_nothing():
    array, out = output(OpReq.ADD)
    with pytest.raises(ZeroDivisionError), out.writing() as target:
        target[...] = 1 // 0
    np.testing.assert_array_equal(array, 1)


def test_unwanted_output_needs_no_array():
    out = Output(None, OpReq.NULL, Absent((2,), np.dtype("float32"), np))
    assert not out.wanted
    out.assign(3)
    with out.writing() as scratch:
        scratch[...] = 1
    assert (out.shape, out.ndim, out.dtype, out.array) == ((2,), 1, np.float32, None)
