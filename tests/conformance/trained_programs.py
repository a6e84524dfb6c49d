"""Twelve programs as people publish them, for either library: each trains, saves, loads and predicts.

Each is a class of two functions of the library, MXNet 1.9.1 or operad: `train` saves its network under a
prefix and returns what that predicts, `predict` what a process predicts that has nothing but those files.
Data are drawn by NumPy. Networks are small, but large enough for passes over graphs to act on them.

    python tests/conformance/trained_programs.py train|predict FOLDER [--library mxnet]

runs all of them and writes their predictions to a file of the folder. Either library reads the other's files.
They stand in one file, as MXNet's interpreter runs it by its path and has nothing of this checkout.
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

ROWS: Final = 128
BATCH: Final = 32
CLASSES: Final = 4


class Program(Protocol):
    """A program that is published in two parts."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Sequence[Any]:
        """Train, save, and return predictions as NumPy's arrays."""

    @staticmethod
    def predict(mx: Any, prefix: str) -> Sequence[Any]:
        """Load, and return predictions of the same rows."""


PROGRAMS: Final[dict[str, type[Program]]] = {}


def program(cls: type[Any]) -> type[Any]:
    """Add a program under its class's name."""
    PROGRAMS[cls.__name__] = cls
    return cls


def rows(*shape: int) -> Any:
    """Random rows, the same in every process."""
    return np.random.RandomState(1).uniform(-1, 1, (ROWS, *shape)).astype(np.float32)


def classes(count: int = CLASSES) -> Any:
    return np.random.RandomState(2).randint(0, count, ROWS).astype(np.float32)


def targets(*shape: int) -> Any:
    return np.random.RandomState(3).uniform(0, 1, (ROWS, *shape)).astype(np.float32)


def arrays(found: Any) -> list[Any]:
    """NumPy's arrays of one array or several."""
    return [each.asnumpy() for each in (found if isinstance(found, (list, tuple)) else [found])]


def dense(mx: Any, net: Any, *sizes: int, act: str = "relu") -> Any:
    """Layers with an activation behind each but the last."""
    for number, size in enumerate(sizes):
        net = mx.sym.FullyConnected(net, num_hidden=size, name=f"fc{number}_{size}")
        if number < len(sizes) - 1:
            net = mx.sym.Activation(net, act_type=act, name=f"{act}{number}")
    return net


@program
class PerceptronByFit:
    """`Module.fit` with a callback that writes checkpoints, `Module.load` and `predict`."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.Variable("data"), 64, 64, CLASSES), name="softmax")
        batches = mx.io.NDArrayIter(rows(48), classes(), BATCH, shuffle=False)
        module = mx.mod.Module(net, context=mx.cpu())
        module.fit(
            batches,
            num_epoch=2,
            optimizer_params={"learning_rate": 0.1, "momentum": 0.9},
            initializer=mx.init.Xavier(),
            eval_metric="acc",
            epoch_end_callback=mx.callback.do_checkpoint(prefix),
        )
        return arrays(module.predict(mx.io.NDArrayIter(rows(48), batch_size=BATCH)))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        module = mx.mod.Module.load(prefix, 2, context=mx.cpu())
        module.bind([("data", (BATCH, 48))], for_training=False)
        return arrays(module.predict(mx.io.NDArrayIter(rows(48), batch_size=BATCH)))


@program
class FeedForwardOfArrays:
    """`FeedForward`, which takes NumPy's arrays."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = dense(mx, mx.sym.Variable("data"), 64, 10, act="sigmoid")
        net = mx.sym.LogisticRegressionOutput(net, mx.sym.Variable("softmax_label"), name="out")
        model = mx.model.FeedForward(
            net, ctx=mx.cpu(), num_epoch=2, numpy_batch_size=BATCH, learning_rate=0.05
        )
        model.fit(mx.io.NDArrayIter(rows(48), targets(10), BATCH), eval_metric="mse")
        model.save(prefix, 2)
        return [model.predict(rows(48))]

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        model = mx.model.FeedForward.load(prefix, 2, ctx=mx.cpu(), numpy_batch_size=BATCH)
        return [model.predict(rows(48))]


@program
class ExecutorByHand:
    """`simple_bind`, a loop over its arrays, and files of the symbol and of a dictionary."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = dense(mx, mx.sym.Variable("data"), 64, 64, 8, act="tanh")
        net = mx.sym.LinearRegressionOutput(net * 2, mx.sym.Variable("label"), name="out")
        executor = net.simple_bind(mx.cpu(), grad_req="write", data=(ROWS, 48), label=(ROWS, 8))
        names = [name for name in net.list_arguments() if name not in ("data", "label")]
        for name in names:
            executor.arg_dict[name][:] = mx.nd.random.uniform(-0.2, 0.2, executor.arg_dict[name].shape)
        for _ in range(4):
            executor.forward(is_train=True, data=mx.nd.array(rows(48)), label=mx.nd.array(targets(8)))
            executor.backward()
            for name in names:
                weight, grad = executor.arg_dict[name], executor.grad_dict[name]
                mx.nd.sgd_update(weight, grad, lr=0.05 / ROWS, out=weight)
        net.save(f"{prefix}-symbol.json")
        mx.nd.save(f"{prefix}.params", {name: executor.arg_dict[name] for name in names})
        return arrays(executor.forward(is_train=False, data=mx.nd.array(rows(48))))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        net, params = mx.sym.load(f"{prefix}-symbol.json"), mx.nd.load(f"{prefix}.params")
        params.update(data=mx.nd.array(rows(48)), label=mx.nd.zeros((ROWS, 8)))
        return arrays(net.bind(mx.cpu(), params, grad_req="null").forward())


def _sentences() -> Any:
    return np.random.RandomState(4).randint(1, 30, (ROWS, 12)).astype(np.float32)


class _Buckets:
    """Batches of sentences, of 12 words and of 8 in turn."""

    def __init__(self, mx: Any) -> None:
        self.batch_size, self.default_bucket_key = BATCH, 12
        self.provide_data = [mx.io.DataDesc("data", (BATCH, 12), layout="NT")]
        self.provide_label = [mx.io.DataDesc("softmax_label", (BATCH, 12), layout="NT")]
        self._mx, self._begin = mx, 0

    def reset(self) -> None:
        self._begin = 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self._begin >= ROWS:
            raise StopIteration
        key = 12 if self._begin // BATCH % 2 == 0 else 8
        words = _sentences()[self._begin : self._begin + BATCH, :key]
        self._begin += BATCH
        shape, mx = (BATCH, key), self._mx
        return mx.io.DataBatch(
            [mx.nd.array(words)],
            [mx.nd.array(np.roll(words, -1, 1))],
            pad=0,
            bucket_key=key,
            provide_data=[mx.io.DataDesc("data", shape, layout="NT")],
            provide_label=[mx.io.DataDesc("softmax_label", shape, layout="NT")],
        )

    next = __next__


def _language_model(mx: Any) -> Callable[[int], Any]:
    cells = mx.rnn.SequentialRNNCell()
    cells.add(mx.rnn.LSTMCell(num_hidden=32, prefix="lstm_l0_"))
    cells.add(mx.rnn.LSTMCell(num_hidden=32, prefix="lstm_l1_"))

    def network(length: int) -> Any:
        cells.reset()
        embedded = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=30, output_dim=32, name="embed")
        outputs, _ = cells.unroll(length, inputs=embedded, merge_outputs=True)
        scores = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 32)), num_hidden=30, name="pred")
        label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
        return mx.sym.SoftmaxOutput(scores, label, name="softmax"), ("data",), ("softmax_label",)

    return network


@program
class LanguageModelInBuckets:
    """`BucketingModule` over unrolled LSTM cells, with zeros for their first states."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        module = mx.mod.BucketingModule(_language_model(mx), default_bucket_key=12, context=mx.cpu())
        module.fit(
            _Buckets(mx),
            num_epoch=2,
            eval_metric=mx.metric.Perplexity(None),
            optimizer="adam",
            optimizer_params={"learning_rate": 0.01},
            initializer=mx.init.Xavier(factor_type="in", magnitude=2.34),
        )
        arguments, states = module.get_params()
        symbol = _language_model(mx)(12)[0]
        mx.model.save_checkpoint(prefix, 2, symbol, arguments, states)
        return LanguageModelInBuckets.predicted(mx, module)

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        _, arguments, states = mx.model.load_checkpoint(prefix, 2)
        module = mx.mod.BucketingModule(_language_model(mx), default_bucket_key=12, context=mx.cpu())
        batches = _Buckets(mx)
        module.bind(batches.provide_data, batches.provide_label, for_training=False)
        module.set_params(arguments, states)
        return LanguageModelInBuckets.predicted(mx, module)

    @staticmethod
    def predicted(mx: Any, module: Any) -> list[Any]:
        found = []
        for batch in _Buckets(mx):
            module.forward(batch, is_train=False)
            found += arrays(module.get_outputs())
        return found


def _halves(mx: Any) -> Any:
    features = mx.sym.Activation(dense(mx, mx.sym.Variable("data"), 64, 64), act_type="tanh", name="features")
    scores = mx.sym.FullyConnected(mx.sym.Variable("features"), num_hidden=CLASSES, name="scores")
    loss = mx.sym.SoftmaxOutput(mx.sym.LeakyReLU(scores, act_type="leaky", name="leaky"), name="softmax")
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(features, label_names=[], context=mx.cpu()))
    return chain.add(
        mx.mod.Module(loss, data_names=["features"], context=mx.cpu()), take_labels=True, auto_wiring=True
    )


@program
class ChainOfModules:
    """`SequentialModule`: features in one module, and the loss in another."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        chain = _halves(mx)
        batches = mx.io.NDArrayIter(rows(48), classes(), BATCH)
        chain.fit(
            batches,
            num_epoch=2,
            initializer=mx.init.Xavier(),
            optimizer_params=(("learning_rate", 0.05),),
        )
        mx.nd.save(f"{prefix}.params", chain.get_params()[0])
        return arrays(chain.predict(batches))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        chain = _halves(mx)
        batches = mx.io.NDArrayIter(rows(48), classes(), BATCH)
        chain.bind(batches.provide_data, batches.provide_label, for_training=False)
        chain.init_params(mx.init.Xavier(), arg_params=mx.nd.load(f"{prefix}.params"), aux_params={})
        return arrays(chain.predict(batches))


@program
class OwnLoopWithMetric:
    """`forward_backward`, `update` and `update_metric` in a loop of the program's own."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = dense(mx, mx.sym.Flatten(mx.sym.Variable("data")), 64, 64, 8, act="softrelu")
        net = mx.sym.MAERegressionOutput(mx.sym.exp(net * 0.1), mx.sym.Variable("lro_label"), name="lro")
        batches = mx.io.NDArrayIter(rows(4, 12), targets(8), BATCH, label_name="lro_label")
        module = mx.mod.Module(net, label_names=("lro_label",), context=mx.cpu())
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params(mx.init.Normal(0.1))
        module.init_optimizer(kvstore="local", optimizer="rmsprop", optimizer_params={"learning_rate": 0.003})
        metric = mx.metric.create(["mae", "mse"])
        for _ in range(2):
            batches.reset()
            metric.reset()
            for batch in batches:
                module.forward_backward(batch)
                module.update()
                module.update_metric(metric, batch.label)
        module.save_checkpoint(prefix, 2, save_optimizer_states=True)
        return arrays([outputs[0] for outputs, _, _ in module.iter_predict(batches)])

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        symbol, arguments, states = mx.model.load_checkpoint(prefix, 2)
        batches = mx.io.NDArrayIter(rows(4, 12), batch_size=BATCH)
        module = mx.mod.Module(symbol, label_names=None, context=mx.cpu())
        module.bind(for_training=False, data_shapes=batches.provide_data, label_shapes=module._label_shapes)
        module.set_params(arguments, states, allow_missing=True)
        return arrays([outputs[0] for outputs, _, _ in module.iter_predict(batches)])


@program
class TwoHeads:
    """A `Group` of two losses and features without a gradient; the network is cut over two contexts."""

    GROUPS: Final = ("front", "back")

    @staticmethod
    def network(mx: Any) -> Any:
        with mx.AttrScope(ctx_group="front"):
            hidden = mx.sym.Activation(dense(mx, mx.sym.Variable("data"), 64, 64), act_type="relu")
        with mx.AttrScope(ctx_group="back"):
            scores = mx.sym.FullyConnected(hidden, num_hidden=CLASSES, name="scores")
            values = mx.sym.FullyConnected(mx.sym.tanh(hidden), num_hidden=4, name="values")
            return mx.sym.Group([
                mx.sym.SoftmaxOutput(scores, mx.sym.Variable("class_label"), name="softmax"),
                mx.sym.LinearRegressionOutput(values, mx.sym.Variable("value_label"), name="regression"),
                mx.sym.BlockGrad(hidden, name="features"),
            ])  # fmt: skip

    @staticmethod
    def module(mx: Any, symbol: Any, labels: Any) -> Any:
        where = [mx.cpu(0), mx.cpu(1)]
        groups = dict(zip(TwoHeads.GROUPS, where, strict=True))
        return mx.mod.Module(symbol, label_names=labels, context=where[0], group2ctxs=groups)

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        labels = {"class_label": classes(), "value_label": targets(4)}
        batches = mx.io.NDArrayIter({"data": rows(48)}, labels, BATCH)
        module = TwoHeads.module(mx, TwoHeads.network(mx), list(labels))
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params(mx.init.Xavier())
        module.init_optimizer(optimizer_params={"learning_rate": 0.05})
        for batch in batches:
            module.forward(batch, is_train=True)
            module.backward()
            module.update()
        module.save_checkpoint(prefix, 1)
        batches.reset()
        return arrays(module.predict(batches))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        symbol, arguments, states = mx.model.load_checkpoint(prefix, 1)
        batches = mx.io.NDArrayIter({"data": rows(48)}, batch_size=BATCH)
        module = TwoHeads.module(mx, symbol, None)
        module.bind(batches.provide_data, for_training=False)
        module.set_params(arguments, states, allow_missing=True)
        return arrays(module.predict(batches))


@program
class RecurrentWithStates:
    """Unrolled GRU cells whose first states are data and whose last ones are outputs."""

    @staticmethod
    def network(mx: Any) -> Any:
        cell = mx.rnn.GRUCell(32, prefix="gru_")
        first = [mx.sym.Variable("begin_state")]
        outputs, last = cell.unroll(6, inputs=mx.sym.Variable("data"), begin_state=first, merge_outputs=False)
        scores = mx.sym.FullyConnected(outputs[-1], num_hidden=CLASSES, name="pred")
        return mx.sym.Group([
            mx.sym.SoftmaxOutput(scores, name="softmax"), mx.sym.BlockGrad(last[0], name="last")
        ])  # fmt: skip

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = RecurrentWithStates.network(mx)
        shapes = {"data": (BATCH, 6, 16), "begin_state": (BATCH, 32)}
        module = mx.mod.Module(net, data_names=list(shapes), context=mx.cpu())
        module.bind(list(shapes.items()), [("softmax_label", (BATCH,))])
        module.init_params(mx.init.Xavier())
        module.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.01})
        state = mx.nd.zeros((BATCH, 32))
        for begin in range(0, ROWS, BATCH):
            data = mx.nd.array(rows(6, 16)[begin : begin + BATCH])
            label = mx.nd.array(classes()[begin : begin + BATCH])
            module.forward_backward(mx.io.DataBatch([data, state], [label]))
            module.update()
            state = module.get_outputs()[1].copy()
        module.save_checkpoint(prefix, 1)
        return RecurrentWithStates.predicted(mx, module)

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        symbol, arguments, states = mx.model.load_checkpoint(prefix, 1)
        module = mx.mod.Module(symbol, data_names=["data", "begin_state"], label_names=None, context=mx.cpu())
        module.bind([("data", (BATCH, 6, 16)), ("begin_state", (BATCH, 32))], for_training=False)
        module.set_params(arguments, states, allow_missing=True)
        return RecurrentWithStates.predicted(mx, module)

    @staticmethod
    def predicted(mx: Any, module: Any) -> list[Any]:
        state, found = mx.nd.zeros((BATCH, 32)), []
        for begin in range(0, ROWS, BATCH):
            data = mx.nd.array(rows(6, 16)[begin : begin + BATCH])
            module.forward(mx.io.DataBatch([data, state], None), is_train=False)
            scores, state = module.get_outputs()
            found += arrays([scores, state])
        return found


@program
class ConvolutionalNetwork:
    """Convolutions with batch normalization, pooling and dropout; checkpoints of `Module`."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = mx.sym.Variable("data")
        for number, filters in enumerate((8, 16)):
            net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
            net = mx.sym.BatchNorm(net, fix_gamma=number == 0, name=f"bn{number}")
            net = mx.sym.Activation(net, act_type="relu", name=f"act{number}")
            net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max", name=f"pool{number}")
        net = dense(mx, mx.sym.Dropout(mx.sym.Flatten(net), p=0.5), 32, CLASSES)
        net = mx.sym.SoftmaxOutput(net, name="softmax")
        batches = mx.io.NDArrayIter(rows(1, 12, 12), classes(), BATCH)
        module = mx.mod.Module(net, context=mx.cpu())
        module.fit(
            batches,
            eval_data=mx.io.NDArrayIter(rows(1, 12, 12), classes(), BATCH),
            num_epoch=2,
            initializer=mx.init.MSRAPrelu(),
            optimizer="nag",
            optimizer_params={"learning_rate": 0.05, "momentum": 0.9, "wd": 0.001},
            batch_end_callback=mx.callback.Speedometer(BATCH, 100),
        )
        module.save_checkpoint(prefix, 2)
        return arrays(module.predict(batches))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        module = mx.mod.Module.load(prefix, 2, context=mx.cpu())
        batches = mx.io.NDArrayIter(rows(1, 12, 12), classes(), BATCH)
        module.bind(batches.provide_data, batches.provide_label, for_training=False)
        return arrays(module.predict(batches))


@program
class SupportVectors:
    """`SVMOutput` behind a network of which some parameters stay fixed."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = dense(mx, mx.sym.Variable("data"), 64, 64, CLASSES, act="softsign")
        net = mx.sym.SVMOutput(mx.sym.softmax(net) * 2, mx.sym.Variable("svm_label"), name="svm")
        batches = mx.io.NDArrayIter(rows(48), classes(), BATCH, label_name="svm_label")
        module = mx.mod.Module(
            net, label_names=["svm_label"], fixed_param_names=["fc0_64_weight"], context=mx.cpu()
        )
        module.fit(
            batches,
            num_epoch=2,
            initializer=mx.init.Uniform(0.2),
            optimizer_params={"learning_rate": 0.1, "clip_gradient": 1.0},
        )
        module.save_params(f"{prefix}.params")
        net.save(f"{prefix}.json")
        return arrays(module.predict(batches))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        batches = mx.io.NDArrayIter(rows(48), classes(), BATCH, label_name="svm_label")
        module = mx.mod.Module(mx.sym.load(f"{prefix}.json"), label_names=["svm_label"], context=mx.cpu())
        module.bind(batches.provide_data, batches.provide_label, for_training=False)
        module.load_params(f"{prefix}.params")
        return arrays(module.predict(batches))


@program
class OwnLoss:
    """`MakeLoss` of an expression; the prediction is an inner value, found by its name."""

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        label = mx.sym.Variable("label")
        pred = mx.sym.sigmoid(dense(mx, mx.sym.Variable("data"), 64, 64, 8), name="pred")
        loss = mx.sym.MakeLoss(mx.sym.smooth_l1(pred - mx.sym.reshape_like(label, pred), scalar=2.0))
        net = mx.sym.Group([loss, mx.sym.BlockGrad(pred, name="shown"), label])
        batches = mx.io.NDArrayIter(rows(48), targets(4, 2), BATCH, label_name="label")
        module = mx.mod.Module(net, label_names=["label"], context=mx.cpu())
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params(mx.init.Xavier())
        module.init_optimizer(optimizer="adagrad", optimizer_params={"learning_rate": 0.05})
        for batch in batches:
            module.forward_backward(batch)
            module.update()
        module.save_checkpoint(prefix, 1)
        batches.reset()
        inner = mx.mod.Module(net.get_internals()["pred_output"], label_names=None, context=mx.cpu())
        inner.bind(batches.provide_data, for_training=False, shared_module=module)
        return arrays(inner.predict(batches))

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        symbol, arguments, states = mx.model.load_checkpoint(prefix, 1)
        inner = symbol.get_internals()["pred_output"]
        module = mx.mod.Module(inner, label_names=None, context=mx.cpu())
        batches = mx.io.NDArrayIter(rows(48), batch_size=BATCH)
        module.bind(batches.provide_data, for_training=False)
        module.set_params(arguments, states, allow_extra=True)
        return arrays(module.predict(batches))


@program
class SharedWeights:
    """Two towers with one set of weights, and arrays that two executors share."""

    @staticmethod
    def tower(mx: Any, name: str, weights: Any) -> Any:
        net = mx.sym.Variable(name)
        for weight in weights:
            net = mx.sym.FullyConnected(net, weight=weight, no_bias=True, num_hidden=48)
            net = mx.sym.tanh(net)
        return net

    @staticmethod
    def network(mx: Any) -> Any:
        weights = [mx.sym.Variable(f"shared{number % 2}_weight") for number in range(2)] * 2
        left, right = (SharedWeights.tower(mx, name, weights) for name in ("left", "right"))
        near = mx.sym.sum(mx.sym.abs(left - right), axis=1, keepdims=True)
        return mx.sym.LogisticRegressionOutput(1 - near, mx.sym.Variable("label"), name="same")

    @staticmethod
    def given(mx: Any) -> dict[str, Any]:
        return {"left": mx.nd.array(rows(48)), "right": mx.nd.array(rows(48)[::-1])}

    @staticmethod
    def train(mx: Any, prefix: str) -> Any:
        net = SharedWeights.network(mx)
        shapes = {"left": (ROWS, 48), "right": (ROWS, 48), "label": (ROWS, 1)}
        asked = {name: "null" if name in shapes else "write" for name in net.list_arguments()}
        executor = net.simple_bind(mx.cpu(), grad_req=asked, **shapes)
        names = [name for name in net.list_arguments() if name not in shapes]
        update = mx.optimizer.get_updater(mx.optimizer.create("sgd", learning_rate=0.001, momentum=0.9))
        for name in names:
            mx.init.Xavier()(mx.init.InitDesc(name), executor.arg_dict[name])
        label = mx.nd.array(classes(2).reshape(ROWS, 1))
        for _ in range(4):
            executor.forward(is_train=True, label=label, **SharedWeights.given(mx))
            executor.backward()
            for number, name in enumerate(names):
                update(number, executor.grad_dict[name], executor.arg_dict[name])
        net.save(f"{prefix}.json")
        mx.nd.save(f"{prefix}.params", {f"arg:{name}": executor.arg_dict[name] for name in names})
        half = executor.reshape(left=(ROWS // 2, 48), right=(ROWS // 2, 48), label=(ROWS // 2, 1))
        first = {name: array[: ROWS // 2] for name, array in SharedWeights.given(mx).items()}
        found = arrays(half.forward(is_train=False, **first))
        return [*found, *arrays(executor.forward(is_train=False, **SharedWeights.given(mx)))]

    @staticmethod
    def predict(mx: Any, prefix: str) -> Any:
        net, params = mx.sym.load(f"{prefix}.json"), mx.nd.load(f"{prefix}.params")
        shapes = {"left": (ROWS, 48), "right": (ROWS, 48)}
        executor = net.simple_bind(mx.cpu(), grad_req="null", **shapes)
        executor.copy_params_from({name.split(":", 1)[1]: array for name, array in params.items()})
        half = executor.reshape(left=(ROWS // 2, 48), right=(ROWS // 2, 48), label=(ROWS // 2, 1))
        first = {name: array[: ROWS // 2] for name, array in SharedWeights.given(mx).items()}
        found = arrays(half.forward(is_train=False, **first))
        return [*found, *arrays(executor.forward(is_train=False, **SharedWeights.given(mx)))]


def run(part: str, mx: Any, folder: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Run `train` or `predict` of every program; gives predictions, and errors in words, by program."""
    found: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for name, each in PROGRAMS.items():
        np.random.seed(7)
        mx.random.seed(7)
        try:
            values = getattr(each, part)(mx, f"{folder}/{name}")
        except Exception as error:  # noqa: BLE001 - the test of this program shows it
            errors[name] = f"{type(error).__name__}: {error}"
        else:
            found |= {f"{name} {number}": value for number, value in enumerate(values)}
    return found, errors


def main() -> None:
    """Run one part of every program; see above."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["train", "predict"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--library", default="operad", help="the one to run under")
    given = parser.parse_args()
    found, errors = run(given.part, importlib.import_module(given.library), str(given.folder))
    np.savez(given.folder / f"{given.part}.npz", **found)
    (given.folder / f"{given.part}.json").write_text(json.dumps(errors), encoding="utf-8")


if __name__ == "__main__":
    main()
