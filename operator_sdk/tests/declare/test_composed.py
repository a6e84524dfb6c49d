"""Operators that are made of others, by `@composed`."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import registry
from operad.context import cpu
from operad.errors import DTypeError, ShapeError
from operad.operator import BackwardEntry, OpContext, OpReq
from operad_sdk import (
    DeclarationError,
    OperatorProperty,
    ResourceRequest,
    binary,
    composed,
    operator,
    param,
    unary,
)
from operad_sdk.check import check_operator
from operad_sdk.testing import check_forward, gradient_check

RUN_TIME = param(float, 1.0, run_time=True)
X, Y = np.array([0.5, -1.0, 2.0]), np.array([2.0, 0.25, -1.0])


@unary("part_sine")
def part_sine(x, factor: float = 1.0):
    return np.sin(factor * x)


@part_sine.gradient
def _(output_grad, x, factor):
    return output_grad * factor * np.cos(factor * x)


@binary("part_times")
def part_times(lhs, rhs):
    return lhs * rhs


@part_times.gradient("lhs")
def _(output_grad, rhs):
    return output_grad * rhs


@part_times.gradient("rhs")
def _(output_grad, lhs):
    return output_grad * lhs


@unary("part_flat")
def part_flat(x):
    return np.sign(x)


@operator("part_scale")
class Scale(OperatorProperty):
    """A weight for each column, and how often it was called in training."""

    spec = "data:(N, C), weight:(C), state count:(1) -> output:(N, C)"
    initializers = {"weight": '["One", {}]'}  # noqa: RUF012 - as authors write it

    def forward(data, weight, count, is_train):
        count += is_train
        return data * weight

    def data_grad(output_grad, weight):
        return output_grad * weight

    def weight_grad(output_grad, data):
        return (output_grad * data).sum(0)

    def fixed_arguments(self):
        return {"weight": 1.0}


@operator("part_noise")
class Noise(OperatorProperty):
    spec = "data:(...) -> output:(...), hidden mask:(...)"
    resource = ResourceRequest.RANDOM

    def forward(data, op_ctx):
        mask = op_ctx.requested[0].generator.random(data.shape).astype(data.dtype)
        return data * mask, mask

    def data_grad(output_grad, mask):
        return output_grad * mask


PARTS = [part_sine, part_times, part_flat, Scale, Noise]


@pytest.fixture(autouse=True, scope="module")
def parts():
    for part in PARTS:
        registry.register(part)
    yield
    for part in PARTS:
        registry.unregister(part.name)


@composed("whole_wave", accepts="floating")
def whole_wave(data: od.Symbol, factor: float = param(float, 2.0, doc="Waves per radian.")):
    """`x sin(factor x)`."""
    return od.sym.part_times(data, od.sym.part_sine(data, factor=factor))


@composed("whole_layer", outputs=["scaled", "wave"])
def whole_layer(data, factor: float = 1.0):
    scaled = od.sym.part_scale(data, name="scale")
    return scaled, od.sym.part_sine(scaled, factor=factor)


@composed("whole_noise")
def whole_noise(data):
    return od.sym.part_noise(od.sym.part_sine(data))


def test_the_contract_is_that_of_the_graph() -> None:
    prop = whole_layer(factor=2)
    assert prop.list_arguments() == ["data", "scale_weight"]
    assert prop.list_auxiliary_states() == ["scale_count"]
    assert prop.list_outputs() == ["scaled", "wave"]
    assert prop.infer_shape([(4, 3), None]) == ([(4, 3), (3,)], [(4, 3), (4, 3)], [(1,)])
    assert prop.infer_shape_backward([None, None], [None, (4, 3)]) == [(4, 3), (3,)]
    assert prop.fixed_arguments() == {"scale_weight": 1.0}
    assert prop.initializers == {"scale_weight": '["One", {}]'}
    assert prop.get_params() == {"factor": "2.0"}
    assert prop.is_stateful  # it counts calls
    assert not whole_wave().is_stateful


def test_values_and_gradients_are_those_of_the_parts() -> None:
    check_forward(whole_wave, [X], [X * np.sin(3 * X)], factor=3.0)
    gradient_check(whole_wave, [X], factor=3.0)


def test_backward_reads_what_the_gradients_of_parts_read() -> None:
    prop = whole_wave()
    assert prop.backward_dependency([True]) == [BackwardEntry("out_grad", 0), BackwardEntry("in_data", 0)]


def test_no_gradient_flows_through_a_part_that_has_none() -> None:
    flat = composed("whole_flat")(lambda lhs, rhs: od.sym.part_times(od.sym.part_flat(lhs), rhs))
    assert flat().differentiable_inputs() == [False, True]
    gradient_check(flat, [X, Y])


def test_a_symbol_is_an_operator_of_its_own_arguments() -> None:
    wave = od.sym.part_times(od.sym.var("a"), od.sym.part_sine(od.sym.var("b")), name="product")
    op = composed("whole_symbol", doc="`a sin(b)`.")(wave)
    assert op().list_arguments() == ["a", "b"]
    assert op.__doc__ == "`a sin(b)`."
    check_forward(op, [X, Y], [X * np.sin(Y)])


def test_operators_are_made_of_composed_ones() -> None:
    registry.register(whole_wave)
    try:
        twice = composed("whole_twice")(lambda data: od.sym.whole_wave(od.sym.whole_wave(data, factor=1)))
        assert [part.op.name for part in twice().expansion().parts] == ["part_sine", "part_times"] * 2
        inner = X * np.sin(X)
        check_forward(twice, [X], [inner * np.sin(2 * inner)])
    finally:
        registry.unregister(whole_wave.name)


def test_automatic_names_do_not_depend_on_what_was_composed_before() -> None:
    op = composed("whole_automatic")(lambda data: od.sym.part_scale(od.sym.part_scale(data)))
    od.sym.part_scale(od.sym.var("x"))
    assert op().list_arguments() == ["data", "part_scale0_weight", "part_scale1_weight"]


def test_what_was_drawn_or_counted_in_forward_holds_in_backward() -> None:
    registry.register(whole_noise)
    registry.register(whole_layer)
    try:
        x = od.nd.array(X)
        x.attach_grad()
        with od.autograd.record():
            y = od.nd.whole_noise(x)
        y.backward()
        mask = y.asnumpy() / np.sin(X)
        np.testing.assert_allclose(x.grad.asnumpy(), mask * np.cos(X), rtol=1e-5)
        count = od.nd.zeros(1)
        with od.autograd.record():
            od.nd.whole_layer(od.nd.ones((2, 3)), od.nd.ones(3), count)
        assert count.asnumpy() == 1
    finally:
        registry.unregister(whole_noise.name)
        registry.unregister(whole_layer.name)


def test_the_whole_operator_keeps_what_it_drew() -> None:
    prop = whole_noise()
    types = [np.dtype("float64")]
    whole = prop.create_operator(cpu(), [(3,)], types)
    forward = od.resource.get().request_all(cpu(), prop.forward_resource([(3,)]))
    backward = od.resource.get().request_all(cpu(), prop.backward_resource([(3,)]))
    y, dx = np.empty(3), np.empty(3)
    whole.forward(OpContext(cpu(), True, forward), [X], [OpReq.WRITE], [y], [])
    whole.backward(OpContext(cpu(), True, backward), [np.ones(3)], [X], [y], [OpReq.WRITE], [dx], [])
    np.testing.assert_allclose(dx, y / np.sin(X) * np.cos(X))


def test_gradients_are_added_where_that_is_asked_for() -> None:
    whole = whole_wave(factor=1).create_operator(cpu(), [(3,)], [np.dtype("float64")])
    dx = np.ones(3)
    whole.backward(OpContext(cpu(), True), [np.ones(3)], [X], [None], [OpReq.ADD], [dx], [])
    np.testing.assert_allclose(dx, 1 + np.sin(X) + X * np.cos(X))


def test_the_costs_are_those_of_the_parts() -> None:
    sine = part_sine().cost([(3,)], [(3,)])
    times = part_times().cost([(3,), (3,)], [(3,)])
    assert whole_wave().cost([(3,)], [(3,)]) == sine.plus(times)


def test_element_types_are_refused_as_declared() -> None:
    with pytest.raises(DTypeError, match="whole_wave: data is int32, expected a floating type"):
        whole_wave().infer_type([np.dtype("int32")])
    by_argument = composed("whole_by", accepts={"rhs": "integer"})(
        lambda lhs, rhs: od.sym.part_times(lhs, rhs)
    )
    with pytest.raises(DTypeError, match="whole_by: rhs is float32, expected an integer type"):
        by_argument().infer_type([None, np.dtype("float32")])


def test_an_error_of_a_part_names_operator_and_arguments() -> None:
    both = composed("whole_both")(lambda a, b: od.sym.part_times(a, b, name="m"))
    with pytest.raises(
        ShapeError, match=r"whole_both: part_times 'm': .*; the arguments are a \(2,\), b \(3,\)"
    ):
        both().infer_shape([(2,), (3,)])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda data: 3, "the function gave int, expected a symbol"),
        (lambda data: data, "output 0 is the argument 'data' itself"),
        (
            lambda data, bias: od.sym.part_sine(data),
            r"does not use the argument 'bias'; .*od.sym.var\('bias'\)",
        ),
        (lambda data: [od.sym.part_sine(data)] * 2, "returns 2 outputs, expected 1: only"),
    ],
)
def test_what_is_no_graph_of_the_arguments_is_refused(function, message) -> None:
    with pytest.raises(DeclarationError, match=message):
        composed("whole_wrong", outputs=["only"])(function)()


def test_a_part_that_is_missing_is_named_with_the_operator() -> None:
    op = composed("whole_missing")(lambda data: od.sym.part_nowhere(data))
    with pytest.raises(od.OperadError, match="part_nowhere") as raised:
        op()
    assert raised.value.__notes__ == ["in whole_missing, which is made of other operators"]


def test_an_operator_that_is_made_of_itself_is_refused() -> None:
    op = composed("whole_endless")(lambda data: od.sym.whole_endless(data))
    registry.register(op)
    try:
        with pytest.raises(DeclarationError, match="whole_endless is made of itself, endlessly"):
            op()
    finally:
        registry.unregister(op.name)


def test_parameters_need_a_type_and_are_no_run_time_ones() -> None:
    with pytest.raises(DeclarationError, match="parameter 'b' has no annotation"):
        composed("whole_untyped")(lambda a, b=None: a)
    with pytest.raises(DeclarationError, match="parameter 'b' is a run-time one"):
        composed("whole_run_time")(lambda a, b=RUN_TIME: a)


@composed("centred", accepts="floating")
def centred(data):
    """The gradient of the difference has the shape of the mean, and reads no value of it."""
    return od.sym.broadcast_sub(data, od.sym.mean(data, axis=1, keepdims=True))


@composed("scaled_and_shaped", accepts="floating")
def scaled_and_shaped(data, weight):
    """The second part has the shape of the weight alone."""
    scaled = od.sym.broadcast_mul(od.sym.tanh(data), weight)
    return od.sym.broadcast_add(scaled, od.sym.reshape_like(od.sym.sum(data, axis=0), weight))


@pytest.mark.parametrize("made", [centred, scaled_and_shaped])
def test_checks_find_no_fault_of_the_toolkits_in_a_composition(made):
    report = check_operator(made, checks=["F204", "F223", "M401", "M402", "B301", "B305"])
    assert report.red_ids == []


def test_gradients_read_no_values_of_which_only_shapes_count():
    prop = centred()
    assert prop.backward_dependency([True]) == [BackwardEntry("out_grad", 0)]
    head = np.arange(6.0).reshape(2, 3)
    grad = np.empty((2, 3))
    operator = prop.create_operator(cpu(), [(2, 3)], [np.dtype(float)])
    operator.backward(OpContext(cpu(), True), [head], [None], [None], [OpReq.WRITE], [grad], [])
    np.testing.assert_allclose(grad, head - head.mean(1, keepdims=True))
