"""Operators and their calls as templates."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import cpu
from operad.errors import GradientError
from operad.op import BackwardArrays, ForwardArrays, OpContext, Operator, OpReq, assign

RUN = OpContext(cpu(), True)


class Adding(Operator):
    """`x + state`, and the state counts its runs; the gradient hands the head gradient on."""

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] + arrays.aux_states[0])
        arrays.aux_states[0][...] += 1

    def backward(self, op_ctx, arrays):
        assert arrays.out_data == [None, None]
        assign(arrays.in_grad[0], arrays.req[0], arrays.out_grad[0] + len(arrays.out_grad))


class Direct(Operator):
    """Squares; by NumPy alone where the request allows."""

    direct = staticmethod(np.square)

    def forward(self, op_ctx, arrays):
        assign(arrays.out_data[0], arrays.req[0], arrays.in_data[0] ** 2)


def array(value):
    return np.full(2, value, "f4")


def test_a_prepared_forward_reads_and_writes_the_arrays_at_each_call():
    x, out, state = array(3), array(0), array(10)
    call = Adding().prepare_forward(RUN, ForwardArrays([x], [OpReq.WRITE], [out], [state]))
    call()
    x[...] = 4
    call()
    assert (out[0], state[0]) == (15, 12)


def test_a_prepared_backward_has_nothing_for_hidden_outputs_and_what_is_not_read():
    grad = array(0)
    call = Adding().prepare_backward(
        RUN, BackwardArrays([array(5)], [None], [None, None], [OpReq.ADD], [grad], [array(0)])
    )
    call()
    assert grad[0] == 5 + 2


def test_a_direct_function_is_the_template_itself_unless_something_is_added():
    (template,) = Direct().forward_templates(RUN, [OpReq.WRITE], 1, 0)
    assert template.function is np.square
    (template,) = Direct().forward_templates(RUN, [OpReq.ADD], 1, 0)
    assert template.function is not np.square
    out = array(1)
    Direct().prepare_forward(RUN, ForwardArrays([array(3)], [OpReq.ADD], [out]))()
    assert out[0] == 10


def test_an_operator_without_a_gradient_says_what_its_property_lacks():
    with pytest.raises(
        GradientError, match="Direct computes no gradient; its property must set has_gradient"
    ):
        Direct().backward(RUN, BackwardArrays([array(1)], [array(1)], [None], [OpReq.WRITE], [array(0)]))


def test_operators_are_alike_where_their_templates_name_nothing_but_themselves():
    class Templated(Adding):
        def forward_templates(self, op_ctx, req, num_inputs, num_states):
            return super().forward_templates(op_ctx, req, num_inputs, num_states)

    assert Adding().is_alike(Adding())
    assert not Adding().is_alike(Direct())
    assert not Direct().is_alike(Direct())
    assert not Templated().is_alike(Templated())
