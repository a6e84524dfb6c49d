"""What a monitor of an executor is called with."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from core.tests.executor.dense import dense_tanh, filled, network
from core.tests.graph.test_composite import Twice
from operad import nd
from operad.errors import BindError
from operad.graph import Entry, OpNode, Variable
from operad_module.monitored import _Show, _show

pytestmark = pytest.mark.usefixtures("operators", "two_threads")


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
        dense = ["data", "fc1_data", "fc1_weight", "fc1_weight", "fc1_bias", "fc1_bias", "fc1_output"]
        assert names == [*dense, "act_input0", "act_output"]
        assert names[0].decode() == names[0]  # MXNet's names are bytes

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


@pytest.mark.parametrize("monitor_all", [False, True])
def test_members_are_shown_under_their_own_names(monitor_all):
    tanh = od.registry.get("tanh")()
    x = Variable("x")
    first = OpNode(tanh, "first", [Entry(x, 0)])
    second = OpNode(tanh, "second", first.entries)
    seen = {}
    value = od.nd.array([0.5, -1])
    values = Twice([first, second]).member_values([value])
    for member in (first, second):
        _show(member, member.entries, values, _Show(seen.__setitem__, str), monitor_all)
    expected = {"first_output": np.tanh([0.5, -1]), "second_output": np.tanh(np.tanh([0.5, -1]))}
    for name, numbers in expected.items():
        np.testing.assert_allclose(seen[name].asnumpy(), numbers, rtol=1e-6)
    inputs = {"x", "first_input0", "second_input0"} if monitor_all else set()
    assert set(seen) == {*expected, *inputs}


@pytest.mark.parametrize("fusion", ["on", "off"])
def test_a_network_of_a_known_structure_shows_its_own_names(fusion, monkeypatch):
    """What the first network of a structure is called, another is not."""
    monkeypatch.setenv("OPERAD_FUSION", fusion)
    seen = {}
    for prefix in ("one", "other"):
        x = od.sym.tanh(
            od.sym.square(od.sym.var(f"{prefix}_x"), name=f"{prefix}_square"), name=f"{prefix}_tanh"
        )
        exe = od.sym.MakeLoss(x, name=f"{prefix}_loss").simple_bind(od.cpu(), **{f"{prefix}_x": (64, 64)})
        names = seen[prefix] = []
        exe.set_monitor_callback(lambda name, array, names=names: names.append(name), monitor_all=True)
        exe.forward(is_train=True)
        exe.backward()
        od.nd.waitall()
    assert all(name.startswith("other_") for name in seen["other"])
    assert [name.replace("other_", "one_") for name in seen["other"]] == seen["one"]
    assert {"other_x", "other_square_output", "other_tanh_output", "other_loss_output"} <= {*seen["other"]}
