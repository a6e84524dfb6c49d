"""Executors: running, gradients, reshaping, monitoring, failing."""

from __future__ import annotations

import re

import numpy as np
import pytest

from operad import AttrScope, engine, nd, sym
from operad.context import cpu
from operad.errors import ArgumentError, BindError, ShapeError

pytestmark = pytest.mark.usefixtures("operators", "two_threads")

X, W, B = np.float32([[1, 2]]), np.float32([[3, 4], [5, 6], [7, 8]]), np.float32([9, 10, 11])


def dense_tanh():
    return sym.tanh(sym.Dense(sym.var("data"), num_hidden=3, name="fc1"), name="act")


def network(label="label"):
    out = sym.Dense(sym.tanh(sym.Dense(sym.var("data"), num_hidden=16, name="fc1")), num_hidden=4, name="fc2")
    return sym.SquareLoss(out, sym.var(label), name="loss")


def filled(exe, seed=0):
    """Random values in every argument."""
    rng = np.random.default_rng(seed)
    for array in exe.arg_dict.values():
        array[:] = rng.uniform(-1, 1, array.shape)
    return exe


class TestForward:
    def test_computes_the_outputs(self, each_engine):
        exe = dense_tanh().bind(cpu(), [nd.array(X), nd.array(W), nd.array(B)])
        (out,) = exe.forward()
        assert exe.outputs[0] is out
        np.testing.assert_array_equal(out.asnumpy(), np.tanh(X @ W.T + B))
        assert list(exe.output_dict) == ["act_output"]

    def test_takes_new_values_of_any_kind(self):
        exe = filled(dense_tanh().simple_bind(data=(1, 2)))
        weight, bias = exe.arg_dict["fc1_weight"].asnumpy(), exe.arg_dict["fc1_bias"].asnumpy()
        for value in (X, nd.array(X), X.tolist(), nd.array(X, cpu(1), "float64")):
            exe.arg_dict["data"][:] = 0
            (out,) = exe.forward(data=value)
            np.testing.assert_array_equal(out.asnumpy(), np.tanh(X @ weight.T + bias))

    def test_refuses_unknown_names_and_shapes(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        with pytest.raises(ArgumentError, match="unknown argument 'dat'; expected some of data, fc1_weight"):
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
        exe.copy_params_from({"x": nd.array(np.full(shape, 3))})
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

    def test_fewer_than_outputs_are_refused_and_more_ignored(self):
        x = sym.var("x")
        exe = sym.Group([sym.square(x), sym.tanh(x)]).bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        ones = nd.array(np.ones((1, 2)))
        exe.forward(is_train=True)
        with pytest.raises(BindError, match="got 1 out_grads, expected 2"):
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

    def test_may_not_follow_a_prediction_that_left_out_what_it_reads(self):
        both = sym.SineCosine(sym.var("x"), name="both")
        exe = both[0].bind(cpu(), [nd.array(X)], [nd.empty((1, 2))])
        hidden = exe._program.hidden_read_by_backward
        exe.forward()
        if hidden is None:
            exe.backward(nd.array(X))
        else:
            with pytest.raises(BindError, match="only in training"):
                exe.backward(nd.array(X))

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


class TestCopyParamsFrom:
    def test_sets_arguments_and_states(self):
        exe = sym.Centre(dense_tanh(), name="c").simple_bind(data=(1, 2))
        exe.copy_params_from(
            {"fc1_weight": nd.array(W), "fc1_bias": nd.array(B, cpu(1))}, {"c_mean": nd.array(B)}
        )
        (out,) = exe.forward(data=X)
        np.testing.assert_array_equal(out.asnumpy(), np.tanh(X @ W.T + B) - B)

    def test_takes_its_own_arrays(self):
        exe = filled(dense_tanh().simple_bind(data=(1, 2)))
        before = exe.arg_dict["fc1_weight"].asnumpy()
        exe.copy_params_from(exe.arg_dict, exe.aux_dict)
        np.testing.assert_array_equal(exe.arg_dict["fc1_weight"].asnumpy(), before)

    def test_refuses_unknown_names_unless_allowed(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        for kind in (ArgumentError, ValueError):
            with pytest.raises(kind, match="unknown argument 'fc9_weight'"):
                exe.copy_params_from({"fc9_weight": nd.array(W)})
        exe.copy_params_from({"fc9_weight": nd.array(W)}, allow_extra_params=True)

    def test_refuses_another_shape(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        for value in (B, W[:, :1]):
            with pytest.raises(BindError, match="'fc1_weight' has shape"):
                exe.copy_params_from({"fc1_weight": nd.array(value)})


class TestReshape:
    def test_shares_weights_and_gradients(self):
        exe = filled(network().simple_bind(data=(8, 3)))
        small = exe.reshape(data=(4, 3), label=(4, 4))
        assert small.arg_dict["fc1_weight"] is exe.arg_dict["fc1_weight"]
        assert small.grad_dict["fc1_weight"] is exe.grad_dict["fc1_weight"]
        assert small.outputs[0].shape == (4, 4)
        small.arg_dict["data"][:] = 3
        assert exe.arg_dict["data"].asnumpy()[:4].tolist() == [[3.0] * 3] * 4

    def test_computes_what_a_fresh_executor_computes(self):
        exe = filled(network().simple_bind(data=(8, 3)))
        small = exe.reshape(data=(5, 3), label=(5, 4))
        fresh = network().simple_bind(data=(5, 3))
        fresh.copy_params_from(small.arg_dict)
        for each in (small, fresh):
            each.forward(is_train=True)
            each.backward()
        np.testing.assert_array_equal(small.outputs[0].asnumpy(), fresh.outputs[0].asnumpy())
        for name, grad in fresh.grad_dict.items():
            np.testing.assert_array_equal(small.grad_dict[name].asnumpy(), grad.asnumpy())

    def test_uses_the_memory_of_the_original(self):
        exe = network().simple_bind(data=(8, 3))
        small = exe.reshape(data=(4, 3), label=(4, 4))
        assert {id(chunk) for chunk in small.pool.chunks} <= {id(chunk) for chunk in exe.pool.chunks}

    def test_grows_only_if_allowed_and_keeps_the_weights(self):
        exe = filled(network().simple_bind(data=(4, 3)))
        with pytest.raises(BindError, match="allow_up_sizing"):
            exe.reshape(data=(8, 3), label=(8, 4))
        large = exe.reshape(data=(8, 3), label=(8, 4), allow_up_sizing=True)
        assert large.arg_dict["fc1_weight"] is exe.arg_dict["fc1_weight"]
        assert large.arg_dict["data"].shape == (8, 3)

    def test_gradients_that_grow_start_from_zero(self):
        exe = sym.square(sym.var("x")).simple_bind(grad_req="add", x=(2,))
        large = exe.reshape(x=(50,), allow_up_sizing=True)
        large.forward(is_train=True, x=np.ones(50))
        large.backward(nd.array(np.ones(50)))
        assert large.grad_dict["x"].asnumpy().tolist() == [2.0] * 50

    def test_changes_other_arguments_only_if_allowed(self):
        exe = network().simple_bind(data=(8, 3))
        with pytest.raises(BindError, match="'label' would change"):
            exe.reshape(data=(4, 3))
        assert exe.reshape(partial_shaping=True, data=(4, 3)).arg_dict["label"].shape == (4, 4)
        with pytest.raises(BindError, match="unknown argument 'dat'"):
            exe.reshape(dat=(1, 3))

    def test_backward_notices_that_the_memory_was_used_in_between(self):
        exe = filled(network().simple_bind(data=(8, 3)))
        small = exe.reshape(data=(4, 3), label=(4, 4))
        exe.forward(is_train=True)
        small.forward(is_train=True)
        with pytest.raises(BindError, match="shares this one's memory"):
            exe.backward()
        small.backward()

    def test_writes_into_the_outputs_of_the_original_where_they_suffice(self):
        exe = sym.square(sym.var("x")).simple_bind(x=(2, 2))
        (old,) = exe.outputs
        exe.reshape(x=(2, 2)).forward(x=np.full((2, 2), 5))
        assert old.asnumpy().tolist() == [[25, 25], [25, 25]]
        exe.reshape(x=(1, 2)).forward(x=np.full((1, 2), 7))
        assert old.asnumpy().tolist() == [[49, 49], [25, 25]]
        (large,) = exe.reshape(x=(3, 2), allow_up_sizing=True).forward(x=np.ones((3, 2)))
        assert large.asnumpy().tolist() == [[1, 1]] * 3

    def test_keeps_the_monitor(self):
        seen = []
        exe = sym.square(sym.var("x"), name="y").simple_bind(x=(2,))
        exe.set_monitor_callback(lambda name, array: seen.append(name))
        exe.reshape(x=(2,)).forward()
        assert seen == ["y_output"]

    def test_executors_may_alternate(self):
        exe = filled(network().simple_bind(data=(8, 3)))
        others = [exe, exe.reshape(data=(4, 3), label=(4, 4)), exe.reshape(data=(2, 3), label=(2, 4))]
        expected = {}
        for _ in range(3):
            for i, each in enumerate(others):
                each.forward(is_train=True)
                each.backward()
                found = each.grad_dict["fc1_weight"].asnumpy()
                np.testing.assert_array_equal(found, expected.setdefault(i, found))
        assert len(expected) == 3


class TestMonitor:
    def test_sees_outputs_under_their_names(self, each_engine):
        seen = {}
        exe = filled(dense_tanh().simple_bind(data=(1, 2)))
        exe.set_monitor_callback(lambda name, array: seen.update({name: array.asnumpy()}))
        (out,) = exe.forward(is_train=True)
        assert list(seen) == ["fc1_output", "act_output"]
        np.testing.assert_array_equal(np.tanh(seen["fc1_output"]), seen["act_output"])
        np.testing.assert_array_equal(seen["act_output"], out.asnumpy())
        exe.backward(nd.array(np.ones((1, 3))))
        assert list(seen)[2:] == [
            "act_backward_data_grad",
            "fc1_backward_data_grad",
            "fc1_backward_weight_grad",
            "fc1_backward_bias_grad",
        ]

    def test_sees_inputs_too_if_asked(self):
        names = []
        exe = dense_tanh().simple_bind(data=(1, 2))
        exe.set_monitor_callback(lambda name, array: names.append(name), monitor_all=True)
        exe.forward()
        dense = ["data", "fc1_data", "fc1_weight", "fc1_bias", "fc1_output"]
        assert names == [*dense, "act_data", "act_output"]

    def test_that_raises_half_way_leaves_no_backward(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        exe.forward(is_train=True)
        exe.set_monitor_callback(lambda name, array: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            exe.forward(is_train=True)
        exe.set_monitor_callback(None)
        with pytest.raises(BindError, match="call forward"):
            exe.backward(nd.empty((1, 3)))

    def test_changes_no_result_and_can_be_taken_off(self):
        exe = filled(network().simple_bind(data=(8, 3)))
        calls = []
        results = []
        for callback in (None, lambda name, array: calls.append(name), None):
            exe.set_monitor_callback(callback)
            count = len(calls)
            exe.forward(is_train=True)
            exe.backward()
            results.append([grad.asnumpy() for grad in exe.grad_arrays])
            assert (len(calls) > count) == (callback is not None)
        for found in results[1:]:
            for one, other in zip(results[0], found, strict=True):
                np.testing.assert_array_equal(one, other)


class TestMemory:
    def test_debug_str_tells_the_total(self):
        def total(symbol, **options):
            text = symbol.simple_bind(data=(8192, 3), label=(8192, 4), **options).debug_str()
            assert text.endswith("Total 0 TempSpace resource requested")
            return int(re.search(r"Total (\d+) MB allocated", text).group(1))

        fc1 = sym.tanh(sym.Dense(sym.var("data"), num_hidden=256, name="fc1"))
        fc2 = sym.tanh(sym.Dense(fc1, num_hidden=256, name="fc2"))
        loss = sym.SquareLoss(sym.Dense(fc2, num_hidden=4, name="fc3"), sym.var("label"))
        train = total(loss)
        assert train > total(loss, grad_req="null") == total(sym.BlockGrad(loss))

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


def alternating(failing):
    """Six branches `2 * (x + 1)`, on two devices in turn, of which one fails at `x > 0.9`; their sum."""
    x, total = sym.var("x"), None
    for i in range(6):
        with AttrScope(ctx_group="odd" if i % 2 else "even"):
            branch = sym._plus_scalar(x, scalar=1)
            if i == failing:
                branch = sym.passes_below(branch, limit=1.9)
            branch = sym._mul_scalar(branch, scalar=2)
            total = branch if total is None else sym.elemwise_add(total, branch)
    return total


class TestFailures:
    def failing(self):
        x = sym.tanh(sym.var("x"), name="before")
        return sym.tanh(sym.explode(x, limit=0.9, name="boom"), name="after").simple_bind(x=(3,))

    def test_surface_at_every_wait_with_the_place(self, each_engine):
        exe = self.failing()
        (out,) = exe.forward(x=[5, 5, 5])
        for _ in range(2):
            with pytest.raises(ZeroDivisionError, match=r"above 0\.9") as caught:
                out.asnumpy()
            assert "\n".join(caught.value.__notes__).count("in forward of explode 'boom' (this process") == 1
        nd.waitall()

    def test_leave_the_executor_usable(self, each_engine):
        exe = self.failing()
        with pytest.raises(ZeroDivisionError):
            exe.forward(x=[5, 5, 5])[0].wait_to_read()
        (out,) = exe.forward(x=[0.1, 0.2, 0.3])
        expected = np.tanh(np.tanh(np.float32([0.1, 0.2, 0.3])))
        np.testing.assert_array_equal(out.asnumpy(), expected)

    @pytest.mark.parametrize("at", range(6))
    @pytest.mark.parametrize("is_monitored", [False, True])
    def test_in_any_of_several_segments_leave_no_result_and_the_executor_usable(
        self, each_engine, at, is_monitored
    ):
        """Segments take turns at blocks of memory, and one may write where another failed before."""
        exe = alternating(at).simple_bind(x=(3,), group2ctx={"even": cpu(0), "odd": cpu(1)})
        if is_monitored:
            exe.set_monitor_callback(lambda name, array: None)
        head, fine, bad = nd.array(np.ones(3)), np.float32([0.1, 0.2, 0.3]), [5, 5, 5]
        for values in (bad, fine, bad, bad, fine):
            (out,) = exe.forward(is_train=True, x=values)
            exe.backward(head)
            results = [out, exe.grad_dict["x"]]
            if values is bad:
                for array in (*results, *results):
                    with pytest.raises(ZeroDivisionError):
                        array.asnumpy()
            else:
                expected = 2.0 * 6 * np.float32([0.1, 0.2, 0.3]) + 12
                np.testing.assert_allclose(out.asnumpy(), expected, rtol=1e-5)
                np.testing.assert_allclose(results[1].asnumpy(), np.full(3, 12), rtol=1e-5)
        nd.waitall()

    def test_in_backward_reach_the_gradient(self, each_engine):
        y = sym.explode_back(sym.var("x"), limit=1, name="boom")
        exe = sym.square(y).simple_bind(x=(2,))
        exe.forward(is_train=True, x=[3, 3])
        exe.backward(nd.array([1, 1]))
        with pytest.raises(ZeroDivisionError) as caught:
            exe.grad_dict["x"].asnumpy()
        assert "in backward of explode_back 'boom'" in "\n".join(caught.value.__notes__)
        exe.forward(is_train=True, x=[0.1, 0.2])
        exe.backward(nd.array([1, 1]))
        np.testing.assert_array_equal(exe.grad_dict["x"].asnumpy(), 2 * np.float32([0.1, 0.2]))

    def test_of_an_input_pass_through(self):
        exe = dense_tanh().simple_bind(data=(1, 2))
        exe.arg_dict["data"][:] = nd.explode(nd.array(X))
        (out,) = exe.forward()
        with pytest.raises(ZeroDivisionError):
            out.asnumpy()

    def test_do_not_touch_another_executor(self):
        bad, good = self.failing(), self.failing()
        bad.forward(x=[5, 5, 5])
        (out,) = good.forward(x=[0, 0, 0])
        assert out.asnumpy().tolist() == [0, 0, 0]
        with pytest.raises(ZeroDivisionError):
            nd.waitall()


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
