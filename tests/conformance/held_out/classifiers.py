"""Classifiers and regressions: layers, losses, schedules, and ways to train."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.held_out.learning import (
    Data,
    batches_of,
    cross_entropy,
    dense,
    descend,
    draws,
    fitted,
    outputs,
    program,
    squared,
    start,
)


def classified(
    mx: Any, data: Data, name: str, net: Any, labels: str = "softmax_label", shape: Any = None, **how: Any
) -> float:
    """Loss of a `SoftmaxOutput` over the rows of a data set, in another shape if that is asked."""
    (x, y), (rows, classes) = data.train(name, f"{name}_target"), data.held_out(name, f"{name}_target")
    if shape is not None:
        x, rows = x.reshape(-1, *shape), rows.reshape(-1, *shape)
    module = fitted(mx, net, {"data": x}, {labels: y}, **how)
    return cross_entropy(outputs(mx, module, {"data": rows})[0], classes)


@program
def softmax_regression(mx: Any, data: Data) -> float:
    """Fisher's flowers by one layer, with momentum and weight decay."""
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.var("data"), 3), normalization="batch", name="softmax")
    how = {"learning_rate": 0.3, "momentum": 0.9, "wd": 1e-3}
    return classified(mx, data, "iris", net, epochs=20, optimizer="sgd", **how)


@program
def perceptron(mx: Any, data: Data) -> float:
    """Digits by two layers and Adam."""
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.var("data"), 64, 10, act="relu"), name="softmax")
    return classified(mx, data, "digits", net, epochs=6, learning_rate=0.003)


@program
def convolutions(mx: Any, data: Data) -> float:
    """LeNet's kind on digits of 8 by 8 pixels."""
    net = mx.sym.var("data")
    for number, filters in enumerate((8, 16)):
        net = mx.sym.Convolution(net, kernel=(3, 3), pad=(1, 1), num_filter=filters, name=f"conv{number}")
        net = mx.sym.Pooling(mx.sym.tanh(net), kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.Flatten(net), 32, 10), name="softmax")
    return classified(mx, data, "digits", net, shape=(1, 8, 8), epochs=4, learning_rate=0.005)


def _block(mx: Any, net: Any, number: int, gate: Any = None) -> Any:
    how = {"kernel": (3, 3), "pad": (1, 1), "num_filter": 8, "no_bias": True}  # Adam would follow its noise
    branch = mx.sym.Convolution(net, name=f"block{number}_conv", **how)
    branch = mx.sym.BatchNorm(branch, fix_gamma=False, name=f"block{number}_bn")
    branch = mx.sym.Activation(branch, act_type="relu")
    return net + (branch if gate is None else mx.sym.broadcast_mul(branch, gate))


@program
def residual_blocks(mx: Any, data: Data) -> float:
    """He and others, 2015: sums of what a block gets and what it makes of it, with batch normalization."""
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=8, name="first")
    for number in range(2):
        net = _block(mx, net, number)
    net = mx.sym.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="avg")
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.Flatten(net), 10), name="softmax")
    return classified(mx, data, "digits", net, shape=(1, 8, 8), epochs=5, learning_rate=0.01)


@program
def stochastic_depth(mx: Any, data: Data) -> float:
    """Huang and others, 2016: gates close blocks of some rows in training; all are half open afterwards."""
    gates = [mx.sym.Reshape(mx.sym.var(f"gate{number}"), shape=(-1, 1, 1, 1)) for number in range(2)]
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=8, name="first")
    for number, gate in enumerate(gates):
        net = _block(mx, net, number, gate)
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.Flatten(net), 10), name="softmax")
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))

    def given(pixels: Any, drawn: bool) -> dict[str, Any]:
        half = np.full((2, len(pixels)), 0.5, np.float32)
        open_ = draws("gates").randint(0, 2, half.shape).astype(np.float32) if drawn else half
        return {"data": pixels.reshape(-1, 1, 8, 8), "gate0": open_[0], "gate1": open_[1]}

    module = fitted(mx, net, given(x, True), {"softmax_label": y}, epochs=3, learning_rate=0.003)
    return cross_entropy(outputs(mx, module, given(rows, False))[0], classes)


@program
def highway(mx: Any, data: Data) -> float:
    """Srivastava and others, 2015: layers whose gates carry what they get, on wines."""
    net = dense(mx, mx.sym.var("data"), 16)
    for number in range(3):
        made = mx.sym.tanh(mx.sym.FullyConnected(net, num_hidden=16, name=f"plain{number}"))
        gate = mx.sym.sigmoid(mx.sym.FullyConnected(net, num_hidden=16, name=f"gate{number}") - 1)
        net = gate * made + (1 - gate) * net
    net = mx.sym.SoftmaxOutput(dense(mx, net, 3, name="out"), name="softmax")
    return classified(mx, data, "wine", net, epochs=10, learning_rate=0.01)


@program
def support_vectors(mx: Any, data: Data) -> float:
    """Squared hinge loss of `SVMOutput`; the loss on rows held out is the mean hinge."""
    (x, y), (rows, classes) = (way("wine", "wine_target") for way in (data.train, data.held_out))
    net = mx.sym.SVMOutput(dense(mx, mx.sym.var("data"), 8, 3), margin=1.0, name="svm")
    module = fitted(mx, net, {"data": x}, {"svm_label": y}, 6, "sgd", learning_rate=0.02, momentum=0.9)
    scores = outputs(mx, module, {"data": rows})[0]
    right = scores[np.arange(len(rows)), classes.astype(int)][:, None]
    return float(np.maximum(0, 1 + scores - right).mean())


@program
def absolute_errors(mx: Any, data: Data) -> float:
    """The course of diabetes by `MAERegressionOutput` and RMSProp."""
    (x, y), (rows, wanted) = (way("diabetes", "diabetes_target") for way in (data.train, data.held_out))
    net = mx.sym.MAERegressionOutput(dense(mx, mx.sym.var("data"), 16, 1), name="mae")
    module = fitted(mx, net, {"data": x}, {"mae_label": y[:, None]}, 8, "rmsprop", learning_rate=0.003)
    return float(np.abs(outputs(mx, module, {"data": rows})[0] - wanted[:, None]).mean())


@program
def least_squares(mx: Any, data: Data) -> float:
    """The same by an executor over all rows and `sgd_mom_update`."""
    (x, y), (rows, wanted) = (way("diabetes", "diabetes_target") for way in (data.train, data.held_out))
    net = mx.sym.LinearRegressionOutput(dense(mx, mx.sym.var("data"), 1), mx.sym.var("label"))
    executor = net.simple_bind(mx.cpu(), data=x.shape, label=(len(x), 1))
    executor.copy_params_from({"data": mx.nd.array(x), "label": mx.nd.array(y[:, None])})
    rate = {"learning_rate": 0.3, "momentum": 0.9, "rescale_grad": 1 / len(x)}
    step = descend(mx, executor, {"data", "label"}, mx.optimizer.SGD(**rate))
    for _ in range(60):
        step()
    shorter = executor.reshape(data=rows.shape, label=(len(rows), 1), partial_shaping=True)
    return squared(shorter.forward(is_train=False, data=mx.nd.array(rows))[0].asnumpy(), wanted)


@program
def logistic_with_a_schedule(mx: Any, data: Data) -> float:
    """Tumours by `LogisticRegressionOutput`, at a rate that falls."""
    (x, y), (rows, wanted) = (
        way("breast_cancer", "breast_cancer_target") for way in (data.train, data.held_out)
    )
    net = mx.sym.LogisticRegressionOutput(dense(mx, mx.sym.var("data"), 8, 1), name="logistic")
    falling = mx.lr_scheduler.FactorScheduler(step=20, factor=0.7)
    how = {"learning_rate": 0.1, "lr_scheduler": falling, "momentum": 0.5}
    module = fitted(mx, net, {"data": x}, {"logistic_label": y[:, None]}, 8, "sgd", **how)
    found = outputs(mx, module, {"data": rows})[0][:, 0]
    return cross_entropy(np.stack([1 - found, found], 1), wanted)


@program
def two_tasks(mx: Any, data: Data) -> float:
    """A digit and whether it is even, by two losses over one layer."""
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    hidden = mx.sym.tanh(dense(mx, mx.sym.var("data"), 32))
    heads = [
        mx.sym.SoftmaxOutput(dense(mx, hidden, count, name=name), name=name)
        for name, count in (("digit", 10), ("parity", 2))
    ]
    labels = {"digit_label": y, "parity_label": y % 2}
    module = fitted(mx, mx.sym.Group(heads), {"data": x}, labels, 6, learning_rate=0.005)
    digit, parity = outputs(mx, module, {"data": rows})
    return cross_entropy(digit, classes) + cross_entropy(parity, classes % 2)


@program
def distillation(mx: Any, data: Data) -> float:
    """Hinton and others, 2015: a small network learns the softened answers of a larger one."""
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    scores = dense(mx, mx.sym.var("data"), 64, 10, name="teacher")
    teacher = fitted(mx, mx.sym.SoftmaxOutput(scores, name="softmax"), {"data": x}, {"softmax_label": y}, 5)
    soft = mx.mod.Module(mx.sym.softmax(scores, temperature=2.0), label_names=None)
    soft.bind([("data", (32, 64))], for_training=False)
    soft.set_params(*teacher.get_params())
    answers = outputs(mx, soft, {"data": x})[0]
    student = dense(mx, mx.sym.var("data"), 12, 10, name="student")
    loss = -mx.sym.var("answers") * mx.sym.log_softmax(student, temperature=2.0)
    net = mx.sym.Group([mx.sym.MakeLoss(loss), mx.sym.BlockGrad(mx.sym.softmax(student))])
    module = fitted(mx, net, {"data": x}, {"answers": answers}, 10, learning_rate=0.01)
    return cross_entropy(outputs(mx, module, {"data": rows})[1], classes)


@program
def curriculum(mx: Any, data: Data) -> float:
    """Bengio and others, 2009: rows near the mean of their class come first."""
    x, y = data.train("digits", "digits_target")
    centres = np.stack([x[y == digit].mean(0) for digit in range(10)])
    order = np.argsort(np.square(x - centres[y.astype(int)]).sum(1), kind="stable")
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.var("data"), 32, 10), name="softmax")
    module = None
    for part in (0.5, 1.0):
        some = order[: int(len(order) * part)]
        known = {} if module is None else module.get_params()[0]
        given = mx.io.NDArrayIter(x[some], y[some], 32, last_batch_handle="discard")
        module = mx.mod.Module(net, context=mx.cpu())
        how = {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.005}, "kvstore": None}
        module.fit(given, num_epoch=4, initializer=start, arg_params=known, allow_missing=True, **how)
    rows, classes = data.held_out("digits", "digits_target")
    return cross_entropy(outputs(mx, module, {"data": rows})[0], classes)


@program
def dropout_uncertainty(mx: Any, data: Data) -> float:
    """Gal and Ghahramani, 2016: predictions are means over masks, which are data here."""
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    hidden = mx.sym.tanh(dense(mx, mx.sym.var("data"), 48)) * mx.sym.var("mask") * 2
    net = mx.sym.SoftmaxOutput(dense(mx, hidden, 10, name="out"), name="softmax")

    def mask(count: int, name: str) -> Any:
        return draws(name).randint(0, 2, (count, 48)).astype(np.float32)

    module = fitted(mx, net, {"data": x, "mask": mask(len(x), "masks")}, {"softmax_label": y}, 6)
    found = [outputs(mx, module, {"data": rows, "mask": mask(len(rows), f"mask {n}")})[0] for n in range(8)]
    return cross_entropy(np.mean(found, 0), classes)


@program
def langevin_dynamics(mx: Any, data: Data) -> float:
    """Welling and Teh, 2011: SGLD, whose noise NumPy draws here; predictions are means over the chain."""
    (x, y), (rows, wanted) = (way("diabetes", "diabetes_target") for way in (data.train, data.held_out))
    net = mx.sym.LinearRegressionOutput(dense(mx, mx.sym.var("data"), 8, 1), mx.sym.var("label"))
    executor = net.simple_bind(mx.cpu(), data=(32, x.shape[1]), label=(32, 1))
    step = descend(mx, executor, {"data", "label"}, mx.optimizer.SGD(learning_rate=0.003))
    tested = net.simple_bind(mx.cpu(), grad_req="null", data=rows.shape, label=(len(rows), 1))
    noise, found = draws("langevin"), []
    for number, some in enumerate(batches_of(len(x), 8)):
        executor.arg_dict["data"][:], executor.arg_dict["label"][:] = x[some], y[some, None]
        step()
        for name in ("fc0_weight", "fc0_bias", "fc1_weight", "fc1_bias"):
            array = executor.arg_dict[name]
            array += mx.nd.array(noise.normal(0, 0.004, array.shape))
        if number >= 40 and number % 4 == 0:
            tested.copy_params_from({n: a for n, a in executor.arg_dict.items() if n[:2] == "fc"})
            found.append(tested.forward(is_train=False, data=mx.nd.array(rows))[0].asnumpy())
    return squared(np.mean(found, 0), wanted)
