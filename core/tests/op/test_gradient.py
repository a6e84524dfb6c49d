"""The gradient of an operator that is written in MXNet's own style, as an operator."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from core.tests.operators import OfOne, OfTwo
from operad.device import cpu
from operad.errors import GradientError
from operad.op import (
    BackwardEntry,
    Cost,
    ForwardArrays,
    Gradient,
    Kernel,
    OpContext,
    Operator,
    OperatorProperty,
    OpReq,
    assign,
)
from operad.resource import ResourceRequest

F64 = np.dtype(np.float64)
A, B, G = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.array([1.0, 10.0, 100.0])


class _Scaled(Operator):
    def __init__(self, prop, ctx, in_shapes, in_types):
        pass

    def forward(self, op_ctx, arrays):
        assign(
            arrays.out_data[0], arrays.req[0], arrays.in_data[0] * arrays.in_data[1] * arrays.aux_states[0]
        )

    def backward(self, op_ctx, arrays):
        assert arrays.out_data == [None]
        assert len(arrays.in_grad) == 3
        for place, other in enumerate((1, 0)):
            assert (arrays.in_data[other] is None) == (arrays.req[place] is OpReq.NULL)
            if arrays.req[place] is not OpReq.NULL:
                assign(
                    arrays.in_grad[place],
                    arrays.req[place],
                    arrays.out_grad[0] * arrays.in_data[other] * arrays.aux_states[0],
                )


class Scaled(OperatorProperty):
    """`lhs * rhs`, with a label that nothing depends on, times a state."""

    kernels: ClassVar = [Kernel("numpy", _Scaled)]
    multiplies = ("lhs", "rhs")

    def list_arguments(self):
        return ["lhs", "rhs", "label"]

    def list_auxiliary_states(self):
        return ["scale"]

    def infer_shape(self, in_shapes):
        known = next((shape for shape in in_shapes[:2] if shape is not None), None)
        return [known, known, in_shapes[2]], [known], [(1,)]

    def infer_shape_backward(self, in_shapes, out_shapes):
        return [out_shapes[0], out_shapes[0], in_shapes[2]]

    def differentiable_inputs(self):
        return [True, True, False]

    def backward_dependency(self, wanted):
        data = [BackwardEntry("in_data", 1 - place) for place in (0, 1) if wanted[place]]
        return [BackwardEntry("out_grad", 0), *data]

    def backward_inplace_option(self, out_grad, in_data, out_data, in_grad):
        return [(out_grad[0], in_grad[1]), (in_data[0], in_grad[0])]

    def backward_resource(self, in_shapes):
        return [ResourceRequest.TEMP_SPACE] if len(in_shapes) == 3 else []

    def cost(self, in_shapes, out_shapes):
        return Cost(loops=float(in_shapes[2][0]), flops=float(out_shapes[0][0]))


@pytest.fixture
def gradient():
    return Gradient(Scaled(), (False, True, False))


def test_its_arguments_are_what_is_read_and_then_what_it_is_like(gradient):
    assert gradient.list_arguments() == ["output_grad", "lhs", "rhs", "label"]
    assert gradient.num_unread == 2
    assert gradient.list_outputs() == ["rhs_grad"]
    assert gradient.list_auxiliary_states() == ["scale"]
    assert gradient.name == "_backward_Scaled"


def test_shapes_follow_in_both_directions(gradient):
    ins, outs, aux = gradient.infer_shape([None, (3,), None, (7,)])
    assert (ins, outs, aux) == ([(3,), (3,), (3,), (7,)], [(3,)], [(1,)])
    assert gradient.infer_shape_backward([(3,), None, None, (7,)], [None]) == [(3,), (3,), (3,), (7,)]
    assert gradient.infer_shape_backward([None, None, None, (7,)], [(3,)])[0] is None


def test_pairs_in_place_are_those_of_backward_that_it_has(gradient):
    assert gradient.forward_inplace_option("glxy", ["out"]) == [("g", "out")]


def test_resources_and_cost_are_those_of_backward(gradient):
    shapes = [(3,), (3,), (3,), (7,)]
    assert gradient.forward_resource(shapes) == [ResourceRequest.TEMP_SPACE]
    assert gradient.cost(shapes, [(3,)]) == Cost(14.0, 3.0)
    assert Gradient(Scaled(), (True, True, False)).cost(shapes, [(3,)] * 2) == Cost(14.0, 6.0)


@pytest.mark.parametrize("request_", [OpReq.WRITE, OpReq.ADD])
def test_its_forward_is_backward(gradient, request_):
    operator = gradient.create_operator(cpu(), [(3,)] * 4, [F64] * 4)
    out = np.ones(3)
    operator.forward(
        OpContext(cpu(), True), ForwardArrays([G, A, None, None], [request_], [out], [np.array([2.0])])
    )
    np.testing.assert_array_equal(out, 2 * G * A + (request_ is OpReq.ADD))


def test_gradients_flow_to_what_backward_reads_and_not_to_what_it_is_like(gradient):
    assert gradient.differentiable_inputs() == [True, True, False, False]


def test_a_gradient_of_a_gradient_that_keeps_a_state_is_refused():
    kind = type("Scaled", (Scaled,), {"is_stateful": True, "name": "Scaled"})
    second = Gradient(Gradient(kind(), (False, True, False)), (True, True, False, False))
    count = len(second.list_arguments())
    with pytest.raises(GradientError, match="the gradient of Scaled cannot be differentiated: it has states"):
        second.create_operator(cpu(), [(3,)] * count, [F64] * count)


class _Slope(Operator):
    """The gradient of the square, and that of the gradient, which reads the gradient itself."""

    def __init__(self, prop, ctx, in_shapes, in_types):
        pass

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], 2 * arrays.in_data[0] * arrays.in_data[1])

    def backward(self, op_ctx, arrays):
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] * arrays.out_data[0] / arrays.in_data[0])
        assign(arrays.in_grad[1], arrays.req[1], arrays.out_grad[0] * arrays.out_data[0] / arrays.in_data[1])


class Slope(OfTwo):
    """The gradient of `Square`."""

    kernels: ClassVar = [Kernel("numpy", _Slope)]
    arguments = ("output_grad", "data")


class Square(OfOne):
    """Says what its gradient is as an operator."""

    def gradient_operator(self, ctx, in_shapes, in_types, wanted):
        return Slope()


def test_a_gradient_that_the_second_one_reads_is_computed_once_more():
    second = Gradient(Gradient(Square(), (True,)), (True, True))
    assert second.list_arguments() == ["data_grad_grad", "output_grad", "data"]
    operator = second.create_operator(cpu(), [(3,)] * 3, [F64] * 3)
    outs = [np.empty(3), np.empty(3)]
    operator.forward(OpContext(cpu(), True), ForwardArrays([G, A, B], [OpReq.WRITE] * 2, outs))
    np.testing.assert_allclose(outs, [2 * G * B, 2 * G * A])
