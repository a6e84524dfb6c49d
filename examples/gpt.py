"""A transformer that reads Python's reference and guesses the next letter.

`python -m examples.gpt` trains four layers of attention and gated units on the text of `help()`'s topics. It
prints the loss of the part that they have not seen, beside that of knowing how frequent each letter is, and
what they write. The layers are written once: `Module.fit` trains them as a symbol, and with `--compiled` a
loop trains them as a compiled function. Decoding binds them for one letter, with a cache of keys and
values as states.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

import operad as mx
from examples.command import read_options
from examples.data import load_text

PROMPT = "The "


class Size(NamedTuple):
    """What a network is made of."""

    layers: int = 4
    width: int = 256
    heads: int = 4
    steps: int = 256
    batch: int = 8


class Layers:
    """The layers, of symbols or of arrays.

    Args:
        functions: `mx.sym` or `mx.nd`.
        of: The parameter or state of a name.
    """

    def __init__(self, functions: Any, of: Callable[[str], Any], letters: int, size: Size) -> None:
        self._f, self._of, self._letters, self._size = functions, of, letters, size

    def _linear(self, data: Any, units: int, name: str) -> Any:
        weight = self._of(f"{name}_weight")
        return self._f.FullyConnected(data, weight, num_hidden=units, flatten=False, no_bias=True, name=name)

    def _normal(self, data: Any, name: str) -> Any:
        return self._f.RMSNorm(data, self._of(f"{name}_weight"), name=name)

    def _attention(self, data: Any, name: str, offset: Any) -> Any:
        """Each step and those before it; with `offset`, one step, and those in the cache."""
        f, size = self._f, self._size
        parts, heads = self._linear(data, 3 * size.width, f"{name}_qkv"), 3 * size.heads
        if offset is None:
            split = f.transpose(f.reshape(parts, shape=(0, 0, heads, -1)), axes=(0, 2, 1, 3))
            query, key, value = f.split(split, num_outputs=3, axis=1)  # (batch, heads, steps, size)
            query, key = f.rotary_embedding(query), f.rotary_embedding(key)
            seen = f.attention(query, key, value, causal=True, name=f"{name}_attention")
            joined = f.reshape(f.transpose(seen, axes=(0, 2, 1, 3)), shape=(0, 0, -1))
        else:  # of one step nothing is transposed
            split = f.reshape(parts, shape=(0, heads, 1, -1))
            query, key, value = f.split(split, num_outputs=3, axis=1)
            query, key = (f.rotary_embedding(part, offset, use_offset=True) for part in (query, key))
            states = [self._of(f"{name}_attention_{state}") for state in ("keys", "values")]
            seen = f.cached_attention(query, key, value, offset, *states, max_length=size.steps)
            joined = f.reshape(seen, shape=(0, 1, -1))
        return self._linear(joined, size.width, f"{name}_projection")

    def _gated(self, data: Any, name: str) -> Any:
        gate, value = (
            self._linear(data, 2 * self._size.width, f"{name}_{part}") for part in ("gate", "value")
        )
        return self._linear(self._f.swiglu(gate, value), self._size.width, f"{name}_down")

    def logits(self, data: Any, offset: Any = None) -> Any:
        """Scores of the next letter at each step of `data`, (batch, steps)."""
        weight, width = self._of("embedding_weight"), self._size.width
        found = self._f.Embedding(data, weight, input_dim=self._letters, output_dim=width)
        for layer in range(self._size.layers):
            name = f"layer{layer}_mix"
            found = found + self._attention(self._normal(found, f"{name}_norm"), name, offset)
            name = f"layer{layer}_unit"
            found = found + self._gated(self._normal(found, f"{name}_norm"), name)
        return self._linear(self._normal(found, "norm"), self._letters, "scores")

    def loss(self, data: Any, label: Any) -> Any:
        """The mean loss of all steps."""
        scores = self._f.reshape(self.logits(data), shape=(-1, self._letters))
        numbers = self._f.Cast(self._f.reshape(label, shape=(-1,)), dtype="int64")
        return self._f.cross_entropy(scores, numbers)


def _variable(name: str) -> mx.Symbol:
    return mx.sym.var(name, init=mx.init.One() if name.endswith("norm_weight") else None)


def network(letters: int, size: Size) -> mx.Symbol:
    """The mean loss of all steps, as a symbol."""
    layers = Layers(mx.sym, _variable, letters, size)
    return mx.sym.MakeLoss(layers.loss(mx.sym.var("data"), mx.sym.var("label")))


def first_parameters(letters: int, size: Size) -> dict[str, mx.NDArray]:
    """Where training begins, by name."""
    mx.random.seed(0)
    net, initializer = network(letters, size), mx.init.Xavier(factor_type="in", magnitude=1.0)
    shapes, _, _ = net.infer_shape(data=(1, 1), label=(1, 1))
    attributes = net.attr_dict()
    found = {
        name: mx.nd.zeros(shape)
        for name, shape in zip(net.list_arguments(), shapes, strict=True)
        if name.endswith("_weight")
    }
    for name, array in found.items():
        initializer(mx.init.InitDesc(name, attributes.get(name)), array)
    return found


def batches(numbers: Any, size: Size, shuffle: bool) -> mx.io.NDArrayIter:
    """Pieces of `size.steps` letters; the label of each letter is the one that follows it."""
    count = (len(numbers) - 1) // size.steps
    data, label = (numbers[i : i + count * size.steps].reshape(count, size.steps) for i in (0, 1))
    return mx.io.NDArrayIter(
        data, label, size.batch, shuffle=shuffle, last_batch_handle="discard", seed=0, label_name="label"
    )


class Decoder:
    """The network for one letter at a time; each call writes to the caches.

    Args:
        params: Arrays of the trained network, by name.
    """

    def __init__(self, letters: int, size: Size, params: dict[str, mx.NDArray]) -> None:
        layers = Layers(mx.sym, _variable, letters, size)
        net = layers.logits(mx.sym.var("data"), mx.sym.var("offset"))
        self._bound = net.simple_bind(mx.cpu(), grad_req="null", data=(1, 1), offset=(1,))
        self._bound.copy_params_from(params)
        self._data, self._offset = (self._bound.arg_dict[name] for name in ("data", "offset"))

    def scores(self, letter: int, place: int) -> Any:
        """Scores of the letter behind this one, which stands at `place`."""
        self._data[:], self._offset[:] = letter, place
        return self._bound.forward(is_train=False)[0].asnumpy().ravel()

    def write(self, prompt: list[int], count: int, temperature: float = 0.7) -> list[int]:
        """The prompt and `count` letters, each drawn by its probability."""
        rng, written = np.random.default_rng(0), list(prompt)
        for place in range(len(prompt) + count - 1):
            scores = self.scores(written[place], place) / temperature
            if place + 1 == len(written):
                shares = np.exp(scores - scores.max())
                written.append(int(rng.choice(len(shares), p=shares / shares.sum())))
        return written


OPTIONS: Final = {"learning_rate": 0.001, "rescale_grad": 1.0, "clip_gradient": 1.0}
Found = tuple[list[float], float, dict[str, mx.NDArray]]
"""The losses of the batches of training, that of the held-out part, and the parameters."""


def as_symbol(
    letters: int, size: Size, seen: mx.io.NDArrayIter, unseen: mx.io.NDArrayIter, epochs: int
) -> Found:
    """Train by `Module.fit`."""
    losses: list[float] = []

    def note(param: Any) -> None:
        losses.append(float(param.locals["self"].get_outputs()[0].asscalar()))

    module = mx.mod.Module(network(letters, size), data_names=("data",), label_names=("label",))
    module.fit(
        seen,
        num_epoch=epochs,
        eval_metric=mx.metric.Loss(),
        arg_params=first_parameters(letters, size),
        optimizer="adam",
        optimizer_params=OPTIONS,
        batch_end_callback=[mx.callback.Speedometer(size.batch, frequent=25), note],
    )
    ((_, loss),) = module.score(unseen, mx.metric.Loss())
    return losses, float(loss), module.get_params()[0]


def as_function(
    letters: int, size: Size, seen: mx.io.NDArrayIter, unseen: mx.io.NDArrayIter, epochs: int
) -> Found:
    """Train by a loop over a compiled function of arrays."""
    parameters = first_parameters(letters, size)
    for array in parameters.values():
        array.attach_grad()
    loss = mx.compile(Layers(mx.nd, parameters.__getitem__, letters, size).loss)
    update = mx.optimizer.get_updater(mx.optimizer.create("adam", **OPTIONS))
    losses: list[float] = []
    for epoch in range(epochs):
        before = len(losses)
        for batch in seen:
            with mx.autograd.record():
                value = loss(batch.data[0], batch.label[0])
            value.backward()
            for index, array in enumerate(parameters.values()):
                update(index, array.grad, array)
            losses.append(float(value.asscalar()))
        seen.reset()
        logging.info("Epoch[%d] Train-loss=%f", epoch, np.mean(losses[before:]))
    held_out = [float(loss(batch.data[0], batch.label[0]).asscalar()) for batch in unseen]
    return losses, float(np.mean(held_out)), parameters


def prepared(quick: bool) -> tuple[Size, Any, Any, Any]:
    """The size, the alphabet, and the numbers of the letters: of the text for training, and held out."""
    size = Size(layers=2, width=32, heads=2, steps=32) if quick else Size()
    alphabet, numbers = np.unique(np.array(list(load_text())), return_inverse=True)
    cut = 9 * len(numbers) // 10
    seen, unseen = numbers[:cut], numbers[cut:]
    if quick:
        seen, unseen = (part[: size.batch * size.steps + 1] for part in (seen, unseen))
    return size, alphabet, seen, unseen


def train(
    epochs: int = 4, quick: bool = False, way: Callable[..., Found] = as_symbol
) -> tuple[float, float, str, float]:
    """Losses of the held-out end of the text, the model's and that of letters by frequency, and a sample.

    Returns:
        Both losses in nats per letter, what the model writes, and how many letters per second.
    """
    size, alphabet, seen, unseen = prepared(quick)
    given = batches(seen, size, shuffle=True), batches(unseen, size, shuffle=False)
    _, loss, params = way(len(alphabet), size, *given, 1 if quick else epochs)
    frequency = np.bincount(seen, minlength=len(alphabet)) + 1
    of_frequencies = float(-np.log(frequency / frequency.sum())[unseen].mean())

    decoder = Decoder(len(alphabet), size, params)
    prompt = np.searchsorted(alphabet, list(PROMPT)).tolist()
    start = time.perf_counter()
    written = decoder.write(prompt, size.steps - len(prompt))
    speed = len(written) / (time.perf_counter() - start)
    return loss, of_frequencies, "".join(alphabet[written]), speed


SAYS: Final = "loss per letter {:.2f}, of letters by frequency {:.2f}\n{}\n{:.0f} letters per second"


def main() -> None:
    """Train as the command line says."""
    options = read_options(__doc__, epochs=4, compiled="as a compiled function of arrays")
    way = as_function if options.compiled else as_symbol
    print(SAYS.format(*train(options.epochs, options.quick, way)))


if __name__ == "__main__":
    main()
