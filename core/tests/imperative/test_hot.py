"""The hot path: it gives what the long way gives, whatever stands in its way."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import operad as od
from core.tests.imperative.calling import Gate, X, calls_of
from core.tests.together import run_together
from operad import autograd, engine, nd
from operad.engine import bulk, current
from operad.engine.thread import local
from operad.imperative import chunk, spec_of
from operad.imperative.versions import Versions

pytest.importorskip("operad_elemwise", reason="these are calls of its operators")


@pytest.fixture(autouse=True)
def threaded():
    engine.set("threaded")


def test_a_small_call_of_a_ufunc_takes_the_hot_path_in_few_calls():
    x = nd.array(X)
    for _ in range(2):
        nd.tanh(x)
    names = calls_of(lambda: nd.tanh(x))
    assert names == ["tanh", "apply_fast"]


@pytest.mark.parametrize("call", [lambda x: x + x, lambda x: x * 2.5], ids=["array", "scalar"])
def test_arithmetic_takes_the_same_path(call):
    x = nd.array(X)
    for _ in range(2):
        call(x)
    names = calls_of(lambda: call(x))
    assert "apply_fast" in names
    assert len(names) <= 7


def test_a_scalar_never_seen_before_takes_the_same_path():
    x, numbers = nd.array(X), iter(np.linspace(1, 2, 10))
    for _ in range(2):
        x * float(next(numbers))
    number = float(next(numbers))
    names = calls_of(lambda: x * number)
    assert "apply_fast" in names
    assert len(names) <= 9


@pytest.mark.parametrize(
    "call",
    [lambda x, y: nd.elemwise_add(x, x, out=y), lambda x, y: nd.tanh(y, out=y), lambda x, y: y.__iadd__(x)],
    ids=["another", "an input", "in place"],
)
def test_a_given_array_is_filled_on_the_same_path(call):
    x, y = nd.array(X), nd.array(X)
    for _ in range(2):
        call(x, y)
    names = calls_of(lambda: call(x, y))
    assert "apply_fast" in names
    assert "apply" not in names


def plan_of(function):
    return next(iter(function.__globals__["__plans"].values()))


def test_only_what_is_quick_runs_under_the_lock(monkeypatch):
    x, seen = nd.array(X), {}
    functions = {"tanh": nd.tanh, "softmax": nd.softmax}
    for name, function in functions.items():
        function(x)
        plan = plan_of(function)
        monkeypatch.setattr(
            plan.fast or plan,
            "direct",
            lambda *_, name=name: seen.update({name: current._engine.lock.owner is not None}),
        )
        function(x)
    assert seen == {"tanh": True, "softmax": False}


def test_a_function_that_says_so_runs_under_the_lock_up_to_its_cost(monkeypatch):
    pytest.importorskip("operad_fully_connected", reason="this is its operator")
    seen = []
    for rows in (4, 4096):
        arrays = nd.ones((rows, 8)), nd.ones((16, 8)), nd.ones(16)
        nd.FullyConnected(*arrays, num_hidden=16)
    small, large = nd.FullyConnected.__globals__["__plans"].values()
    for plan in (small, large):
        monkeypatch.setattr(plan, "run", plan.run._replace(inline=True))
        monkeypatch.setattr(
            plan.fast or plan, "direct", lambda *_: seen.append(current._engine.lock.owner is not None)
        )
    for rows in (4, 4096):
        nd.FullyConnected(nd.ones((rows, 8)), nd.ones((16, 8)), nd.ones(16), num_hidden=16)
    nd.waitall()
    assert (small.run.runs_under_lock, large.run.runs_under_lock, seen) == (True, False, [True, False])


@pytest.mark.parametrize("value", [0.5, 2, float("nan"), 1e300])
def test_equal_values_are_found_again_and_zeros_keep_their_signs(value):
    pytest.importorskip("operad_broadcast", reason="this is its operator")
    x = nd.array(X)
    for scalar in (value, value, 0.0, -0.0, 0.0, value):
        with np.errstate(all="ignore"):
            expected = np.copysign(np.float32(1), X * np.float32(scalar))
        with np.errstate(all="raise"):  # which is not the operators' error state
            found = (x * scalar).asnumpy()
        np.testing.assert_array_equal(np.copysign(np.float32(1), found), expected)


def test_a_spoilt_target_is_left_to_the_long_way():
    x, y = nd.array(X), nd.array(X)
    nd.tanh(x, out=y)

    def fail(_):
        raise ArithmeticError

    engine.get().push_sync(fail, od.cpu(), (), (y._chunk.var,), name="fails")
    with pytest.raises(ArithmeticError):
        y.asnumpy()
    nd.tanh(x, out=y)
    np.testing.assert_array_equal(y.asnumpy(), np.tanh(X))


def test_values_are_those_of_numpy():
    x = nd.array(X)
    np.testing.assert_array_equal((nd.tanh(x) + x * 3).asnumpy(), np.tanh(X) + X * np.float32(3))


@pytest.mark.parametrize("call", [nd.tanh, lambda x: x + x, lambda x: nd.tanh(nd.array(X)) + x])
def test_an_input_that_is_being_written_is_waited_for_elsewhere(call):
    x = nd.array(X)
    gate = Gate(x, writes=True)
    result = call(x)
    assert not engine.get().is_idle(result._chunk.var)
    gate.open()
    np.testing.assert_array_equal(result.asnumpy(), call(nd.array(X)).asnumpy())


def test_a_busy_block_is_not_taken_for_a_result():
    x, dropped = nd.array(X), nd.tanh(nd.array(X))
    gate = Gate(dropped, writes=False)
    var = dropped._chunk.var
    del dropped
    result = nd.tanh(x)
    assert result._chunk.var is not var
    assert engine.get().is_idle(result._chunk.var)
    gate.open()
    nd.waitall()


@pytest.mark.parametrize("call", [nd.tanh, lambda x: x + 1.0, lambda x: nd.array(X) + x])
def test_what_reads_a_failed_array_has_no_value(call):
    def fail(_):
        raise ArithmeticError

    x = nd.array(X)
    engine.get().push_sync(fail, od.cpu(), (), (x._chunk.var,), name="fails")
    result = call(x)
    with pytest.raises(ArithmeticError):
        result.asnumpy()
    nd.waitall()


def test_the_naive_engine_has_no_hot_path():
    x = nd.array(X)
    nd.tanh(x)
    engine.set("naive")
    try:
        plan = plan_of(nd.tanh)
        assert plan.fast.call(plan.fast, local.state, x, None, None, None, (), None) is None
        np.testing.assert_array_equal(nd.tanh(x).asnumpy(), np.tanh(X))
    finally:
        engine.set("threaded")


def test_a_call_inside_an_operation_goes_the_long_way():
    x, found = nd.array(X), []
    nd.tanh(x)
    engine.get().push_sync(lambda _: found.append(nd.tanh(x)), od.cpu(), (), (), name="nested")
    nd.waitall()
    np.testing.assert_array_equal(found[0].asnumpy(), np.tanh(X))


def test_a_group_of_pushes_keeps_its_order():
    x = nd.array(X)
    nd.tanh(x)
    with bulk(10):
        y = nd.tanh(x)
        x[:] = 0
        z = nd.tanh(x)
    np.testing.assert_array_equal(y.asnumpy(), np.tanh(X))
    np.testing.assert_array_equal(z.asnumpy(), np.zeros_like(X))


class TestRecycledBlocks:
    SHAPE = (3, 5, 7)  # nobody else's

    @pytest.fixture(autouse=True)
    def without_collector(self):
        gc.collect()
        gc.disable()
        chunk.reclaim()
        yield
        gc.enable()

    def new(self):
        return nd.empty(self.SHAPE)

    def test_the_next_array_of_a_size_takes_block_variable_and_view(self):
        x = self.new()
        var, data = x._chunk.var, x._data
        del x
        y = self.new()
        assert y._chunk.var is var
        assert y._data is data

    def test_an_old_version_never_matches(self):
        x = self.new()
        noted = Versions([x])
        version = x._chunk.var.version
        del x
        y = self.new()
        assert noted.first_changed() == 0
        assert y._chunk.var.version > version

    def test_a_view_keeps_the_block(self):
        x = self.new()
        view, data = x[1:], x._data
        del x
        assert self.new()._data is not data
        del view
        assert any(made._data is data for made in [self.new(), self.new()])

    def test_a_failed_variable_is_not_used_again(self):
        x = self.new()
        var = x._chunk.var

        def fail(_):
            raise ArithmeticError

        engine.get().push_sync(fail, od.cpu(), (), (var,))
        with pytest.raises(ArithmeticError):
            x.asnumpy()
        del x
        y = self.new()
        assert y._chunk.var is not var
        y.asnumpy()

    def test_what_died_goes_back_to_the_pool_when_it_is_swept(self):
        x = self.new()
        lease = x._chunk.lease
        del x
        assert not lease.handle.freed
        chunk.reclaim()
        assert lease.handle.freed
        assert lease.var is None

    def test_what_died_counts_as_pooled(self):
        context = od.cpu(8)  # nobody else's
        made = [nd.empty(self.SHAPE, context) for _ in range(3)]
        before = od.storage.get().stats(context)
        del made
        after = od.storage.get().stats(context)
        assert after.in_use_bytes == 0
        assert after.pooled_bytes == before.in_use_bytes
        made = nd.empty(self.SHAPE, context)
        del made
        od.storage.get().release_all(context)
        assert od.storage.get().stats(context).pooled_bytes == 0

    def test_large_blocks_are_given_back_at_the_next_array(self):
        x = nd.empty((chunk.RECYCLED_BYTES // 4 + 1,))
        handle = x._chunk.lease.handle
        del x
        self.new()
        assert handle.freed

    def test_nothing_is_recycled_in_debug_mode(self, monkeypatch):
        monkeypatch.setattr(chunk, "settings", lambda: type("Settings", (), {"debug": True}))
        assert chunk.deferred_list_of(od.cpu(), 64) is chunk._large

    def test_a_result_on_the_tape_keeps_its_block(self):
        x = nd.array(np.ones(self.SHAPE))
        x.attach_grad()
        with autograd.record():
            y = nd.tanh(x)
            data = y._data
            y = nd.tanh(y)
            assert self.new()._data is not data
        del y

    def test_a_result_too_large_to_recycle_takes_no_block_of_another_size(self):
        wide, small = np.ones(700), nd.empty((700, 8))
        x = nd.array(wide, dtype="float64")
        nd.tanh(x)
        lease = small._chunk.lease
        del small
        result = nd.tanh(x)
        assert result._chunk.lease is not lease
        np.testing.assert_array_equal(result.asnumpy(), np.tanh(wide))

    def test_debug_mode_keeps_to_its_own_sizes(self):
        program = (
            "import gc, numpy as np, operad as od\n"
            "x, large = od.nd.array(np.ones((4, 4))), od.nd.empty((50, 50))\n"
            "for _ in range(3):\n"
            "    od.nd.tanh(x)\n"
            "del large\n"
            "assert (od.nd.tanh(x).asnumpy() == np.tanh(np.float32(1))).all()\n"
            "assert od.storage.get().stats(od.cpu()).in_use_bytes < 10000\n"
        )
        environment = {**os.environ, "OPERAD_DEBUG": "1"}
        subprocess.run([sys.executable, "-c", program], check=True, env=environment)

    def test_many_threads_never_share_a_block(self):
        wrong = []

        def work(number):
            mine = nd.array(np.full(self.SHAPE, number))
            for _ in range(300):
                value = (mine + 1.0) * 2.0
                if not (value.asnumpy() == 2 * (number + 1)).all():
                    wrong.append(number)

        run_together(work, range(4))
        assert wrong == []


def test_specifications_asked_for_lately_stay_the_same_object():
    first = spec_of((2, 3), np.dtype("f4"), od.cpu())
    for length in range(2000):
        spec_of((length, 9), np.dtype("f4"), od.cpu())
    assert spec_of((2, 3), np.dtype("f4"), od.cpu()) is first


def test_the_engine_in_force_is_asked_for_at_each_call():
    x = nd.array(X)
    nd.tanh(x)
    engine.stop()
    np.testing.assert_array_equal(nd.tanh(x).asnumpy(), np.tanh(X))
    assert current._engine is engine.get()
