"""Executors: running, gradients, reshaping, monitoring, failing."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from core.tests.executor.dense import B, W, X, dense_tanh, filled, network
from core.tests.operators import SineCosine
from operad import AttrScope, engine, nd, sym
from operad.device import cpu
from operad.errors import ArgumentError, BindError, ShapeError

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


class TestForward:
    def test_computes_the_outputs(self, each_engine):
        exe = dense_tanh().bind(cpu(), [nd.array(X), nd.array(W), nd.array(B)])
        (out,) = exe.forward()
        assert exe.outputs[0] is out
        np.testing.assert_array_equal(out.asnumpy(), np.tanh(X @ W.T + B))
        assert list(exe.output_dict) == ["act_output"]

    def test_shows_its_outputs_and_the_memory_that_is_planned(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        planned = exe.memory_plan.planned_bytes
        assert repr(exe) == f"<Executor of act_output (1, {len(B)}) on cpu(0), {planned} bytes planned>"
        assert repr(exe.memory_plan).startswith("<MemoryPlan of ")
        assert f"nodes: {planned} bytes planned" in repr(exe.memory_plan)

    def test_takes_new_values_of_any_kind(self):
        exe = filled(dense_tanh().simple_bind(data=(1, 2)))
        weight, bias = exe.arg_dict["fc1_weight"].asnumpy(), exe.arg_dict["fc1_bias"].asnumpy()
        for value in (X, nd.array(X), X.tolist(), nd.array(X, cpu(1), "float64")):
            exe.arg_dict["data"][:] = 0
            (out,) = exe.forward(data=value)
            np.testing.assert_array_equal(out.asnumpy(), np.tanh(X @ weight.T + bias))

    def test_refuses_unknown_names_and_shapes(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        with pytest.raises(ArgumentError, match="unknown argument 'dat'; did you mean 'data'"):
            exe.forward(dat=X)
        for value in (W, nd.array(W), X[0], 1.0):
            with pytest.raises(BindError, match=r"forward: 'data' has shape .*, expected \(1, 2\)"):
                exe.forward(data=value)

    def test_sees_arguments_changed_in_place(self):
        exe = dense_tanh().bind(
            cpu(), {"data": nd.array(X), "fc1_weight": nd.array(W), "fc1_bias": nd.array(B)}
        )
        exe.forward()
        exe.arg_dict["data"][:] = -X
        (out,) = exe.forward()
        np.testing.assert_array_equal(out.asnumpy(), np.tanh(-X @ W.T + B))

    def test_an_output_may_be_an_argument(self):
        x = sym.var("x")
        exe = sym.Group([x, sym.tanh(x)]).bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        first, second = exe.forward(is_train=True)
        np.testing.assert_array_equal(first.asnumpy(), X)
        exe.backward([nd.array(X), nd.array(X)])
        expected = X + X * (1 - np.tanh(X) ** 2)
        np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), expected)
        np.testing.assert_array_equal(second.asnumpy(), np.tanh(X))

    def test_an_output_may_stand_twice(self):
        y = sym.square(sym.var("x"), name="y")
        exe = sym.Group([y, y]).bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        exe.forward(is_train=True)
        exe.backward([nd.array(X), nd.array(2 * X)])
        np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 2 * 3 * X * X)

    def test_an_argument_may_have_the_name_of_a_head_gradient(self):
        y = sym.elemwise_mul(sym.var("x"), sym.var("y_output_head_grad"), name="y")
        exe = y.bind(cpu(), [nd.array(X), nd.array(X + 1)], [nd.empty((1, 2)), nd.empty((1, 2))])
        exe.forward(is_train=True)
        exe.backward(nd.array(X))
        np.testing.assert_array_equal(exe.grad_arrays[0].asnumpy(), X * (X + 1))
        np.testing.assert_array_equal(exe.grad_arrays[1].asnumpy(), X * X)

    @pytest.mark.parametrize("shape", [(), (0, 3), (1,)])
    def test_shapes_without_axes_or_elements_work(self, shape):
        x = nd.array(np.ones(shape))
        exe = sym.square(sym.tanh(sym.var("x"))).bind(cpu(), [x], [nd.empty(shape)])
        (out,) = exe.forward(is_train=True)
        exe.backward(nd.array(np.ones(shape)))
        np.testing.assert_array_equal(out.asnumpy(), np.tanh(x.asnumpy()) ** 2)
        assert exe.grad_arrays[0].shape == shape
        (out,) = exe.forward(x=nd.array(np.full(shape, 2)))
        np.testing.assert_array_equal(out.asnumpy(), np.tanh(np.full(shape, 2, np.float32)) ** 2)
        exe.set_arguments("a call", {"x": nd.array(np.full(shape, 3))})
        np.testing.assert_array_equal(exe.arg_arrays[0].asnumpy(), np.full(shape, 3))

    def test_one_array_may_serve_two_arguments(self):
        shared = nd.array(X)
        exe = (sym.var("a") * sym.var("b")).bind(cpu(), [shared, shared])
        (out,) = exe.forward()
        np.testing.assert_array_equal(out.asnumpy(), X * X)


class TestBackward:
    @pytest.mark.parametrize("uses", [1, 2, 5, 8, 9, 12, 24])
    @pytest.mark.parametrize("req", ["write", "add"])
    def test_any_number_of_uses_sums_exactly(self, uses, req):
        x = sym.var("x")
        total = x * 1.0
        for _ in range(uses - 1):
            total = total + x
        grad = nd.array(100 * X)
        exe = total.bind(cpu(), [nd.array(X)], [grad], req)
        for repeat in range(1, 3):
            exe.forward(is_train=True)
            exe.backward(nd.array(X))
            expected = uses * X if req == "write" else 100 * X + repeat * uses * X
            np.testing.assert_array_equal(grad.asnumpy(), expected)

    def test_each_argument_has_its_own_request(self):
        grads = {"fc1_weight": nd.array(np.full((3, 2), 5)), "fc1_bias": nd.array(np.full(3, 5))}
        args = [nd.array(X), nd.array(W), nd.array(B)]
        exe = sym.Dense(sym.var("data"), num_hidden=3, name="fc1").bind(
            cpu(), args, grads, {"fc1_weight": "add", "fc1_bias": "write"}
        )
        exe.forward(is_train=True)
        exe.backward(nd.array([[1, 2, 3]]))
        assert exe.grad_dict["data"] is None
        np.testing.assert_array_equal(grads["fc1_weight"].asnumpy(), 5 + np.float32([[1], [2], [3]]) @ X)
        np.testing.assert_array_equal(grads["fc1_bias"].asnumpy(), [1, 2, 3])

    def test_a_loss_needs_and_heeds_no_head_gradient(self):
        exe = filled(network().simple_bind(data=(2, 3)))
        (out,) = exe.forward(is_train=True)
        exe.backward()
        alone = {name: grad.asnumpy() for name, grad in exe.grad_dict.items()}
        exe.forward(is_train=True)
        exe.backward(nd.array(np.full(out.shape, 100)))
        for name, grad in exe.grad_dict.items():
            np.testing.assert_array_equal(grad.asnumpy(), alone[name])
        assert not alone["label"].any()
        assert alone["fc1_weight"].any()

    def test_other_outputs_need_theirs(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        exe.forward(is_train=True)
        with pytest.raises(BindError, match="'act_output' is not a loss"):
            exe.backward()
        with pytest.raises(BindError, match=r"shape \(1, 2\), expected \(1, 3\)"):
            exe.backward(nd.array(X))

    def test_outputs_that_need_no_gradient_may_be_left_out_and_more_are_ignored(self):
        x = sym.var("x")
        exe = sym.Group([sym.square(x), sym.tanh(x)]).bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        ones = nd.array(np.ones((1, 2)))
        exe.forward(is_train=True)
        with pytest.raises(BindError, match=r"output 'tanh\d+_output' is not a loss"):
            exe.backward([ones])
        exe.backward([ones, ones, nd.array(W)])
        np.testing.assert_allclose(exe.grad_arrays[0].asnumpy(), 2 * X + 1 - np.tanh(X) ** 2, rtol=1e-6)

    @pytest.mark.parametrize("given", [[X], X])
    def test_takes_arrays_of_ours_only(self, given):
        exe = sym.square(sym.var("x"), name="square").simple_bind(x=(1, 2))
        exe.forward(is_train=True)
        with pytest.raises(BindError, match="gradient of output 'square_output' is ndarray"):
            exe.backward(given)

    def test_needs_forward_first(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        with pytest.raises(BindError, match="call forward first"):
            exe.backward(nd.empty((1, 3)))

    def test_may_follow_a_prediction(self):
        exe = sym.square(sym.var("x")).bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        exe.forward()
        exe.backward(nd.array(X))
        np.testing.assert_array_equal(exe.grad_arrays[0].asnumpy(), 2 * X * X)

    def test_may_not_follow_a_prediction_that_left_out_what_it_reads(self, monkeypatch):
        monkeypatch.setattr(SineCosine, "train_only_outputs", frozenset([1]))
        both = sym.SineCosine(sym.var("x"), name="both")
        exe = both[0].bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        exe.forward()
        with pytest.raises(BindError, match="reads 'both_cosine', which forward computes only in training"):
            exe.backward(nd.array(X))

    def test_runs_without_forward_where_it_reads_no_output(self):
        exe = (sym.var("a") * sym.var("b")).simple_bind(a=(1, 2), b=(1, 2))
        for factor in (2, 3):  # each time again, of the arguments of that moment
            exe.arg_dict["b"][:] = factor
            exe.backward(nd.array(X))
            np.testing.assert_array_equal(exe.grad_dict["a"].asnumpy(), factor * X)

    def test_without_gradients_does_nothing(self):
        exe = dense_tanh().simple_bind(grad_req="null", data=(1, 2))
        exe.backward(nd.empty((1, 3)))
        assert exe.grad_arrays == [None] * 3

    def test_may_run_again_where_it_overwrites_nothing(self):
        exe = (sym.var("a") * sym.var("b")).bind(
            cpu(), [nd.array(X)] * 2, [nd.empty((1, 2)), nd.empty((1, 2))]
        )
        exe.forward(is_train=True)
        for factor in (1, 2):
            exe.backward(nd.array(factor * X))
            np.testing.assert_array_equal(exe.grad_arrays[0].asnumpy(), factor * X * X)

    def test_is_refused_a_second_time_where_values_are_gone(self):
        y = sym.var("x")
        for _ in range(6):
            y = sym.reverse_last(sym.square(y))
        exe = filled(y.simple_bind(x=(64,)))
        exe.forward(is_train=True)
        exe.backward(nd.array(np.ones(64)))
        with pytest.raises(BindError, match="one backward may follow"):
            exe.backward(nd.array(np.ones(64)))
        exe.forward(is_train=True)
        exe.backward(nd.array(np.ones(64)))

    def test_through_nothing_that_has_a_gradient_is_zero(self):
        exe = sym.sign(sym.var("x")).bind(cpu(), [nd.array(X)], [nd.array(X)])
        exe.forward(is_train=True)
        exe.backward(nd.array(X))
        assert exe.grad_arrays[0].asnumpy().tolist() == [[0, 0]]

    def test_hidden_outputs_get_no_gradient(self):
        both = sym.SineCosine(sym.var("x"))
        exe = (both[0] * both[1]).bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        exe.forward(is_train=True)
        exe.backward(nd.array(np.ones((1, 2))))
        np.testing.assert_allclose(exe.grad_arrays[0].asnumpy(), np.cos(2 * X), rtol=1e-5)


class TestStates:
    def test_are_updated_by_training_forward_only(self):
        exe = sym.Centre(sym.var("x"), name="c").simple_bind(x=(2, 3))
        assert list(exe.aux_dict) == ["c_mean"]
        exe.arg_dict["x"][:] = 4
        exe.forward(is_train=False)
        assert exe.aux_arrays[0].asnumpy().tolist() == [0, 0, 0]
        exe.forward(is_train=True)
        exe.backward(nd.array(np.ones((2, 3))))
        assert exe.aux_arrays[0].asnumpy().tolist() == [2, 2, 2]
        (out,) = exe.forward(is_train=False)
        assert out.asnumpy().tolist() == [[2, 2, 2]] * 2

    def test_may_be_bound_by_the_caller(self):
        mean = nd.array([1, 2, 3])
        exe = sym.Centre(sym.var("x"), name="c").bind(
            cpu(), {"x": nd.array(np.zeros((1, 3)))}, aux_states=[mean]
        )
        np.testing.assert_array_equal(exe.forward()[0].asnumpy(), [[-1, -2, -3]])
        exe.forward(is_train=True)
        assert mean.asnumpy().tolist() == [0.5, 1, 1.5]


class TestMemory:
    def test_the_plan_is_at_most_the_unshared_size(self):
        plan = network().simple_bind(data=(64, 3)).memory_plan
        assert 0 < plan.lower_bound_bytes <= plan.planned_bytes <= plan.baseline_bytes

    def test_a_shared_executor_lends_memory_and_arrays(self):
        exe = filled(network().simple_bind(data=(8, 3)))
        other = network().simple_bind(data=(4, 3), shared_exec=exe)
        assert other.arg_dict["fc1_weight"] is exe.arg_dict["fc1_weight"]
        assert other.arg_dict["data"] is not exe.arg_dict["data"]
        assert {id(chunk) for chunk in other.pool.chunks} <= {id(chunk) for chunk in exe.pool.chunks}
        args = [nd.empty(array.shape) for array in exe.arg_arrays]
        bound = network().bind(cpu(), args, shared_exec=exe)
        assert {id(chunk) for chunk in bound.pool.chunks} <= {id(chunk) for chunk in exe.pool.chunks}


class TestGroups:
    def grouped(self):
        with AttrScope(ctx_group="first"):
            hidden = sym.tanh(sym.Dense(sym.var("data"), num_hidden=16, name="fc1"))
        with AttrScope(ctx_group="second"):
            out = sym.Dense(hidden, num_hidden=4, name="fc2")
            return sym.SquareLoss(out, sym.var("label"), name="loss")

    def test_run_on_their_contexts_with_the_same_result(self, each_engine):
        groups = {"first": cpu(0), "second": cpu(1)}
        split = filled(self.grouped().simple_bind(cpu(0), group2ctx=groups, data=(8, 3)))
        whole = filled(network().simple_bind(cpu(0), data=(8, 3)))
        assert split.arg_dict["fc1_weight"].context is cpu(0)
        assert split.arg_dict["fc2_weight"].context is cpu(1)
        assert split.grad_dict["fc2_weight"].context is cpu(1)
        assert split.outputs[0].context is cpu(1)
        for exe in (split, whole):
            exe.forward(is_train=True)
            exe.backward()
        np.testing.assert_array_equal(split.outputs[0].asnumpy(), whole.outputs[0].asnumpy())
        for name, grad in whole.grad_dict.items():
            np.testing.assert_array_equal(split.grad_dict[name].asnumpy(), grad.asnumpy())
        assert "_cross_device_copy" in repr(
            [node.op.name for node in split.memory_plan.schedule.graph.op_nodes]
        )

    def test_need_arrays_on_their_contexts(self):
        args = [nd.empty(shape) for shape in ((8, 3), (16, 3), (16,), (4, 16), (4,), (8, 4))]
        with pytest.raises(BindError, match=r"'fc2_weight' is on cpu\(0\), expected cpu\(1\)"):
            self.grouped().bind(cpu(0), args, group2ctx={"second": cpu(1)})


def test_executors_may_be_interleaved():
    exes = [filled(network().simple_bind(data=(rows, 3)), seed=rows) for rows in (2, 3, 4)]
    alone = []
    for exe in exes:
        exe.forward(is_train=True)
        exe.backward()
        alone.append([grad.asnumpy() for grad in exe.grad_arrays])
    for _ in range(3):
        for exe in exes:
            exe.forward(is_train=True)
        for exe in reversed(exes):
            exe.backward()
    for exe, expected in zip(exes, alone, strict=True):
        for grad, value in zip(exe.grad_arrays, expected, strict=True):
            np.testing.assert_array_equal(grad.asnumpy(), value)


def test_a_training_loop_gives_the_same_bits_on_every_engine():
    def train(name):
        engine.set(name)
        exe = filled(network().simple_bind(data=(16, 3)))
        for _ in range(5):
            exe.forward(is_train=True)
            exe.backward()
            for key, grad in exe.grad_dict.items():
                if key not in {"data", "label"}:
                    exe.arg_dict[key][:] = exe.arg_dict[key] - grad * 0.1
        return [array.asnumpy() for array in exe.arg_arrays]

    naive, threaded = train("naive"), train("threaded")
    for one, other in zip(naive, threaded, strict=True):
        np.testing.assert_array_equal(one, other)


def test_shapes_that_clash_are_refused():
    with pytest.raises(ShapeError, match=r"fc1.*data has 3 axes"):
        dense_tanh().simple_bind(data=(1, 2, 3))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_executor_cannot_be_copied_and_says_what_can(copied):
    with pytest.raises(TypeError, match="pickle its symbol, arg_dict and aux_dict"):
        copied(dense_tanh().bind(cpu(), [nd.array(X), nd.array(W), nd.array(B)]))


def test_a_shape_of_a_name_that_is_no_argument_is_said_where_shapes_are_missing():
    with pytest.raises(ShapeError, match="'dat' is no argument, did you mean 'data'"):
        dense_tanh().simple_bind(cpu(), dat=(2, 3))
