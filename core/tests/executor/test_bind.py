"""Binding: what it accepts, what it refuses, and what it makes."""

from __future__ import annotations

import numpy as np
import pytest

from operad import nd, sym
from operad.device import cpu
from operad.errors import BindError, ShapeError

pytestmark = pytest.mark.usefixtures("operators")

SHAPES = {"data": (1, 2), "fc_weight": (3, 2), "fc_bias": (3,)}


def dense():
    return sym.Dense(sym.var("data"), num_hidden=3, name="fc")


def arrays():
    return {name: nd.array(np.ones(shape)) for name, shape in SHAPES.items()}


def test_arrays_may_come_as_a_list_or_by_name():
    for args in (list(arrays().values()), arrays(), dict(reversed(arrays().items()))):
        exe = dense().bind(cpu(), args)
        assert list(exe.arg_dict) == list(SHAPES)
        assert exe.forward()[0].asnumpy().tolist() == [[3, 3, 3]]


def test_gradients_may_come_as_a_list_with_gaps_or_by_name():
    for grads in ([None, nd.empty((3, 2)), None], {"fc_weight": nd.empty((3, 2))}):
        exe = dense().bind(cpu(), arrays(), grads)
        assert [grad is None for grad in exe.grad_arrays] == [True, False, True]


@pytest.mark.parametrize("request_", [["null", "add", "write"], {"fc_weight": "add", "fc_bias": "write"}])
def test_requests_may_come_as_a_list_or_by_name(request_):
    exe = dense().simple_bind(grad_req=request_, data=(1, 2))
    assert [grad is None for grad in exe.grad_arrays] == [True, False, False]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"args": []}, "args has 0 arrays, expected 3: data, fc_weight, fc_bias"),
        ({"args": {"data": nd.empty((1, 2))}}, "args lacks 'fc_weight'"),
        ({"args": {**arrays(), "data": None}}, "args lacks 'data'"),
        ({"args_grad": [None]}, "args_grad has 1 arrays, expected 3"),
        (
            {"args_grad": {"data": nd.empty((2, 2))}},
            r"gradient of 'data' is float32\(2, 2\), expected float32\(1, 2\)",
        ),
        ({"args_grad": {"data": nd.empty((1, 2), dtype="float64")}}, "gradient of 'data' is float64"),
        ({"grad_req": "sum"}, "grad_req of 'data' is 'sum', expected one of null, write, add"),
        ({"grad_req": ["write"]}, "grad_req has 1 entries, expected 3"),
        ({"aux_states": [nd.empty(1)]}, "aux_states has 1 arrays, expected 0"),
        ({"args": nd.empty((3, 2))}, "args is one array, expected a list"),
        ({"args": [np.empty((1, 2))] * 3}, "args of 'data' is ndarray, expected an NDArray"),
        ({"ctx": cpu(1)}, r"'data' is on cpu\(0\), expected cpu\(1\); move it"),
    ],
)
def test_what_does_not_fit_is_named(options, message):
    options = {"ctx": cpu(), "args": arrays(), **options}
    with pytest.raises(BindError, match=message):
        dense().bind(**options)


def test_names_of_no_argument_are_ignored():
    """As in MXNet: one set of parameters serves several graphs."""
    other = nd.empty(1)
    grads = {"fc_weight": nd.empty((3, 2)), "other": other}
    exe = dense().bind(
        cpu(), {**arrays(), "other": other}, grads, {"fc_weight": "write", "other": "add"}, {"mean": other}
    )
    assert list(exe.arg_dict) == list(SHAPES)
    assert list(exe.grad_dict) == list(SHAPES)
    assert exe.aux_dict == {}
    assert "other" not in dense().simple_bind(data=(1, 2), other=(7,)).arg_dict


@pytest.mark.parametrize("given", [{}, {"shape": (2, 3)}])
def test_an_output_may_be_a_variable_with_a_gradient(given):
    group = sym.Group([sym.square(sym.var("b")), sym.var("a", **given)])
    exe = group.simple_bind(b=(2,), **({} if given else {"a": (2, 3)}))
    exe.forward(is_train=True, b=[1, 2])
    exe.backward([nd.array([1, 1]), nd.array(np.full((2, 3), 5))])
    assert exe.grad_dict["b"].asnumpy().tolist() == [2, 4]
    assert exe.grad_dict["a"].asnumpy().tolist() == [[5] * 3] * 2


def test_arrays_whose_shapes_clash_are_refused():
    with pytest.raises(ShapeError, match=r"fc.*weight has shape \(3, 5\)"):
        dense().bind(cpu(), {**arrays(), "fc_weight": nd.empty((3, 5))})


def test_simple_bind_makes_zeros_of_the_inferred_shapes():
    exe = dense().simple_bind(data=(1, 2))
    assert {name: array.shape for name, array in exe.arg_dict.items()} == SHAPES
    assert not any(array.asnumpy().any() for array in [*exe.arg_arrays, *exe.grad_arrays])


def test_simple_bind_needs_enough_shapes():
    with pytest.raises(
        ShapeError, match=r"do not follow from those given \(data: \(None, None\), fc_weight: \(3, None\)"
    ):
        dense().simple_bind()


def test_types_follow_from_those_given():
    exe = dense().simple_bind(type_dict={"data": "float64"}, data=(1, 2))
    assert {array.dtype.name for array in [*exe.arg_arrays, *exe.grad_arrays, *exe.outputs]} == {"float64"}


def test_a_type_for_nobody_is_refused():
    with pytest.raises(BindError, match="type_dict names 'wieght', expected data, fc_weight"):
        dense().simple_bind(data=(1, 2), type_dict={"wieght": "float64"})


def test_types_and_shapes_may_be_attributes_of_variables():
    x = sym.var("x", shape=(2, 3), dtype="float16")
    exe = sym.tanh(x).simple_bind()
    assert (exe.outputs[0].shape, exe.outputs[0].dtype) == ((2, 3), np.float16)


class TestIntegers:
    def taken(self):
        return sym.take(sym.var("table"), sym.var("indices"), name="take")

    def test_that_no_gradient_flows_to_get_zeros_of_their_type(self):
        exe = self.taken().simple_bind(table=(4, 2), indices=(3,))
        exe.grad_dict["indices"][:] = 7
        exe.forward(is_train=True, indices=[1, 3, 1])
        exe.backward(nd.array(np.ones((3, 2))))
        assert exe.grad_dict["indices"].dtype == np.int32
        assert exe.grad_dict["indices"].asnumpy().tolist() == [0, 0, 0]

    def test_have_the_gradient_that_the_operator_computes(self):
        exe = sym.square(sym.var("x")).simple_bind(type_dict={"x": "int32"}, x=(2,))
        exe.forward(is_train=True, x=[3, -4])
        exe.backward(nd.array([1, 1], dtype="int32"))
        assert exe.grad_dict["x"].asnumpy().tolist() == [6, -8]

    def test_do_not_stop_the_gradients_of_others(self):
        exe = self.taken().simple_bind(grad_req={"table": "write"}, table=(4, 2), indices=(3,))
        assert exe.arg_dict["indices"].dtype == np.int32
        exe.forward(is_train=True, indices=[1, 3, 1])
        exe.backward(nd.array(np.ones((3, 2))))
        assert exe.grad_dict["table"].asnumpy().tolist() == [[0, 0], [2, 2], [0, 0], [1, 1]]


def test_eval_computes_once():
    (out,) = (sym.var("a") + sym.var("b")).eval(a=nd.array([1, 2]), b=nd.array([3, 4]))
    assert out.asnumpy().tolist() == [4, 6]
