"""The graph's own operators obey every request."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import cpu
from operad.graph import CrossDeviceCopy, GradAdd, ZerosLike
from operad.op import ForwardArrays, OpContext, OpReq

FLOAT32 = np.dtype(np.float32)


def run(op, arrays, req, out):
    operator = op.create_operator(cpu(), [array.shape for array in arrays], [FLOAT32] * len(arrays))
    operator.prepare_forward(OpContext(cpu(), is_train=True), ForwardArrays(arrays, [req], [out]))()
    return out


@pytest.mark.parametrize("req", [OpReq.NULL, OpReq.WRITE, OpReq.ADD])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_a_sum_obeys_its_request(req, count):
    arrays = [np.full(3, 2.0**i, np.float32) for i in range(count)]
    out = run(GradAdd(num_args=count), arrays, req, np.full(3, 5, np.float32))
    total = 2.0**count - 1
    np.testing.assert_array_equal(out, {OpReq.NULL: 5, OpReq.WRITE: total, OpReq.ADD: 5 + total}[req])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_sum_may_overwrite_its_first_argument(count):
    arrays = [np.full(3, 2.0**i, np.float32) for i in range(count)]
    run(GradAdd(num_args=count), arrays, OpReq.INPLACE, arrays[0])
    np.testing.assert_array_equal(arrays[0], 2.0**count - 1)


@pytest.mark.parametrize(("req", "expected"), [(OpReq.NULL, 5), (OpReq.WRITE, 0), (OpReq.ADD, 5)])
def test_zeros_obey_their_request(req, expected):
    out = run(ZerosLike(), [np.ones(3, np.float32)], req, np.full(3, 5, np.float32))
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("req", "expected"), [(OpReq.NULL, 5), (OpReq.WRITE, 2), (OpReq.ADD, 7)])
def test_a_copy_obeys_its_request(req, expected):
    out = run(CrossDeviceCopy(), [np.full(3, 2, np.float32)], req, np.full(3, 5, np.float32))
    np.testing.assert_array_equal(out, expected)


def test_shapes_are_alike_in_both_directions():
    op = GradAdd(num_args=2)
    assert op.infer_shape([(2, None), (None, 3)]) == ([(2, 3)] * 2, [(2, 3)], [])
    assert op.infer_shape_backward([None, None], [(4,)]) == [(4,), (4,)]


@pytest.mark.parametrize(
    ("op", "arrays"),
    [
        (GradAdd(num_args=1), [np.ones(3, np.float32)]),
        (GradAdd(num_args=2), [np.full(3, 2.0**i, np.float32) for i in range(2)]),
        (GradAdd(num_args=5), [np.full(3, 2.0**i, np.float32) for i in range(5)]),
        (ZerosLike(), [np.ones(3, np.float32)]),
        (ZerosLike(), [np.ones(3, np.int32)]),
    ],
)
def test_a_primitive_computes_its_scalar_form(op, arrays):
    form = op.scalar_form("forward", [(3,)] * len(arrays), [array.dtype for array in arrays])
    (found,) = form.evaluate(arrays, (3,))
    expected = run(op, arrays, OpReq.WRITE, np.empty(3, arrays[0].dtype))
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype


def test_the_gradient_of_a_sum_is_that_of_the_output_and_a_copy_between_devices_has_no_form():
    form = GradAdd(num_args=2).scalar_form("arg1_grad", [(3,)] * 2, [FLOAT32] * 2)
    head = np.arange(3, dtype=np.float32)
    np.testing.assert_array_equal(form.evaluate([head], (3,)), [head])
    assert "between devices" in CrossDeviceCopy().scalar_form("forward", [(3,)], [FLOAT32])
