from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError, BindError
from plugins.module.tests.conftest import gone_on


def averaged(length: int) -> Any:
    """Scores of the mean over `length` steps."""
    data = od.sym.mean(od.sym.var("data"), axis=1, name=f"mean{length}")
    return od.sym.SoftmaxOutput(od.sym.FullyConnected(data, num_hidden=3, name="fc"), name="softmax")


def generated(length: int) -> Any:
    return averaged(length), ("data",), ("softmax_label",)


def batch_of(length: int, seed: int = 0) -> Any:
    rng = np.random.RandomState(seed)
    return SimpleNamespace(
        data=[od.nd.array(rng.randn(4, length, 2))],
        label=[od.nd.array(rng.randint(0, 3, 4))],
        bucket_key=length,
        pad=0,
        provide_data=[("data", (4, length, 2))],
        provide_label=[("softmax_label", (4,))],
    )


def bound(**given: Any) -> Any:
    module = od.mod.BucketingModule(generated, default_bucket_key=5)
    module.bind([("data", (4, 5, 2))], [("softmax_label", (4,))], **given)
    module.init_params(od.init.Constant(0.5))
    module.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    return module


def test_every_bucket_trains_the_same_parameters_with_the_same_momentum() -> None:
    module = bound()
    weight, velocity = np.full((3, 2), 0.5, "float32"), np.zeros((3, 2), "float32")
    bias, bias_velocity = np.zeros(3, "float32"), np.zeros(3, "float32")
    module.set_params({"fc_weight": od.nd.array(weight), "fc_bias": od.nd.array(bias)}, {})
    for step, length in enumerate((3, 5, 2, 3)):
        batch = batch_of(length, step)
        module.forward_backward(batch)
        module.update()
        mean = batch.data[0].asnumpy().mean(1)
        powers = np.exp(mean @ weight.T + bias)
        error = powers / powers.sum(1, keepdims=True) - np.eye(3)[batch.label[0].asnumpy().astype(int)]
        velocity = 0.9 * velocity - 0.1 * error.T @ mean / 4
        bias_velocity = 0.9 * bias_velocity - 0.1 * error.sum(0) / 4
        weight, bias = weight + velocity, bias + bias_velocity
        assert module.symbol.get_internals().list_outputs()[1] == f"mean{length}_output"
    np.testing.assert_allclose(module.get_params()[0]["fc_weight"].asnumpy(), weight, rtol=1e-4)
    np.testing.assert_allclose(module.get_params()[0]["fc_bias"].asnumpy(), bias, rtol=1e-4)


def test_a_bucket_prepared_is_not_yet_the_present_one() -> None:
    module = bound()
    module.prepare(batch_of(3))
    assert [tuple(one) for one in module.data_shapes] == [("data", (4, 5, 2))]
    prepared = module._buckets[3]
    module.forward(batch_of(3))
    assert module._buckets[3] is prepared
    assert [tuple(one) for one in module.data_shapes] == [("data", (4, 3, 2))]


def test_a_bucket_with_a_parameter_of_its_own_is_refused() -> None:
    def with_extra(length: int) -> Any:
        symbol = averaged(length) if length == 5 else averaged(length) * od.sym.var("extra")
        return symbol, ("data",), ("softmax_label",)

    module = od.mod.BucketingModule(with_extra, default_bucket_key=5)
    module.bind([("data", (4, 5, 2))], [("softmax_label", (4,))])
    module.init_params()
    with pytest.raises(BindError, match=r"the shared module has no parameter 'extra'.*default key"):
        module.forward(batch_of(3))


def test_a_checkpoint_has_the_symbol_of_each_bucket(tmp_path: Path) -> None:
    module, prefix = bound(), str(tmp_path / "net")
    module.forward_backward(batch_of(3))
    module.update()
    module.save_checkpoint(prefix, 2)
    names = ["net-0002.params", "net-3-symbol.json", "net-5-symbol.json", "net.buckets"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    loaded = od.mod.BucketingModule.load(prefix, 2, sym_gen=generated, default_bucket_key=5)
    loaded.bind([("data", (4, 5, 2))], [("softmax_label", (4,))], for_training=False)
    loaded.forward(batch_of(2))
    module.forward(batch_of(2), is_train=False)
    np.testing.assert_array_equal(loaded.get_outputs()[0].asnumpy(), module.get_outputs()[0].asnumpy())


def test_parameters_are_loaded_for_symbols_by_key() -> None:
    params = bound().get_params()
    symbols = {length: generated(length) for length in (3, 5)}
    loaded = od.mod.BucketingModule.load_dict(symbols, None, 5, *params)
    loaded.bind([("data", (4, 5, 2))], [("softmax_label", (4,))])
    np.testing.assert_array_equal(
        loaded.get_params()[0]["fc_weight"].asnumpy(), params[0]["fc_weight"].asnumpy()
    )


def test_symbols_by_key_stand_in_for_those_that_are_generated() -> None:
    params = bound().get_params()
    names = ("data",), ("softmax_label",)
    loaded = od.mod.BucketingModule.load_dict(
        {3: averaged(30)}, lambda key: (averaged(key), *names), 5, *params
    )
    assert loaded.get_params()[0].keys() == params[0].keys()  # before it is bound, as in MXNet
    loaded.bind([("data", (4, 5, 2))], [("softmax_label", (4,))], for_training=False)
    for key, layer in ((5, "mean5"), (3, "mean30"), (2, "mean2")):
        loaded.forward(batch_of(key))
        assert f"{layer}_output" in loaded.symbol.get_internals().list_outputs()
    with pytest.raises(ArgumentError, match="sym_dict has a symbol alone for 5; give sym_gen, too"):
        od.mod.BucketingModule.load_dict({5: averaged(5)}, None, 5, *params)


def test_the_default_key_is_asked_for() -> None:
    with pytest.raises(ArgumentError, match="default_bucket_key is not given"):
        od.mod.BucketingModule(generated)
    with pytest.raises(ArgumentError, match="give sym_gen or sym_dict"):
        od.mod.BucketingModule.load_dict(default_bucket_key=5)


class Lengths:
    """Batches of other lengths in turn."""

    def __init__(self) -> None:
        self.provide_data, self.provide_label = [("data", (4, 5, 2))], [("softmax_label", (4,))]
        self.done = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.done == 4:
            raise StopIteration
        self.done += 1
        return batch_of((5, 3, 2, 3)[self.done - 1], self.done)

    def reset(self) -> None:
        self.done = 0

    def state_dict(self) -> dict[str, Any]:
        return {"done": self.done}

    def load_state_dict(self, state: Any) -> None:
        self.done = state["done"]


def test_training_of_buckets_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    def fit(**given: Any) -> Any:
        module = od.mod.BucketingModule(generated, default_bucket_key=5)
        start = {"fc_weight": od.nd.full((3, 2), 0.5), "fc_bias": od.nd.zeros(3)}
        module.fit(
            Lengths(), num_epoch=2, arg_params=start, optimizer_params={"momentum": 0.9}, **given
        )  # fmt: skip
        return module.get_params()[0]["fc_weight"].asnumpy()

    checkpoint = od.callback.Checkpoint(str(tmp_path / "net"), every_batches=3)
    np.testing.assert_array_equal(gone_on(fit, checkpoint), fit())
    assert {path.name for path in tmp_path.glob("net-*-symbol.json")} == {
        "net-2-symbol.json", "net-3-symbol.json", "net-5-symbol.json",
    }  # fmt: skip
