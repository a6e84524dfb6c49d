"""Functions that fill what they are given."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from operad.context import cpu
from operad.operator import BackwardArrays, ForwardArrays, OpContext, OpReq
from operad_sdk import OperatorProperty, operator

X = np.array([[0.5, -1.0], [2.0, 3.0]])


def made(shape, **members):
    """A kernel of the class that has `members`."""
    cls = operator("op")(type("Op", (OperatorProperty,), members))
    return cls().create_operator(cpu(), [shape], [X.dtype])


def prepared(call):
    """The author's function and its values, where nothing else is called."""
    assert isinstance(call, partial)
    return call.func, call.args


def test_a_prepared_call_of_a_function_that_fills_is_that_function_alone():
    def forward(data, output):
        output[...] = data

    def data_grad(output_grad, data_grad):
        data_grad[...] = output_grad

    op = made((2,), spec="data:(N) -> output:(N)", forward=forward, data_grad=data_grad)
    context, data, out = OpContext(cpu(), True), X[0], np.empty(2)
    function, values = prepared(op.prepare_forward(context, ForwardArrays([data], [OpReq.WRITE], [out])))
    assert (function, values[0] is data, values[1] is out) == (forward, True, True)
    call = op.prepare_backward(context, BackwardArrays([data], [None], [None], [OpReq.WRITE], [out]))
    assert prepared(call)[0] is data_grad


def test_an_error_in_a_function_that_fills_adds_nothing():
    def forward(data, output):
        output[...] = 7
        raise ZeroDivisionError

    op = made((2,), spec="data:(N) -> output:(N)", forward=forward)
    out = np.ones(2)
    with pytest.raises(ZeroDivisionError):
        op.forward(OpContext(cpu(), True), ForwardArrays([X[0]], [OpReq.ADD], [out]))
    assert out.tolist() == [1, 1]


def test_a_function_that_fills_gets_memory_where_nothing_is_wanted():
    given = []

    def forward(data, output, mask):
        given.append((mask.shape, mask.dtype))
        output[...] = mask[...] = 0

    op = made((2, 2), spec="data:(N, D) -> output:(N, D), hidden mask:uint8(N)", forward=forward)
    op.forward(
        OpContext(cpu(), True), ForwardArrays([X], [OpReq.WRITE, OpReq.NULL], [np.empty((2, 2)), None])
    )
    assert given == [((2,), np.uint8)]


def test_a_forward_function_may_be_fitted_to_its_arrays():
    def doubled(data, output):
        np.multiply(data, 2, output)

    class Fitted:
        """Doubles four elements or less, and says so; more are left as they are."""

        names = ("data", "output")

        def fitted(self, in_shapes, in_types):
            return doubled if in_shapes[0][0] <= 4 else self

        def __call__(self, data, output):
            np.copyto(output, data)

    prop = type("FittedOp", (OperatorProperty,), {"spec": "data:(N) -> output:(N)", "forward": Fitted()})()
    for count, factor in ((4, 2), (5, 1)):
        data, out = np.ones(count), np.empty(count)
        made = prop.create_operator(cpu(), [(count,)], [data.dtype])
        made.prepare_forward(OpContext(cpu(), True), ForwardArrays([data], [OpReq.WRITE], [out]))()
        np.testing.assert_array_equal(out, factor * data)
