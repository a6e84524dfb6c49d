"""Operators of several kernels: their arrays in the places of all, and each gradient by its own."""

from __future__ import annotations

import numpy as np
import pytest

from operad.device import cpu
from operad.op.context import OpContext
from operad.op.operator import BackwardArrays, ForwardArrays, Operator
from operad.op.parts import KernelOperator, PartsOperator
from operad.op.req import OpReq

RUN = OpContext(cpu(), True)


def ones(count):
    return [np.ones(2, "f4") for _ in range(count)]


class Recorder(Operator):
    """Notes what it is given."""

    def __init__(self):
        self.seen = []

    def forward(self, op_ctx, arrays):
        self.seen.append(
            (list(arrays.in_data), list(arrays.req), list(arrays.out_data), list(arrays.aux_states))
        )

    def backward(self, op_ctx, arrays):
        self.seen.append((op_ctx.requested, list(arrays.in_data), list(arrays.out_data), list(arrays.req)))
        for target, request in zip(arrays.in_grad, arrays.req, strict=True):
            if request is not OpReq.NULL:
                target[...] = 7


def test_a_kernel_sees_its_own_arrays_in_its_own_order():
    inner = Recorder()
    operator = KernelOperator(inner, ins=[1, None, 0])
    (first, second), outs, states = ones(2), ones(2), ones(1)
    operator.forward(RUN, ForwardArrays([first, second], [OpReq.ADD, OpReq.WRITE], outs, states))
    ((ins, req, own_outs, own_states),) = inner.seen
    assert [array is known for array, known in zip(ins, [second, None, first], strict=True)] == [True] * 3
    assert req == [OpReq.ADD, OpReq.WRITE]
    assert [array is known for array, known in zip(own_outs, outs, strict=True)] == [True] * 2
    assert own_states[0] is states[0]


def test_a_kernel_of_gradients_gets_the_resources_that_are_its_own():
    inner = Recorder()
    operator = KernelOperator(inner, ins=[0], requested=slice(1, 2))
    run = OpContext(cpu(), True, ("forward's", "its own", "another's"))
    operator.backward(run, BackwardArrays(ones(1), ones(1), ones(1), [OpReq.WRITE], ones(1)))
    assert inner.seen[0][0] == ("its own",)


def parts(gradients, missing=None):
    return PartsOperator(
        Recorder(),
        {frozenset(places): lambda _, made=made: made for places, made in gradients},
        missing or {},
    )


def run_backward(operator, requests):
    grads = [np.full(2, np.nan, "f4") for _ in requests]
    operator.backward(RUN, BackwardArrays(ones(1), ones(len(requests)), ones(1), requests, grads))
    return [float(grad[0]) for grad in grads]


def test_each_gradient_is_computed_by_its_own_kernel_and_asked_for_alone():
    left, right = Recorder(), Recorder()
    operator = parts([([0], left), ([1, 2], right)])
    assert run_backward(operator, [OpReq.WRITE, OpReq.NULL, OpReq.WRITE])[::2] == [7, 7]
    assert left.seen[0][3] == [OpReq.WRITE, OpReq.NULL, OpReq.NULL]
    assert right.seen[0][3] == [OpReq.NULL, OpReq.NULL, OpReq.WRITE]


def test_a_kernel_of_which_no_gradient_is_wanted_is_not_called():
    left, right = Recorder(), Recorder()
    run_backward(parts([([0], left), ([1], right)]), [OpReq.WRITE, OpReq.NULL])
    assert (len(left.seen), right.seen) == (1, [])


def test_a_gradient_that_is_none_of_theirs_is_zero():
    assert run_backward(parts([([0], Recorder())]), [OpReq.WRITE, OpReq.WRITE]) == [7, 0]


def test_a_gradient_that_no_kernel_computes_raises_where_it_is_wanted_and_only_there():
    operator = parts([([0], Recorder())], {1: lambda: KeyError("rhs_grad")})
    assert run_backward(operator, [OpReq.WRITE, OpReq.NULL])[0] == 7
    with pytest.raises(KeyError, match="rhs_grad"):
        run_backward(operator, [OpReq.WRITE, OpReq.WRITE])


class Valued(Recorder):
    """Computes with a number, and takes others that are not negative."""

    def __init__(self, number=1.0):
        super().__init__()
        self.number = number
        self.direct_with_values = lambda *args: None

    def run_time_values(self, values):
        return (values[0] * 2,)

    def rebound(self, prop):
        return None if prop < 0 else Valued(prop)


def valued(forward, made, **options):
    def make(prop):
        made.append(prop)
        return Valued(prop or 1.0)

    return PartsOperator(forward, {frozenset([0]): make}, {}, **options)


def test_conditions_that_may_have_looked_at_run_time_values_are_asked_again():
    operator = valued(Valued(), [])
    assert operator.direct_with_values is None
    assert operator.rebound(3.0) is None


def test_other_run_time_values_are_computed_by_the_same_kernels_where_these_take_them():
    made = []
    operator = valued(Valued(), made, takes_values=True)
    assert operator.direct_with_values is not None
    assert operator.run_time_values((4.0,)) == (8.0,)
    assert operator.rebound(-1.0) is None
    other = operator.rebound(3.0).rebound(5.0)
    assert made == []
    for _ in range(2):
        run_backward(other, [OpReq.WRITE])
    assert made == [None]  # once, for all values
    assert [one.number for _, one in other._operators()] == [5.0]


def test_a_kernel_of_gradients_that_takes_no_such_value_is_made_for_it():
    class Willing(Valued):
        def rebound(self, prop):
            return Willing(prop)

    made = []
    other = valued(Willing(), made, takes_values=True).rebound(-2.0)
    run_backward(other, [OpReq.WRITE])
    assert made == [None, -2.0]
    assert [one.number for _, one in other._operators()] == [-2.0]


def test_kernels_of_gradients_are_made_when_a_gradient_is_wanted_and_once():
    made = []

    def make(prop):
        assert prop is None  # that of the choice
        made.append(Recorder())
        return made[-1]

    operator = PartsOperator(Recorder(), {frozenset([0]): make}, {})
    operator.forward(RUN, ForwardArrays(ones(1), [OpReq.WRITE], ones(1)))
    assert made == []
    for _ in range(2):
        run_backward(operator, [OpReq.WRITE])
    assert len(made) == 1
