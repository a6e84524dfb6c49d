"""Networks that make data: autoencoders, adversaries, images that are trained themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.conformance.held_out.learning import (
    BATCH,
    Data,
    batches_of,
    cross_entropy,
    dense,
    draws,
    fitted,
    outputs,
    program,
    squared,
    start,
)


@program
def autoencoder(mx: Any, data: Data) -> float:
    """Digits through eight numbers, by `LinearRegressionOutput`."""
    (x,), (rows,) = data.train("digits"), data.held_out("digits")
    code = mx.sym.tanh(dense(mx, mx.sym.var("data"), 32, 8, name="encoder"))
    net = mx.sym.LinearRegressionOutput(dense(mx, code, 32, 64, name="decoder"), name="out")
    module = fitted(mx, net, {"data": x}, {"out_label": x}, 6, learning_rate=0.005)
    return squared(outputs(mx, module, {"data": rows})[0], rows)


@program
def denoising_autoencoder(mx: Any, data: Data) -> float:
    """Vincent and others, 2008: blanked pixels are made again; both sides share their weights."""
    (x,), (rows,) = data.train("digits"), data.held_out("digits")
    weight = mx.sym.var("shared_weight")
    hidden = mx.sym.sigmoid(mx.sym.FullyConnected(mx.sym.var("data"), weight, num_hidden=32, name="encoder"))
    decoded = mx.sym.broadcast_add(mx.sym.dot(hidden, weight), mx.sym.var("decoder_bias", shape=(1, 64)))
    net = mx.sym.LogisticRegressionOutput(decoded, name="out")
    blanked = [part * (draws("blanks").uniform(size=part.shape) > 0.3) for part in (x, rows)]
    module = fitted(mx, net, {"data": blanked[0]}, {"out_label": x}, 6, learning_rate=0.005)
    return squared(outputs(mx, module, {"data": blanked[1]})[0], rows)


@program
def variational_autoencoder(mx: Any, data: Data) -> float:
    """Kingma and Welling, 2013; the noise is data, and 0 for rows held out."""
    (x,), (rows,) = data.train("digits"), data.held_out("digits")
    pixels = mx.sym.var("data")
    hidden = mx.sym.tanh(dense(mx, pixels, 32, name="encoder"))
    mean, deviation = (dense(mx, hidden, 4, name=name) for name in ("mean", "log_variance"))
    code = mean + mx.sym.exp(0.5 * deviation) * mx.sym.var("noise")
    made = mx.sym.sigmoid(dense(mx, code, 32, 64, name="decoder"))
    likelihood = pixels * mx.sym.log(made + 1e-6) + (1 - pixels) * mx.sym.log(1 - made + 1e-6)
    divergence = 0.5 * mx.sym.sum(mean**2 + mx.sym.exp(deviation) - 1 - deviation, axis=1)
    net = mx.sym.MakeLoss(divergence - mx.sym.sum(likelihood, axis=1), name="loss")
    noise = draws("noise").normal(size=(len(x), 4)).astype(np.float32)
    module = fitted(mx, net, {"data": x, "noise": noise}, None, 6, learning_rate=0.003)
    return float(outputs(mx, module, {"data": rows, "noise": np.zeros((len(rows), 4))})[0].mean())


@program
def generative_adversaries(mx: Any, data: Data) -> float:
    """Goodfellow and others, 2014: two modules; the loss is that of the discriminator on rows held out."""
    (x,), (rows,) = data.train("digits"), data.held_out("digits")
    made = mx.sym.sigmoid(dense(mx, mx.sym.var("noise"), 32, 64, name="generator"))
    judged = dense(mx, mx.sym.var("data"), 32, 1, name="judge")
    judge = mx.mod.Module(mx.sym.LogisticRegressionOutput(judged, name="real"), label_names=["real_label"])
    generator = mx.mod.Module(made, data_names=["noise"], label_names=None)
    judge.bind([("data", (BATCH, 64))], [("real_label", (BATCH, 1))], inputs_need_grad=True)
    generator.bind([("noise", (BATCH, 8))])
    for module in (judge, generator):
        module.init_params(start)
        module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.2})
    noise, ones, zeros = draws("adversary"), mx.nd.ones((BATCH, 1)), mx.nd.zeros((BATCH, 1))
    for some in batches_of(len(x), 4):
        drawn = mx.nd.array(noise.normal(size=(BATCH, 8)))
        generator.forward(mx.io.DataBatch([drawn], []), is_train=True)
        fake = generator.get_outputs()[0].copy()
        for pixels, label in ((mx.nd.array(x[some]), ones), (fake, zeros)):
            judge.forward_backward(mx.io.DataBatch([pixels], [label]))
            judge.update()
        judge.forward_backward(mx.io.DataBatch([fake], [ones]))
        generator.backward([judge.get_input_grads()[0].copy()])
        generator.update()
    found = outputs(mx, judge, {"data": rows})[0][:, 0]
    return float(-np.log(found).mean())


@program
def adversarial_examples(mx: Any, data: Data) -> float:
    """Goodfellow and others, 2014: the loss on rows moved along the signs of their own gradients."""
    (x, y), (rows, classes) = (way("digits", "digits_target") for way in (data.train, data.held_out))
    net = mx.sym.SoftmaxOutput(dense(mx, mx.sym.var("data"), 32, 10), name="softmax")
    module = fitted(mx, net, {"data": x}, {"softmax_label": y}, 6, learning_rate=0.005)
    attacked = mx.mod.Module(net)
    attacked.bind([("data", rows.shape)], [("softmax_label", classes.shape)], inputs_need_grad=True)
    attacked.set_params(*module.get_params())
    batch = mx.io.DataBatch([mx.nd.array(rows)], [mx.nd.array(classes)])
    attacked.forward(batch, is_train=True)
    attacked.backward()
    moved = batch.data[0] + 0.05 * mx.nd.sign(attacked.get_input_grads()[0])
    attacked.forward(mx.io.DataBatch([moved], batch.label), is_train=False)
    return cross_entropy(attacked.get_outputs()[0].asnumpy(), classes)


@program
def neural_style(mx: Any, data: Data) -> float:
    """Gatys and others, 2015: pixels are trained, towards features of a photograph and the style of another.

    Features are those of filters that were drawn, not learned.
    """
    shape = (1, 3, 32, 32)
    features = mx.sym.Convolution(
        mx.sym.var("image"), kernel=(5, 5), stride=(2, 2), num_filter=16, name="look"
    )
    features = mx.sym.tanh(features)
    flat = mx.sym.Reshape(features, shape=(16, -1))
    gram = mx.sym.dot(flat, flat, transpose_b=True) / 100
    seen = mx.sym.Group([features, gram])
    images = [data[name][None, :, ::2, ::2] for name in ("photograph", "other")]
    looked = []
    weights: dict[str, Any] = {}
    for image in images:
        executor = seen.simple_bind(mx.cpu(), grad_req="null", image=shape)
        for name in ("look_weight", "look_bias"):
            start(name, executor.arg_dict[name])
            weights[name] = executor.arg_dict[name]
        looked.append([each.copy() for each in executor.forward(image=mx.nd.array(image))])
    losses = [mx.sym.sum((seen[n] - mx.sym.var(f"wanted{n}")) ** 2) for n in range(2)]
    net = mx.sym.MakeLoss(losses[0] + losses[1])
    executor = net.simple_bind(mx.cpu(), image=shape, wanted0=looked[0][0].shape, wanted1=(16, 16))
    given = {**weights, "wanted0": looked[0][0], "wanted1": looked[1][1], "image": mx.nd.array(images[0])}
    executor.copy_params_from(given)
    update = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.02))
    for _ in range(40):
        executor.forward(is_train=True)
        executor.backward()
        update(0, executor.grad_dict["image"], executor.arg_dict["image"])
    return float(executor.forward(is_train=False)[0].asnumpy().sum())


@program
def super_resolution(mx: Any, data: Data) -> float:
    """Patches of a photograph at twice their size, by `Deconvolution`; held out is another photograph."""
    net = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=8, name="conv")
    how = {"kernel": (4, 4), "stride": (2, 2), "pad": (1, 1), "num_filter": 3}
    net = mx.sym.Deconvolution(mx.sym.tanh(net), name="larger", **how)
    net = mx.sym.LinearRegressionOutput(net, name="out")
    large, other = (_patches(data[name], 16) for name in ("photograph", "other"))
    large = np.concatenate([large, large[:, :, ::-1], large[:, :, :, ::-1]])
    small, looked = (each.reshape(len(each), 3, 8, 2, 8, 2).mean((3, 5)) for each in (large, other))
    module = fitted(mx, net, {"data": small}, {"out_label": large}, 20, learning_rate=0.01)
    return squared(outputs(mx, module, {"data": looked})[0], other)


def _patches(image: Any, size: int) -> Any:
    count = image.shape[1] // size
    return image.reshape(3, count, size, count, size).transpose(1, 3, 0, 2, 4).reshape(-1, 3, size, size)
