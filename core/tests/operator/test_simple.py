"""Operators of one function."""

from __future__ import annotations

import numpy as np
import pytest

from operad.context import cpu
from operad.errors import ShapeError
from operad.operator import OGRAD, OUT, Gradient, OpContext, OpReq, SimpleOp, param, simple_property

FLOAT32 = np.dtype("float32")
A, G = np.float32([1, 2, 3]), np.float32([10, 20, 30])
CTX = OpContext(cpu(), is_train=True)


def square(**options):
    options = {"gradients": [Gradient(lambda g, x: 2 * g * x, [OGRAD, "data"], inplace=[OGRAD])], **options}
    return simple_property(SimpleOp("sq", ["data"], np.square, takes_out=True, **options))


def operator(prop, count=1, dtype=FLOAT32):
    return prop.create_operator(cpu(), [(3,)] * count, [dtype] * count)


@pytest.mark.parametrize(
    ("reads", "form"),
    [([], "T0"), ([OGRAD], "T0"), ([OGRAD, OUT], "T1"), ([OUT], "T1"), ([OGRAD, "data"], "T2")],
)
def test_the_form_follows_from_what_a_gradient_reads(reads, form):
    assert Gradient(lambda *args: None, reads).form == form


def test_the_dependency_is_exactly_what_wanted_gradients_read():
    multiply = SimpleOp(
        "mul", ["lhs", "rhs"], np.multiply,
        gradients=[Gradient(np.multiply, [OGRAD, "rhs"]), Gradient(np.multiply, [OGRAD, "lhs"])],
    )  # fmt: skip
    prop = simple_property(multiply)()
    for wanted, reads in {(True, False): "rhs", (False, True): "lhs"}.items():
        found = [(read.kind, read.index) for read in prop.backward_dependency(wanted)]
        assert found == [("out_grad", 0), ("in_data", ["lhs", "rhs"].index(reads))]
    assert len(prop.backward_dependency((True, True))) == 3


def test_in_place_options_are_those_declared():
    prop = square(inplace=["data"])()
    assert prop.forward_inplace_option(["x"], ["y"]) == [("x", "y")]
    assert prop.backward_inplace_option(["g"], ["x"], ["y"], ["dx"]) == [("g", "dx")]
    assert square()().forward_inplace_option(["x"], ["y"]) == []


def test_a_gradient_may_not_overwrite_what_a_later_one_reads():
    both = [
        Gradient(np.multiply, [OGRAD, "rhs"], inplace=[OGRAD]),
        Gradient(np.multiply, [OGRAD, "lhs"], inplace=[OGRAD]),
    ]
    prop = simple_property(SimpleOp("mul", ["lhs", "rhs"], np.multiply, gradients=both))()
    assert prop.backward_inplace_option(["g"], ["a", "b"], ["y"], ["da", "db"]) == [("g", "db")]


@pytest.mark.parametrize("takes_out", [True, False])
@pytest.mark.parametrize("req", list(OpReq))
def test_every_request_is_met(takes_out, req):
    double = lambda x, out=None: np.multiply(x, 2, out=out)  # noqa: E731
    op = SimpleOp(
        "double",
        ["data"],
        double,
        takes_out=takes_out,
        gradients=[Gradient(double, [OGRAD], takes_out=takes_out)],
    )
    run = operator(simple_property(op)())
    base = np.float32([100, 100, 100])
    expected = {OpReq.NULL: base, OpReq.ADD: base + 2 * A}.get(req, 2 * A)
    forward = base.copy()
    run.forward(CTX, [A], [req], [forward], [])
    prepared = base.copy()
    run.prepare_forward(CTX, [A], [req], [prepared], [])()
    for out in (forward, prepared):
        np.testing.assert_array_equal(out, expected)
    expected = {OpReq.NULL: base, OpReq.ADD: base + 2 * G}.get(req, 2 * G)
    for prepare in (False, True):
        grad = base.copy()
        args = (CTX, [G], [A], [None], [req], [grad], [])
        run.prepare_backward(*args)() if prepare else run.backward(*args)
        np.testing.assert_array_equal(grad, expected)


def test_an_argument_without_gradient_gets_zeros_where_it_is_asked_for():
    run = operator(simple_property(SimpleOp("sign", ["data"], np.sign))())
    for req, expected in ((OpReq.WRITE, [0, 0, 0]), (OpReq.ADD, [1, 2, 3])):
        grad = A.copy()
        run.backward(CTX, [G], [A], [A], [req], [grad], [])
        np.testing.assert_array_equal(grad, expected)


def test_parameters_reach_the_functions_in_order_and_scalar_in_the_arrays_type():
    seen = []
    op = SimpleOp(
        "scaled", ["data"], lambda x, factor, scalar: seen.append((factor, scalar)) or x,
        params={"factor": param(int, 2), "scalar": param(float, 0.1)},
    )  # fmt: skip
    prop = simple_property(op)(factor=5)
    operator(prop).forward(CTX, [A], [OpReq.WRITE], [np.empty_like(A)], [])
    assert seen == [(5, float(np.float32(0.1)))]
    assert prop.call_params(np.dtype("int32")) == (5, 0)


def test_shapes_go_both_ways_unless_a_function_gives_them():
    prop = square()()
    assert prop.infer_shape([(2, None)]) == ([(2, None)], [(2, None)], [])
    assert prop.infer_shape_backward([(2, None)], [(None, 3)]) == [(2, 3)]
    other = square(shape_function=lambda shape: (*shape, 1))()
    assert other.infer_shape([(2,)])[1] == [(2, 1)]
    assert other.infer_shape([None])[1] == [None]
    assert other.infer_shape_backward([None], [(2, 1)]) == [None]


def test_a_clash_names_the_argument():
    prop = simple_property(SimpleOp("mul", ["lhs", "rhs"], np.multiply))()
    with pytest.raises(ShapeError, match=r"mul: rhs has shape \(3,\), expected \(2,\).*the shape of lhs"):
        prop.infer_shape([(2,), (3,)])


def test_types_may_be_given_by_a_function():
    prop = square(type_function=lambda dtype: np.dtype("int32"))()
    assert prop.infer_type([FLOAT32])[1] == [np.dtype("int32")]
    assert prop.infer_type([None])[1] == [None]


def test_the_cost_is_weighted():
    assert square(cost=3)().cost([(2,)], [(2,)]) == 12


def test_ufuncs_are_called_without_a_detour():
    assert operator(square()()).direct is np.square


def test_functions_that_take_the_context_get_it():
    seen = []
    op = SimpleOp("seer", ["data"], lambda ctx, x: seen.append(ctx.is_train) or x, takes_context=True)
    run = operator(simple_property(op)())
    assert run.direct is None
    run.forward(CTX, [A], [OpReq.WRITE], [np.empty_like(A)], [])
    assert seen == [True]
