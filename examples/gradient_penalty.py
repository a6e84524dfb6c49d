"""A generative adversarial network of handwritten digits, whose critic has a gradient penalty.

After Gulrajani et al., "Improved Training of Wasserstein GANs", 2017. A critic of convolutions scores images,
and a generator of transposed convolutions learns to make images that score like real ones. Between these the
length of the critic's gradient is to be 1. It is learnt through the gradient of that gradient, which is a
second derivative of convolutions and normalizations. `python -m examples.gradient_penalty` prints how far the
pixels of generated digits are from held-out ones (the Fréchet distance of normal distributions with their
means and covariances), before and after training and for the digits that were learnt from, and the length at
the end.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import operad as mx
from examples.command import program
from examples.data import load_digits

BATCH, LATENT, WIDTH = 64, 16, 8
PENALTY, CRITIC_STEPS = 10.0, 3

CRITIC = {
    "near_weight": (WIDTH, 1, 3, 3),
    "near_bias": (WIDTH,),
    "far_weight": (2 * WIDTH, WIDTH, 3, 3),
    "far_bias": (2 * WIDTH,),
    "norm_gamma": (2 * WIDTH,),
    "norm_beta": (2 * WIDTH,),
    "score_weight": (1, 2 * WIDTH * 16),
    "score_bias": (1,),
}
GENERATOR = {
    "seed_weight": (2 * WIDTH * 16, LATENT),
    "seed_bias": (2 * WIDTH * 16,),
    "norm_gamma": (2 * WIDTH,),
    "norm_beta": (2 * WIDTH,),
    "norm_moving_mean": (2 * WIDTH,),
    "norm_moving_var": (2 * WIDTH,),
    "grow_weight": (2 * WIDTH, WIDTH, 4, 4),
    "grow_bias": (WIDTH,),
    "pixel_weight": (1, WIDTH, 3, 3),
    "pixel_bias": (1,),
}
Parameters = dict[str, mx.nd.NDArray]


def parameters(shapes: dict[str, tuple[int, ...]]) -> Parameters:
    """Weights drawn at random, gammas and variances of 1, the rest 0; moving statistics have no gradient."""
    found = {}
    for name, shape in shapes.items():
        if name.endswith("weight"):
            found[name] = mx.nd.random.normal(0, prod(shape[1:]) ** -0.5, shape)
        else:
            found[name] = mx.nd.ones(shape) if name.endswith(("gamma", "var")) else mx.nd.zeros(shape)
        if "moving" not in name:
            found[name].attach_grad()
    return found


def score(images: Any, p: Parameters) -> Any:
    """The critic: a number per image, higher for real ones."""
    near = mx.nd.Convolution(
        images, p["near_weight"], p["near_bias"], kernel=(3, 3), pad=(1, 1), num_filter=WIDTH
    )
    far = mx.nd.Convolution(
        mx.nd.LeakyReLU(near, slope=0.2), p["far_weight"], p["far_bias"], kernel=(3, 3), pad=(1, 1),
        stride=(2, 2), num_filter=2 * WIDTH,
    )  # fmt: skip
    # Not BatchNorm: the slope of an image is to depend on that image alone.
    normal = mx.nd.InstanceNorm(far, p["norm_gamma"], p["norm_beta"])
    return mx.nd.FullyConnected(
        mx.nd.LeakyReLU(normal, slope=0.2), p["score_weight"], p["score_bias"], num_hidden=1
    )


def images_of(noise: Any, p: Parameters) -> Any:
    """The generator: an image of pixels in [0, 1] per row of noise."""
    seed = mx.nd.FullyConnected(noise, p["seed_weight"], p["seed_bias"], num_hidden=2 * WIDTH * 16)
    norm = [p[f"norm_{name}"] for name in ("gamma", "beta", "moving_mean", "moving_var")]
    seed = mx.nd.BatchNorm(seed.reshape((-1, 2 * WIDTH, 4, 4)), *norm, fix_gamma=False)
    grown = mx.nd.Deconvolution(
        mx.nd.relu(seed), p["grow_weight"], p["grow_bias"], kernel=(4, 4), stride=(2, 2), pad=(1, 1),
        num_filter=WIDTH, no_bias=False,
    )  # fmt: skip
    return mx.nd.sigmoid(
        mx.nd.Convolution(
            mx.nd.relu(grown), p["pixel_weight"], p["pixel_bias"], kernel=(3, 3), pad=(1, 1), num_filter=1
        )
    )


def slopes(real: Any, fake: Any, critic: Parameters) -> Any:
    """Length of the critic's gradient at random points between real and generated images."""
    share = mx.nd.random.uniform(shape=(len(real), 1, 1, 1))
    between = mx.nd.broadcast_mul(share, real) + mx.nd.broadcast_mul(1 - share, fake)
    between.attach_grad()
    (gradient,) = mx.autograd.grad(score(between, critic), [between], create_graph=True)
    return mx.nd.sqrt(mx.nd.sum(mx.nd.square(gradient), axis=(1, 2, 3)) + 1e-12)


class Learner:
    """Parameters and the optimizer that changes them."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self.parameters = parameters(shapes)
        self._update = mx.optimizer.get_updater(mx.optimizer.Adam(learning_rate=0.003, beta1=0.5, beta2=0.9))

    def learn(self, loss: Any) -> None:
        """One step against the gradient of a loss."""
        loss.backward()
        for index, array in enumerate(self.parameters.values()):
            if array.grad is not None:
                self._update(index, array.grad, array)


def noise(count: int) -> Any:
    """What images are generated from."""
    return mx.nd.random.normal(shape=(count, LATENT))


def step(real: Any, critic: Learner, generator: Learner, is_last: bool) -> float:
    """One step of the critic, and after the last of some one of the generator; returns the mean slope."""
    fake = images_of(noise(len(real)), generator.parameters)
    with mx.autograd.record():
        length = slopes(real, fake, critic.parameters)
        gain = mx.nd.mean(score(fake, critic.parameters)) - mx.nd.mean(score(real, critic.parameters))
        loss = gain + PENALTY * mx.nd.mean(mx.nd.square(length - 1))
    critic.learn(loss)
    if is_last:
        with mx.autograd.record():
            loss = -mx.nd.mean(score(images_of(noise(BATCH), generator.parameters), critic.parameters))
        generator.learn(loss)
    return float(mx.nd.mean(length).asscalar())


def frechet_distance(one: Any, other: Any) -> float:
    """That of normal distributions with the means and covariances of two sets of images."""
    means, covariances = [], []
    for images in (one, other):
        pixels = images.reshape(len(images), -1).astype(np.float64)
        means.append(pixels.mean(0))
        covariances.append(np.cov(pixels, rowvar=False))
    joint = np.sqrt(np.maximum(np.linalg.eigvals(covariances[0] @ covariances[1]).real, 0)).sum()
    return float(np.square(means[0] - means[1]).sum() + np.trace(covariances[0] + covariances[1]) - 2 * joint)


def train(epochs: int = 12, quick: bool = False) -> tuple[float, float, float, float]:
    """Distances from held-out digits, generated before and after, and real; the mean slope at the end."""
    digits = load_digits().first(2 * BATCH) if quick else load_digits()
    mx.random.seed(0)
    critic, generator = Learner(CRITIC), Learner(GENERATOR)

    def distance() -> float:
        generated = images_of(noise(len(digits.test_images)), generator.parameters).asnumpy()
        return frechet_distance(generated, digits.test_images)

    before, slope, number = distance(), 0.0, 0
    batches = mx.io.NDArrayIter(
        digits.train_images, None, BATCH, shuffle=True, last_batch_handle="discard", seed=0
    )
    for _ in range(1 if quick else epochs):
        batches.reset()
        for batch in batches:
            number += 1
            slope = step(batch.data[0], critic, generator, number % CRITIC_STEPS == 0)
    return before, distance(), frechet_distance(digits.train_images, digits.test_images), slope


main = program(
    __doc__, train, 12,
    "distance from held-out digits {:.2f}, after training {:.2f}, of real ones {:.2f}; mean slope {:.2f}",
)  # fmt: skip


if __name__ == "__main__":
    main()
