"""What is asked of an output, carried out."""

from __future__ import annotations

import numpy as np
import pytest

from operad.op import OpReq, assign


@pytest.mark.parametrize(
    ("req", "expected"),
    [(OpReq.NULL, [7, 7]), (OpReq.WRITE, [1, 2]), (OpReq.INPLACE, [1, 2]), (OpReq.ADD, [8, 9])],
)
def test_each_request_does_its_own(req, expected):
    out = np.array([7.0, 7.0])
    assign(out, req, np.array([1.0, 2.0]))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("req", [OpReq.WRITE, OpReq.ADD])
def test_a_wider_value_is_cast_and_a_smaller_one_broadcast(req):
    out = np.zeros((2, 3), np.float32)
    assign(out, req, np.array([[1.0], [2.0]], np.float64))
    np.testing.assert_array_equal(out, np.repeat(np.array([[1], [2]], np.float32), 3, axis=1))


def test_a_plain_number_is_added():
    out = np.array([1.0, 2.0])
    assign(out, OpReq.ADD, 3)
    np.testing.assert_array_equal(out, [4, 5])
