"""`Symbol.gradient` on operators of plugins: recorded gradients bit by bit, and differences."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import operad as od
from operad import autograd, nd, sym
from operad.errors import ArgumentError, GradientError, GraphError

X = np.array([[0.3, -0.7, 1.1], [2.0, 0.4, -1.2]])


def recorded(function, arrays, order):
    """The gradient of that order with respect to the first array, each that of the sum of the last."""
    variables = [nd.array(array, dtype=array.dtype) for array in arrays]
    for variable in variables:
        variable.attach_grad()
    with autograd.record():
        found = function(*variables)
        for _ in range(order):
            (found,) = autograd.grad(found, variables[0], create_graph=True)
    return found.asnumpy()


def values(symbol, **arrays):
    """The outputs in a training run."""
    names = symbol.list_arguments()
    given = {name: nd.array(array, dtype=array.dtype) for name, array in arrays.items() if name in names}
    return [out.asnumpy() for out in symbol.bind(None, given, grad_req="null").forward(is_train=True)]


def network(face, x, w):
    hidden = face.FullyConnected(x, w, num_hidden=4, no_bias=True)
    return face.sum(face.log_softmax(face.tanh(hidden)) * face.sigmoid(hidden), axis=1) * face.sum(
        x * x, axis=1
    )


WEIGHT = np.linspace(-1, 1, 12).reshape(4, 3)


@pytest.mark.parametrize("order", [1, 2])
def test_it_is_what_is_recorded_bit_by_bit(order):
    found = network(sym, sym.var("x"), sym.var("w"))
    for _ in range(order):
        found = found.gradient("x")
    expected = recorded(lambda x, w: network(nd, x, w), [X, WEIGHT], order)
    np.testing.assert_array_equal(values(found, x=X, w=WEIGHT)[0], expected)


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_an_executor_differentiates_it_again(grad_req):
    gradient = network(sym, sym.var("x"), sym.var("w")).gradient("x")
    arrays = {"x": nd.array(X, dtype="float64"), "w": nd.array(WEIGHT, dtype="float64")}
    grads = {name: nd.ones(array.shape, dtype="float64") for name, array in arrays.items()}
    exe = gradient.bind(None, arrays, grads, grad_req=grad_req)
    for _ in range(2):
        exe.forward(is_train=True)
        exe.backward(nd.ones(X.shape, dtype="float64"))
    expected = recorded(lambda x, w: network(nd, x, w), [X, WEIGHT], 2)
    times = 1 if grad_req == "write" else 2
    np.testing.assert_allclose(
        grads["x"].asnumpy(), times * expected + (grad_req == "add"), rtol=1e-13, atol=1e-13
    )


def test_a_penalty_on_a_gradient_is_trained():
    """The gradient of |dy/dx|^2 with respect to a weight, against differences."""
    out = network(sym, sym.var("x"), sym.var("w"))
    penalty = sym.sum(sym.square(out.gradient("x")))
    exe = penalty.simple_bind(x=X.shape, w=WEIGHT.shape, type_dict={"x": "float64", "w": "float64"})
    exe.arg_dict["x"][:] = X
    step = np.random.default_rng(0).uniform(-1, 1, WEIGHT.shape)

    def at(distance):
        weight = nd.array(WEIGHT + distance * step, dtype="float64")
        return exe.forward(is_train=True, w=weight)[0].asscalar()

    slope = (at(1e-6) - at(-1e-6)) / 2e-6
    at(0.0)
    exe.backward(nd.ones(exe.outputs[0].shape, dtype="float64"))
    assert np.vdot(exe.grad_dict["w"].asnumpy(), step) == pytest.approx(slope, rel=1e-6)


def test_outputs_are_summed_and_an_argument_without_influence_gets_zeros():
    x, y = sym.var("x"), sym.var("y")
    both = sym.Group([sym.square(x), 3 * x, sym.BlockGrad(y)])
    found = values(both.gradient(["y", "x"]), x=X, y=X)
    np.testing.assert_array_equal(found[0], np.zeros_like(X))
    np.testing.assert_allclose(found[1], 2 * X + 3)


def test_higher_orders_differ_from_what_is_recorded_by_the_order_of_sums_alone():
    def total(x):
        return x * x + x * x * x + x + 2 * x * x * x

    found = total(sym.var("x")).gradient("x").gradient("x").gradient("x")
    np.testing.assert_allclose(values(found, x=X)[0], recorded(total, [X], 3), rtol=1e-13)
    np.testing.assert_allclose(values(found, x=X)[0], np.full_like(X, 18), rtol=1e-13)


def test_states_are_updated_by_forward_alone():
    data = sym.var("x")
    norm = sym.BatchNorm(data, name="bn", fix_gamma=False, momentum=0.5)
    gradient = sym.sum(sym.square(norm)).gradient(["x", "bn_gamma"])
    assert gradient.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    exe = gradient.simple_bind(x=X.shape, grad_req="null")
    exe.arg_dict["x"][:] = X
    exe.arg_dict["bn_gamma"][:] = 1
    exe.forward(is_train=True)
    np.testing.assert_allclose(exe.aux_dict["bn_moving_mean"].asnumpy(), 0.5 * X.mean(0), rtol=1e-6)
    exe = gradient.simple_bind(x=X.shape)
    exe.forward(is_train=True)
    before = exe.aux_dict["bn_moving_var"].asnumpy()
    exe.backward([nd.ones(X.shape), nd.ones(X.shape[1])])
    np.testing.assert_array_equal(exe.aux_dict["bn_moving_var"].asnumpy(), before)


def test_what_only_training_computes_follows_the_mode():
    exe = sym.Dropout(sym.var("x"), p=0.5).gradient("x").simple_bind(x=(50,), grad_req="null")
    assert set(exe.forward()[0].asnumpy()) == {1.0}
    od.random.seed(1)
    assert set(exe.forward(is_train=True)[0].asnumpy()) == {0.0, 2.0}


def test_the_gradient_of_a_loss_has_none():
    loss = sym.SoftmaxOutput(sym.var("x"), sym.var("label"), name="softmax")
    (found,) = values(loss.gradient("x"), x=X, label=np.zeros(2))
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-6)
    with pytest.raises(
        GradientError, match=r"'softmax_backward': the gradient of SoftmaxOutput .*not differentiable"
    ):
        loss.gradient("x").gradient("x")


def test_a_gradient_in_a_group_beside_its_operators_shares_what_they_compute():
    x = sym.var("x")
    y = sym.exp(x)
    both = sym.Group([y.gradient("x"), y])
    found = values(both, x=X)
    np.testing.assert_array_equal(found[0], found[1])
    exe = both.simple_bind(x=X.shape, grad_req="null")
    assert [node.op.name for node in exe.program.graph.op_nodes].count("exp") == 1


def test_gradients_taken_twice_have_names_of_their_own_without_a_warning():
    y = sym.tanh(sym.var("x"), name="act")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = sym.Group([y.gradient("x"), y.gradient("x")]).list_outputs()
    assert len(set(names)) == 2


def test_it_is_copied_and_composed():
    x = sym.var("x")
    gradient = copy.deepcopy(sym.square(x).gradient("x"))
    np.testing.assert_allclose(values(gradient(x=sym.var("z") * 3), z=X)[0], 6 * X)


def test_files_have_no_node_for_it():
    with pytest.raises(GraphError, match=r"'act_backward' .*call Symbol.gradient on what is loaded"):
        sym.tanh(sym.var("x"), name="act").gradient("x").tojson()


def test_a_name_of_no_argument_is_refused():
    with pytest.raises(ArgumentError, match="no argument is called 'z'; expected some of x"):
        sym.tanh(sym.var("x")).gradient(["x", "z"])


def test_monitors_see_it_under_the_names_that_gradients_have():
    gradient = sym.tanh(sym.var("x"), name="act").gradient("x")
    exe = gradient.simple_bind(x=(2,), grad_req="null")
    shown = []
    exe.set_monitor_callback(lambda name, array: shown.append(name))
    exe.forward(is_train=True)
    assert shown[-1] == "act_backward_data_grad"
