"""The property's defaults and the shape arithmetic beside it."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.operators import Dense, SineCosine, SquareLoss
from operad.device import cpu
from operad.errors import DTypeError, GradientError
from operad.op import BackwardArrays, Operator, OperatorProperty, OpReq
from operad.op.req import assign

FLOAT32, FLOAT64 = np.dtype("float32"), np.dtype("float64")


class Plain(OperatorProperty):
    """All defaults."""

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []


class Quiet(Operator):
    """No gradient."""

    def forward(self, op_ctx, arrays):
        pass


def test_defaults_describe_a_unary_operator():
    prop = Plain()
    assert (Plain.name, prop.list_arguments(), prop.list_outputs()) == ("Plain", ["data"], ["output"])
    assert prop.list_auxiliary_states() == []
    assert prop.num_visible_outputs == 1
    assert prop.differentiable_inputs() == [True]
    assert prop.forward_inplace_option([0], [0]) == prop.backward_inplace_option([0], [1], [2], [3]) == []


def test_kernels_are_each_classs_own():
    assert Plain.kernels is not OperatorProperty.kernels
    assert type("Derived", (Dense,), {}).kernels == []


def test_the_default_dependency_is_everything_visible():
    reads = [(read.kind, read.index) for read in Plain().backward_dependency([True])]
    assert reads == [("out_grad", 0), ("in_data", 0), ("out_data", 0)]
    assert [read.kind for read in SineCosine().backward_dependency([True])].count("out_grad") == 2
    assert {read.kind for read in SquareLoss().backward_dependency([True, False])} == {"out_data", "in_data"}


def test_one_type_throughout_by_default():
    prop = Dense(num_hidden=2)
    assert prop.infer_type([None, FLOAT64, None]) == ([FLOAT64] * 3, [FLOAT64], [])
    assert prop.infer_type([None] * 3) == ([None] * 3, [None], [])
    with pytest.raises(DTypeError, match=r"Dense: .*data: float32, weight: float64.*astype"):
        prop.infer_type([FLOAT32, FLOAT64, None])


def test_the_cost_grows_with_the_arrays():
    prop = Plain()
    assert prop.cost([(2, 3)], [(6,)]) == 12
    assert prop.cost([()], [(0, 5)]) == 1


def test_an_operator_without_a_gradient_says_so():
    with pytest.raises(GradientError, match="Quiet computes no gradient"):
        Quiet().backward(None, BackwardArrays([], [], [], [], []))


@pytest.mark.parametrize("value", [3, np.float64([1, 2]), np.float32([1])])
def test_requests_are_applied(value):
    results = {}
    for req in OpReq:
        out = np.float32([10, 20])
        assign(out, req, value)
        results[req] = out
    new = np.broadcast_to(np.float32(value), 2)
    np.testing.assert_array_equal(results[OpReq.NULL], [10, 20])
    np.testing.assert_array_equal(results[OpReq.WRITE], new)
    np.testing.assert_array_equal(results[OpReq.INPLACE], new)
    np.testing.assert_array_equal(results[OpReq.ADD], new + np.float32([10, 20]))


def test_no_kernel_lists_every_candidate():
    prop = Plain()
    with pytest.raises(
        Exception, match=r"Plain: no kernel for shapes \[\(2,\)\] of types \[float32\].*no kernels"
    ):
        prop.create_operator(cpu(), [(2,)], [FLOAT32])
