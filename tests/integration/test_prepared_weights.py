"""Weights that a kernel has prepared are those that were written last, by whatever door."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad_sdk.vector import reason_against

pytestmark = pytest.mark.skipif(reason_against() is not None, reason="no vector code here")

DATA = (2, 16, 16, 16)
PARAMS = {"kernel": (3, 3), "num_filter": 16, "pad": (1, 1), "no_bias": True}
WEIGHT = (16, 16, 3, 3)
FROZEN = {"data": "write"}
"""A weight without a gradient, and so one that is prepared for both passes."""


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def layer(req="null", **shared):
    symbol = od.sym.Convolution(od.sym.var("data"), name="conv", **PARAMS)
    return symbol.simple_bind(od.cpu(), grad_req=req, data=DATA, **shared)


def by_elements(w, value):
    w[:] = value


def by_row(w, value):
    w[3] = value[0]


def by_view(w, value):
    w.reshape((-1,))[5:9] = float(value[0, 0, 0, 0])


def by_in_place_operator(w, value):
    w *= 0.5
    w += od.nd.array(value)


def by_output(w, value):
    od.nd.sgd_update(w, od.nd.array(value), lr=0.1, out=w)


def by_copy(w, value):
    od.nd.array(value).copyto(w)


def by_random(w, value):
    od.nd.random.uniform(-1, 1, shape=w.shape, out=w)


def by_store(w, value):
    store = od.kv.create("local")
    store.init(0, od.nd.array(value))
    store.pull(0, out=w)


def by_lent_memory(w, value):
    w.wait_to_read()
    np.from_dlpack(w)[...] = value


def by_engine(w, value):
    from operad import engine

    def write(_):
        w._data[...] = value

    engine.get().push_sync(write, w.context, (), (w._chunk.var,))


DOORS = [
    by_elements, by_row, by_view, by_in_place_operator, by_output, by_copy, by_random, by_store, by_engine,
]  # fmt: skip


def expected(exe):
    """By the kernel of an imperative call, which prepares nothing."""
    return od.nd.Convolution(exe.arg_dict["data"], exe.arg_dict["conv_weight"], **PARAMS).asnumpy()


def drawn(rng):
    return rng.standard_normal(WEIGHT).astype(np.float32)


@pytest.mark.parametrize("door", [*DOORS, by_lent_memory], ids=lambda door: door.__name__)
def test_every_door(door, rng):
    exe = layer()
    exe.arg_dict["data"][:] = rng.standard_normal(DATA)
    exe.arg_dict["conv_weight"][:] = drawn(rng)
    before = exe.forward()[0].asnumpy()
    for _ in range(2):
        door(exe.arg_dict["conv_weight"], drawn(rng))
        found = exe.forward()[0].asnumpy()
        np.testing.assert_array_equal(found, expected(exe))
        assert not np.array_equal(found, before)


@pytest.mark.parametrize("door", [*DOORS, by_lent_memory], ids=lambda door: door.__name__)
def test_every_door_to_an_array_that_a_compiled_function_captured(door, rng):
    data, weight = od.nd.array(rng.standard_normal(DATA)), od.nd.array(drawn(rng))
    function = od.compile(lambda data: od.nd.Convolution(data, weight, **PARAMS))
    before = function(data).asnumpy()
    for _ in range(2):
        door(weight, drawn(rng))
        found = function(data).asnumpy()
        np.testing.assert_array_equal(found, od.nd.Convolution(data, weight, **PARAMS).asnumpy())
        assert not np.array_equal(found, before)


def test_the_layer_is_prepared_at_all():
    assert "forward_weight prepared" in str(layer().why())
    assert layer().memory_plan.prepared_bytes == 4 * 16 * 16 * 9
    assert layer(FROZEN).memory_plan.prepared_bytes == 2 * 4 * 16 * 16 * 9
    assert layer("write").memory_plan.prepared_bytes == 0


@pytest.mark.parametrize("seed", range(6))
def test_random_orders_of_writes_and_runs_over_shared_weights(seed):
    rng = np.random.default_rng(seed)
    first = layer(FROZEN)
    second = layer(shared_exec=first)
    symbol = od.sym.Convolution(od.sym.var("data"), name="conv", **PARAMS)
    third = symbol.bind(od.cpu(), {**first.arg_dict, "data": od.nd.zeros(DATA)})
    w = first.arg_dict["conv_weight"]
    assert w is second.arg_dict["conv_weight"]
    pending = []
    for exe in (first, second, third):
        exe.arg_dict["data"][:] = rng.standard_normal(DATA)
    for _ in range(60):
        if rng.random() < 0.4:
            DOORS[rng.integers(len(DOORS))](w, drawn(rng))
            continue
        exe = (first, second, third)[rng.integers(3)]
        want = od.nd.Convolution(exe.arg_dict["data"], w, **PARAMS)
        (out,) = exe.forward(is_train=bool(rng.integers(2)))
        pending.append((out.copy(), want))
        if exe is first and rng.random() < 0.5:
            head = od.nd.array(rng.standard_normal(out.shape))
            exe.backward(head)
            data = exe.arg_dict["data"].copy()
            data.attach_grad()
            with od.autograd.record():
                again = od.nd.Convolution(data, w, **PARAMS)
            again.backward(head)
            pending.append((exe.grad_dict["data"].copy(), data.grad.copy()))
    for found, want in pending:
        np.testing.assert_array_equal(found.asnumpy(), want.asnumpy())


def test_a_step_of_training_and_parameters_that_are_set(rng):
    data, label = rng.standard_normal((8, *DATA[1:])), rng.integers(0, 4, 8)
    net = od.sym.Convolution(od.sym.var("data"), name="conv", **PARAMS)
    net = od.sym.SoftmaxOutput(od.sym.FullyConnected(net, num_hidden=4, name="fc"), name="softmax")
    module = od.mod.Module(net, context=od.cpu())
    batches = od.io.NDArrayIter(data, label, batch_size=4, label_name="softmax_label")
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params()
    module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.1})
    for batch in batches:
        for _ in range(2):
            module.forward(batch, is_train=True)
            module.backward()
            module.update()
            module.forward(batch, is_train=False)
            exe = net.simple_bind(od.cpu(), data=(4, *DATA[1:]), softmax_label=(4,))
            args, _ = module.get_params()
            exe.copy_params_from({**args, "data": batch.data[0]})
            np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), exe.forward()[0].asnumpy())
    args, states = module.get_params()
    zeros = {name: od.nd.zeros(array.shape) for name, array in args.items()}
    module.set_params(zeros, states)
    module.forward(batch, is_train=False)
    np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), np.full((4, 4), 0.25, np.float32))
