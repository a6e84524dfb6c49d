"""Executors of other shapes, and the parameters that they take over."""

from __future__ import annotations

import numpy as np
import pytest

from core.tests.executor.dense import B, W, X, dense_tanh, filled, network
from operad import nd, sym
from operad.device import cpu
from operad.errors import ArgumentError, BindError

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


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
