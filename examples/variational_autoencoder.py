"""A variational autoencoder of handwritten digits, after Kingma and Welling (2013).

The encoder gives mean and logarithm of the variance of a normal distribution for each image, a sample of
it goes to the decoder, and the loss is what the image costs in nats: the cross-entropy of its pixels and
the divergence of that distribution from a standard normal one. `python -m examples.variational_autoencoder`
prints it for held-out digits, beside the cost of pixels that are guessed by their mean brightness.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import operad as mx
from examples.command import program
from examples.data import load_digits

BATCH, PIXELS, HIDDEN, LATENT = 64, 64, 96, 8


def network() -> mx.Symbol:
    """Cost per image as the loss, of shape (N,); the reconstruction, of (N, PIXELS), beside it."""
    data = mx.sym.Flatten(mx.sym.Variable("data"))
    hidden = mx.sym.tanh(mx.sym.FullyConnected(data, num_hidden=HIDDEN, name="encoder"))
    mean = mx.sym.FullyConnected(hidden, num_hidden=LATENT, name="mean")
    log_variance = mx.sym.FullyConnected(hidden, num_hidden=LATENT, name="log_variance")

    noise = mx.sym.random.normal_like(mean)  # a sample that has a gradient: mean + deviation * noise
    latent = mean + mx.sym.exp(0.5 * log_variance) * noise

    hidden = mx.sym.tanh(mx.sym.FullyConnected(latent, num_hidden=HIDDEN, name="decoder"))
    score = mx.sym.FullyConnected(hidden, num_hidden=PIXELS, name="pixels")
    # -x log(s) - (1 - x) log(1 - s) where s = sigmoid(score), in a form that does not overflow
    softplus = mx.sym.relu(score) + mx.sym.log1p(mx.sym.exp(-mx.sym.abs(score)))
    pixel_cost = mx.sym.sum(softplus - data * score, axis=1)
    divergence = 0.5 * mx.sym.sum(mx.sym.exp(log_variance) + mean * mean - 1 - log_variance, axis=1)
    cost = mx.sym.MakeLoss(pixel_cost + divergence, name="cost")
    return mx.sym.Group([cost, mx.sym.BlockGrad(mx.sym.sigmoid(score), name="reconstruction")])


def cost_of_means(train: Any, test: Any) -> float:
    """Nats per image where each pixel is guessed by its mean brightness."""
    mean = np.clip(train.reshape(-1, PIXELS).mean(axis=0), 1e-3, 1 - 1e-3)
    pixels = test.reshape(-1, PIXELS)
    return float(-(pixels * np.log(mean) + (1 - pixels) * np.log(1 - mean)).sum(axis=1).mean())


def train(epochs: int = 60, quick: bool = False) -> tuple[float, float]:
    """Nats per held-out image: the model's, and that of mean brightness."""
    digits = load_digits().first(BATCH) if quick else load_digits()
    batches = mx.io.NDArrayIter(digits.train_images, None, BATCH, shuffle=True, seed=0)
    held_out = mx.io.NDArrayIter(digits.test_images, None, BATCH)
    metric = mx.metric.Loss(output_names=["cost_output"])

    mx.random.seed(0)
    module = mx.mod.Module(network(), label_names=None)
    module.fit(
        batches,
        num_epoch=1 if quick else epochs,
        eval_metric=metric,
        initializer=mx.init.Xavier(),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.003},
    )
    ((_, cost),) = module.score(held_out, metric)
    return float(cost), cost_of_means(digits.train_images, digits.test_images)


main = program(__doc__, train, 60, "held-out digits cost {:.2f} nats, by mean brightness {:.2f}")


if __name__ == "__main__":
    main()
