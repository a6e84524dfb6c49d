"""`foreach`: what a loop computes, beside the same steps unrolled, and its gradients beside differences."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, DTypeError, ShapeError, UnsupportedError
from plugins.control_flow.tests.loops import check_gradients, draws, ran, weights

foreach = od.sym.contrib.foreach
x, s, w = (od.sym.var(name) for name in "xsw")


def recurrent(x, states):
    h = od.sym.tanh(od.sym.dot(x, w) + states[0])
    return [h, od.sym.sum(h)], [h, states[1] + od.sym.sum(h, axis=1)]


def unrolled(body, data, states, length):
    rows = []
    for step in range(length):
        outs, states = body(
            od.sym.squeeze(od.sym.slice_axis(data, axis=0, begin=step, end=step + 1), axis=0), states
        )
        rows.append(outs)
    stacked = [od.sym.stack(*each, axis=0) for each in zip(*rows, strict=True)]
    return od.sym.Group([*stacked, *states])


def looped(body, data, states):
    outs, last = foreach(body, data, states)
    return od.sym.Group([*outs, *last])


@pytest.mark.parametrize("length", [1, 2, 7])
def test_a_loop_computes_what_its_steps_do_unrolled(length):
    states = [od.sym.var("h"), od.sym.var("c")]
    values = {"x": draws(length, 2, 3), "h": draws(2, 4), "c": draws(2), "w": draws(3, 4)}
    outs, grads = ran(looped(recurrent, x, states), values)
    expected, slopes = ran(unrolled(recurrent, x, states, length), values)
    for mine, its in zip([*outs, *grads.values()], [*expected, *slopes.values()], strict=True):
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-13)


def test_gradients_are_those_of_differences():
    values = {"x": draws(3, 2, 2), "h": draws(2, 2), "c": draws(2), "w": draws(2, 2)}
    check_gradients(looped(recurrent, x, [od.sym.var("h"), od.sym.var("c")]), values)


def test_a_loop_in_a_loop_reads_what_stands_outside_of_both():
    def inner(y, t):
        return y * w + t * s, t * 0.5 + y

    def outer(row, t):
        outs, last = foreach(inner, row, t)
        return od.sym.broadcast_mul(outs, od.sym.expand_dims(s, axis=0)), last * w

    outs, last = foreach(outer, x, od.sym.var("t"))
    values = {"x": draws(2, 3, 2), "t": draws(2), "w": draws(2), "s": draws(2)}
    check_gradients(od.sym.Group([outs, last]), values)


def test_an_inner_loop_may_go_over_the_data_of_the_outer_one():
    def outer(row, t):
        outs, _ = foreach(lambda other, u: (other * row + u, u + other), x, t)
        return outs, t * 0.5

    outs, last = foreach(outer, x, s)
    check_gradients(od.sym.Group([outs, last]), {"x": draws(3, 2), "s": draws(2)})


def test_one_array_may_be_several_data_and_several_states():
    def body(rows, states):
        return rows[0] * rows[1] + states[0], [states[0] + rows[0], states[1] * rows[1]]

    outs, last = foreach(body, [x, x], [s, s])
    check_gradients(od.sym.Group([outs, *last]), {"x": draws(3, 2), "s": draws(2)})


def test_states_may_change_places():
    outs, last = foreach(lambda row, states: (row + states[0], [states[1], states[0]]), x, [s, w])
    symbol = od.sym.Group([outs, *last])
    values = {"x": np.zeros((3, 1)), "s": np.array([1.0]), "w": np.array([2.0])}
    arrays = {name: od.nd.array(value) for name, value in values.items()}
    for is_train in (True, False):
        found = [out.asnumpy().ravel().tolist() for out in symbol.bind(od.cpu(), arrays).forward(is_train)]
        assert found == [[1, 2, 1], [2], [1]]


def test_outputs_are_nested_as_the_body_nests_them():
    outs, last = foreach(lambda rows, t: ([rows[0] + rows[1][0], [rows[0]]], [t[0] + 1]), [x, [w]], [s])
    assert isinstance(outs[0], od.Symbol)
    assert isinstance(outs[1], list)
    assert isinstance(last, list)
    outs, last = foreach(lambda row, t: (row + t, t + 1), x, s)
    assert isinstance(outs, od.Symbol)
    assert isinstance(last, od.Symbol)
    outs, last = foreach(lambda row, t: (row * 2, []), x, [])
    assert outs.list_arguments() == ["x"]
    assert last == []


def test_gradients_are_added_where_that_is_asked_for():
    outs, _ = foreach(lambda row, t: (row * w, t + row), x, s)
    values = {"x": draws(3, 2), "s": draws(2), "w": draws(2)}
    args = {name: od.nd.array(value) for name, value in values.items()}
    grads = {name: od.nd.ones(value.shape) for name, value in values.items()}
    executor = outs.bind(od.cpu(), args, grads, "add")
    heads = weights([np.zeros((3, 2))])
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward([od.nd.array(heads[0])])
    np.testing.assert_allclose(grads["w"].asnumpy(), 1 + 2 * (heads[0] * values["x"]).sum(0), rtol=1e-5)
    np.testing.assert_allclose(grads["x"].asnumpy(), 1 + 2 * heads[0] * values["w"], rtol=1e-5)
    np.testing.assert_array_equal(grads["s"].asnumpy(), 1)


def test_gradients_may_follow_a_prediction():
    symbol = looped(recurrent, x, [od.sym.var("h"), od.sym.var("c")])
    values = {"x": draws(3, 2, 3), "h": draws(2, 4), "c": draws(2), "w": draws(3, 4)}
    args = {name: od.nd.array(value, dtype="float64") for name, value in values.items()}
    grads = {name: od.nd.zeros(value.shape, dtype="float64") for name, value in values.items()}
    executor = symbol.bind(od.cpu(), args, grads)
    heads = [
        od.nd.array(head, dtype="float64") for head in weights([out.asnumpy() for out in executor.forward()])
    ]
    executor.backward(heads)
    for name, slope in ran(symbol, values)[1].items():
        np.testing.assert_allclose(grads[name].asnumpy(), slope, rtol=1e-12)


def test_integers_go_through_and_have_no_gradient():
    values = {"x": np.arange(4, dtype="int32"), "s": np.zeros(1, "int32"), "w": np.ones(1, "float32")}
    symbol = od.sym.Group(list(foreach(lambda row, t: (od.sym.cast(row, "float32") * w, t + 1), x, s)))
    outs, grads = ran(symbol, values)
    assert outs[0].ravel().tolist() == [0, 1, 2, 3]
    assert outs[1].tolist() == [4]
    assert outs[1].dtype == "int32"
    assert grads["w"].tolist() == [pytest.approx((1 * 2 + 2 * 3 + 3 * 4) / 7)]


def test_shapes_follow_inside_and_outside():
    dense = foreach(lambda row, t: (od.sym.FullyConnected(row, num_hidden=5, name="fc") + t, t), x, s)[0]
    arg_shapes, out_shapes, _ = dense.infer_shape(x=(7, 2, 3))
    assert dict(zip(dense.list_arguments(), arg_shapes, strict=True)) == {
        "x": (7, 2, 3), "s": (2, 5), "fc_weight": (5, 3), "fc_bias": (5,),
    }  # fmt: skip
    assert out_shapes == [(7, 2, 5)]
    assert dense.infer_shape_partial(s=(2, 5))[0][0] == ()


def test_a_slice_of_an_array_of_one_axis_has_one_element():
    symbol = od.sym.Group(list(foreach(lambda row, t: (row * t, t + row), x, s)))
    assert symbol.infer_shape(x=(4,), s=(1,))[1] == [(4, 1), (1,)]
    check_gradients(symbol, {"x": draws(4), "s": draws(1)})


def test_one_symbol_serves_all_lengths():
    sums = foreach(lambda row, t: (row + t, row + t), x, s)[1]
    for length in (1, 5, 2):
        found = sums.eval(x=od.nd.ones((length, 1)), s=od.nd.zeros(1))[0]
        assert found.asscalar() == length
    executor = sums.simple_bind(od.cpu(), x=(4, 1), s=(1,))
    assert (
        executor.reshape(allow_up_sizing=True, x=(9, 1), s=(1,)).forward(x=od.nd.ones((9, 1)))[0].asscalar()
        == 9
    )


@pytest.mark.parametrize(
    ("body", "data", "states", "message"),
    [
        (lambda row, t: (row, t), [], s, "there is no data"),
        (lambda row, t: (t, t + 1), x, s, "does not use what stands for x"),
        (lambda row, t: (row, w + 1), x, s, "does not use what stands for s"),
        (lambda row, t: (row, [t, t]), x, s, "body gave 2 states, expected 1"),
        (lambda row, t: row, x, s, "expected two: outputs, and states"),
        (lambda row, t: (3, t), x, s, "outputs of body has 3, expected symbols"),
        (lambda row, t: (row, t), 3, s, "data has 3, expected symbols"),
    ],
)
def test_a_body_that_is_no_loop_is_refused(body, data, states, message):
    with pytest.raises(ArgumentError, match=message):
        foreach(body, data, states)


def test_shapes_that_cannot_be_are_refused():
    pair = foreach(lambda rows, t: (rows[0] + rows[1], t + 1), [x, w], s)[0]
    with pytest.raises(ShapeError, match=r"lengths \[2, 3\]"):
        pair.infer_shape(x=(2, 3), w=(3, 3), s=(1,))
    with pytest.raises(ShapeError, match=r"lengths \[0\]"):
        pair.bind(od.cpu(), {"x": od.nd.zeros((0, 3)), "w": od.nd.zeros((0, 3)), "s": od.nd.zeros(1)})
    growing = foreach(lambda row, t: (row, od.sym.concat(t, row, dim=0)), x, s)[0]
    with pytest.raises(ShapeError, match="state 0 after a step"):
        growing.infer_shape(x=(2, 3), s=(3,))
    other = foreach(lambda row, t: (row, od.sym.cast(t + row, "float64")), x, s)[1]
    with pytest.raises(DTypeError, match="state 0 after a step is float64, expected float32"):
        other.infer_type(x="float32", s="float32")


def test_auxiliary_states_are_read_in_prediction_and_not_trained():
    norm = foreach(lambda row, t: (od.sym.BatchNorm(row, name="bn", fix_gamma=False), t + 1), x, s)[0]
    executor = norm.simple_bind(od.cpu(), x=(3, 4, 2), s=(1,))
    for name, value in {"x": draws(3, 4, 2), "bn_gamma": 2, "bn_moving_mean": 1, "bn_moving_var": 4}.items():
        executor.arg_dict[name][:] = value
    expected = (executor.arg_dict["x"].asnumpy() - 1) / np.sqrt(4 + 1e-3) * 2
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), expected, rtol=1e-5)
    with pytest.raises(UnsupportedError, match="bn_moving_mean, bn_moving_var: auxiliary states in the body"):
        executor.forward(is_train=True)[0].asnumpy()
