from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ArgumentError
from operad_module.errors import ModuleStateError


def fitted(network: Any, drawn: Any, **given: Any) -> Any:
    model = od.model.FeedForward(
        network, num_epoch=2, numpy_batch_size=8, arg_params=drawn.params, learning_rate=0.5, **given
    )
    model.fit(od.io.NDArrayIter(drawn.data, drawn.labels, 8))
    return model


def test_a_model_trains_as_its_module_does(network: Any, drawn: Any) -> None:
    module = od.mod.Module(network)
    module.fit(
        od.io.NDArrayIter(drawn.data, drawn.labels, 8),
        num_epoch=2,
        arg_params=drawn.params,
        optimizer_params={"learning_rate": 0.5},
    )
    model = fitted(network, drawn)
    for name, value in module.get_params()[0].items():
        np.testing.assert_array_equal(model.arg_params[name].asnumpy(), value.asnumpy())


def test_arrays_are_predicted_in_batches(network: Any, drawn: Any) -> None:
    model = fitted(network, drawn)
    outputs = model.predict(drawn.data[:19])
    module = od.mod.Module(network)
    module.bind([("data", (19, 5))], for_training=False)
    module.set_params(model.arg_params, {})
    np.testing.assert_allclose(outputs, module.predict(drawn.data[:19]).asnumpy(), rtol=1e-6)
    again, data, labels = model.predict(
        od.io.NDArrayIter(drawn.data[:19], drawn.labels[:19], 8), return_data=True
    )
    np.testing.assert_array_equal(again, outputs)
    np.testing.assert_array_equal(data, drawn.data[:19])
    np.testing.assert_array_equal(labels, drawn.labels[:19])
    assert model.score(od.io.NDArrayIter(drawn.data[:16], drawn.labels[:16], 8)) == pytest.approx(
        (outputs[:16].argmax(1) == drawn.labels[:16]).mean()
    )


def test_a_loaded_model_predicts_the_same_and_trains_on(network: Any, drawn: Any, tmp_path: Path) -> None:
    model = fitted(network, drawn)
    model.save(str(tmp_path / "net"))
    loaded = od.model.FeedForward.load(str(tmp_path / "net"), 2, num_epoch=3, numpy_batch_size=8)
    np.testing.assert_array_equal(loaded.predict(drawn.data), model.predict(drawn.data))
    epochs: list[int] = []
    loaded.fit(drawn.data, drawn.labels, epoch_end_callback=lambda epoch, *_: epochs.append(epoch))
    assert epochs == [2]


def test_a_model_is_created_from_arrays(network: Any, drawn: Any) -> None:
    seen: list[int] = []
    od.model.FeedForward.create(
        network,
        drawn.data,
        drawn.labels,
        num_epoch=1,
        epoch_size=5,
        numpy_batch_size=8,
        batch_end_callback=lambda param: seen.append(param.nbatch),
        eval_data=(drawn.data, drawn.labels),
    )
    assert seen == [0, 1, 2, 3, 4]


class Buckets(od.io.DataIter):
    """Words of two lengths, the classes of which are their first letters'."""

    def __init__(self, keys: tuple[int, ...] = (6, 3, 6)) -> None:
        super().__init__(4)
        self.default_bucket_key, self.keys = max(keys), keys
        self.provide_data, self.provide_label = [("data", (4, max(keys)))], [("softmax_label", (4,))]
        self.reset()

    def reset(self) -> None:
        self.left = iter(self.keys)

    def next(self) -> Any:
        key = next(self.left)
        words = np.arange(4 * key).reshape(4, key) % 5
        data, label = od.nd.array(words), od.nd.array(words[:, 0] % 2)
        given = [("data", data.shape)], [("softmax_label", (4,))]
        return od.io.DataBatch([data], [label], 0, None, key, *given)


def test_a_function_gives_the_symbol_of_each_bucket() -> None:
    asked = []

    def words(key: int) -> Any:
        asked.append(key)
        table = od.sym.Embedding(od.sym.var("data"), input_dim=5, output_dim=3, name="embed")
        scores = od.sym.FullyConnected(od.sym.sum(table, axis=1), num_hidden=2, name="fc")
        return od.sym.SoftmaxOutput(scores, name="softmax")

    model = od.model.FeedForward(words, num_epoch=20, learning_rate=0.5, initializer=od.init.Normal(0.1))
    assert model.symbol is None
    with pytest.raises(ModuleStateError, match="the model has no parameters"):
        model.save("nothing", 0)
    od.random.seed(0)
    model.fit(Buckets())
    assert {3, 6} == set(asked)
    assert model.symbol.list_arguments() == ["data", "embed_weight", "fc_weight", "fc_bias", "softmax_label"]
    assert model.score(Buckets()) == 1
    assert model.predict(Buckets()).shape == (12, 2)


def test_a_function_needs_data_with_a_key(drawn: Any) -> None:
    model = od.model.FeedForward(lambda key: key, num_epoch=1)
    with pytest.raises(
        ArgumentError, match="no default_bucket_key; give an iterator that has one, or a symbol"
    ):
        model.fit(od.io.NDArrayIter(drawn.data, drawn.labels, 8))


def test_labels_are_those_that_the_data_provides() -> None:
    chosen, weight = od.sym.var("label"), od.sym.var("label_weight")
    loss = od.sym.LinearRegressionOutput(
        od.sym.broadcast_mul(od.sym.var("data") * chosen, od.sym.var("scale_weight", shape=(1, 1))), weight
    )
    labels = {"label": np.ones((4, 1)), "label_weight": np.full((4, 1), 3.0)}
    model = od.model.FeedForward(loss, num_epoch=60, learning_rate=0.2, initializer=od.init.Zero())
    model.fit(od.io.NDArrayIter(np.ones((4, 1)), labels, 4), eval_metric=od.metric.Loss())
    assert list(model.arg_params) == ["scale_weight"]
    np.testing.assert_allclose(model.arg_params["scale_weight"].asnumpy(), [[3.0]], rtol=1e-3)


def test_what_a_model_lacks_is_said(network: Any, drawn: Any) -> None:
    model = od.model.FeedForward(network, num_epoch=1)
    with pytest.raises(RuntimeError, match="predict: the model has no parameters; call fit"):
        model.predict(drawn.data)
    with pytest.raises(ArgumentError, match="y is not given"):
        model.fit(drawn.data)
    with pytest.raises(ArgumentError, match="the data is list, expected an array"):
        model.predict([1.0])
