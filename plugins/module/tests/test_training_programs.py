"""`fit` by training programs: weights, gradients, outputs and metrics of the steps that it stands for."""

from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad import sym
from operad_module.base_module import BaseModule
from operad_optimizer.training import TrainingProgram


def perceptron():
    x = sym.FullyConnected(sym.var("data"), num_hidden=16, name="fc1")
    x = sym.Dropout(sym.Activation(x, act_type="relu"), p=0.3)
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=4, name="fc2"), name="softmax")


def convolution():
    x = sym.Reshape(sym.var("data"), shape=(0, 1, 6, 6))
    for number in range(2):
        x = sym.Convolution(x, num_filter=4, kernel=(3, 3), pad=(1, 1), no_bias=True, name=f"conv{number}")
        x = sym.Activation(sym.BatchNorm(x, name=f"bn{number}"), act_type="relu")
    x = sym.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2))
    return sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=4, name="fc"), name="softmax")


def iterator(batch_size=10, last="pad"):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((64, 36)).astype("float32")
    return od.io.NDArrayIter(
        data, rng.integers(0, 4, 64).astype("float32"), batch_size, last_batch_handle=last
    )


def fit(symbol, monkeypatch, *, whole, module=od.mod.Module, data=None, prepare=None, **arguments):
    """A trained module, and what a callback saw of each batch."""
    steps = []
    step = TrainingProgram.step

    def counted(self, **arrays):
        found = step(self, **arrays)
        steps.append(self.why_apart)
        return found

    seen = []

    def look(param):
        group = made._exec_group if module is not od.mod.BucketingModule else made._curr_module._exec_group
        gradients = {n: g.asnumpy() for n, g in group.execs[0].grad_dict.items() if g is not None}
        weights = {n: w.asnumpy() for n, w in group.execs[0].arg_dict.items()}
        seen.append((param.eval_metric.get(), gradients, weights, group.execs[0].outputs[0].asnumpy()))

    with monkeypatch.context() as patched:
        patched.setattr(TrainingProgram, "step", counted)
        if not whole:
            patched.setattr(od.mod.Module, "_train_on", BaseModule._train_on)
        od.random.seed(11)
        made = (
            module(symbol) if module is not od.mod.BucketingModule else module(symbol, default_bucket_key=8)
        )
        if prepare is not None:
            prepare(made)
        made.fit(
            data or iterator(),
            num_epoch=2,
            initializer=od.init.Xavier(),
            batch_end_callback=look,
            **arguments,
        )
    return made, seen, steps


def check(symbol, monkeypatch, *, whole=True, **arguments):
    made, seen, steps = fit(symbol, monkeypatch, whole=True, **arguments)
    other, expected, none = fit(symbol, monkeypatch, whole=False, **arguments)
    assert not none
    assert bool(steps) is whole
    assert not any(steps)
    for (metric, *ours), (right, *theirs) in zip(seen, expected, strict=True):
        assert metric == right
        for one, two in zip([*ours[0].values(), *ours[1].values(), ours[2]],
                            [*theirs[0].values(), *theirs[1].values(), theirs[2]], strict=True):  # fmt: skip
            np.testing.assert_array_equal(one, two, strict=True)
    for ours, theirs in zip(made.get_params(), other.get_params(), strict=True):
        for name in theirs:
            np.testing.assert_array_equal(ours[name].asnumpy(), theirs[name].asnumpy(), err_msg=name)
    return seen


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop"])
@pytest.mark.parametrize("symbol", [perceptron, convolution])
def test_a_whole_training_is_the_same(symbol, optimizer, monkeypatch):
    check(symbol(), monkeypatch, optimizer=optimizer)


def test_a_rate_that_falls_falls_at_the_same_update(monkeypatch):
    def given():
        schedule = od.lr_scheduler.FactorScheduler(step=3, factor=0.5, base_lr=0.5)
        return {"lr_scheduler": schedule, "momentum": 0.9, "wd": 0.01}

    made, seen, steps = fit(perceptron(), monkeypatch, whole=True, optimizer_params=given())
    other, expected, _ = fit(perceptron(), monkeypatch, whole=False, optimizer_params=given())
    assert steps
    assert [metric for metric, *_ in seen] == [metric for metric, *_ in expected]
    for name, value in other.get_params()[0].items():
        np.testing.assert_array_equal(made.get_params()[0][name].asnumpy(), value.asnumpy())


def test_parameters_that_are_fixed_stay(monkeypatch):
    class Fixed(od.mod.Module):
        def __init__(self, symbol):
            super().__init__(symbol, fixed_param_names=["fc1_weight"])

    seen = check(perceptron(), monkeypatch, module=Fixed)
    first, last = seen[0][2]["fc1_weight"], seen[-1][2]["fc1_weight"]
    np.testing.assert_array_equal(first, last)


def test_gradients_of_inputs_are_there(monkeypatch):
    def prepare(made):
        made.bind(iterator().provide_data, iterator().provide_label, inputs_need_grad=True)

    seen = check(perceptron(), monkeypatch, prepare=prepare)
    assert np.abs(seen[-1][1]["data"]).any()


def test_a_store_moves_the_weights(monkeypatch):
    class Stored(od.mod.Module):
        def init_optimizer(self, kvstore, *given, **arguments):
            super().init_optimizer(od.kvstore.create("local"), *given, **arguments)

    check(perceptron(), monkeypatch, module=Stored, whole=False)


def test_several_contexts_go_their_own_way(monkeypatch):
    class Two(od.mod.Module):
        def __init__(self, symbol):
            super().__init__(symbol, context=[od.cpu(0), od.cpu(1)])

    check(perceptron(), monkeypatch, module=Two, whole=False)


@pytest.mark.parametrize("name", ["forward", "backward", "update", "forward_backward"])
def test_a_subclass_that_changes_a_method_is_asked(name, monkeypatch):
    calls = []

    def method(self, *args, **kwargs):
        calls.append(name)
        return getattr(od.mod.Module, name)(self, *args, **kwargs)

    changed = type("Changed", (od.mod.Module,), {name: method})
    _, seen, steps = fit(perceptron(), monkeypatch, whole=True, module=changed)
    assert len(calls) == len(seen)
    assert not steps


def test_an_instance_that_changes_a_method_is_asked(monkeypatch):
    calls = []

    def prepare(made):
        update = made.update
        made.update = lambda: (calls.append(1), update())

    _, seen, steps = fit(perceptron(), monkeypatch, whole=True, prepare=prepare)
    assert len(calls) == len(seen)
    assert not steps


def test_a_monitor_watches_and_changes_nothing(monkeypatch):
    _, seen, steps = fit(perceptron(), monkeypatch, whole=True, monitor=od.mon.Monitor(2))
    _, expected, _ = fit(perceptron(), monkeypatch, whole=False, monitor=od.mon.Monitor(2))
    assert {*steps} == {"a monitor looks at its nodes"}
    for ours, theirs in zip(seen, expected, strict=True):
        assert ours[0] == theirs[0]
        np.testing.assert_array_equal(ours[3], theirs[3])


def test_buckets_have_programs_of_their_own(monkeypatch):
    def symbol(length):
        x = sym.FullyConnected(sym.var("data"), num_hidden=8, flatten=False, name="fc1")
        x = sym.tanh(sym.sum(x, axis=1))
        x = sym.SoftmaxOutput(sym.FullyConnected(x, num_hidden=2, name="fc2"), name="softmax")
        return x, ("data",), ("softmax_label",)

    class Batches:
        """Batches of two lengths in turn."""

        batch_size = 4
        provide_data, provide_label = [("data", (4, 8, 3))], [("softmax_label", (4,))]

        def __iter__(self):
            rng = np.random.default_rng(3)
            for number in range(7):
                length = (8, 5)[number % 2]
                yield od.io.DataBatch(
                    data=[od.nd.array(rng.standard_normal((4, length, 3)))],
                    label=[od.nd.array(rng.integers(0, 2, 4))],
                    bucket_key=length,
                    provide_data=[("data", (4, length, 3))],
                    provide_label=[("softmax_label", (4,))],
                )

        def reset(self):
            pass

    check(symbol, monkeypatch, module=od.mod.BucketingModule, data=Batches(), optimizer="adam")
