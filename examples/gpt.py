"""A transformer that reads Python's reference and guesses the next letter.

`python -m examples.gpt` trains four layers of attention and gated units on the text of `help()`'s topics. It
prints the loss of the part that they have not seen, beside that of knowing how frequent each letter is, and
what they write. Decoding binds the same layers for one letter, with a cache of keys and values as states.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

import operad as mx
from examples.command import program
from examples.data import load_text

PROMPT = "The "


class Size(NamedTuple):
    """What a network is made of."""

    layers: int = 4
    width: int = 256
    heads: int = 4
    steps: int = 256
    batch: int = 8


def _linear(data: mx.Symbol, units: int, name: str) -> mx.Symbol:
    return mx.sym.FullyConnected(data, num_hidden=units, flatten=False, no_bias=True, name=name)


def _attention(data: mx.Symbol, size: Size, name: str, offset: mx.Symbol | None) -> mx.Symbol:
    """Each step and those before it; with `offset`, one step, and those in the cache."""
    split = mx.sym.reshape(_linear(data, 3 * size.width, f"{name}_qkv"), (0, 0, 3 * size.heads, -1))
    parts = mx.sym.transpose(split, (0, 2, 1, 3))  # (batch, parts and heads, steps, size)
    query, key, value = mx.sym.split(parts, num_outputs=3, axis=1)
    if offset is None:
        query, key = mx.sym.rotary_embedding(query), mx.sym.rotary_embedding(key)
        seen = mx.sym.attention(query, key, value, causal=True, name=f"{name}_attention")
    else:
        query, key = (mx.sym.rotary_embedding(part, offset, use_offset=True) for part in (query, key))
        seen = mx.sym.cached_attention(
            query, key, value, offset, max_length=size.steps, name=f"{name}_attention"
        )
    joined = mx.sym.reshape(mx.sym.transpose(seen, (0, 2, 1, 3)), (0, 0, -1))
    return _linear(joined, size.width, f"{name}_projection")


def _gated(data: mx.Symbol, size: Size, name: str) -> mx.Symbol:
    gate, value = (_linear(data, 2 * size.width, f"{name}_{part}") for part in ("gate", "value"))
    return _linear(mx.sym.swiglu(gate, value), size.width, f"{name}_down")


def logits(letters: int, size: Size, offset: mx.Symbol | None = None) -> mx.Symbol:
    """Scores of the next letter at each step of `data`, (batch, steps)."""
    found = mx.sym.Embedding(mx.sym.var("data"), input_dim=letters, output_dim=size.width, name="embedding")
    for layer in range(size.layers):
        for name, part in ((f"layer{layer}_mix", None), (f"layer{layer}_unit", _gated)):
            normal = mx.sym.RMSNorm(found, name=f"{name}_norm")
            found = found + (part(normal, size, name) if part else _attention(normal, size, name, offset))
    return _linear(mx.sym.RMSNorm(found, name="norm"), letters, "scores")


def network(letters: int, size: Size) -> mx.Symbol:
    """The mean loss of all steps."""
    scores = mx.sym.reshape(logits(letters, size), (-1, letters))
    label = mx.sym.Cast(mx.sym.reshape(mx.sym.var("label"), (-1,)), dtype="int64")
    return mx.sym.MakeLoss(mx.sym.cross_entropy(scores, label))


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

    def __init__(self, letters: int, size: Size, params: dict[str, Any]) -> None:
        net = logits(letters, size, mx.sym.var("offset"))
        self._bound = net.simple_bind(mx.cpu(), grad_req="null", data=(1, 1), offset=(1,))
        self._bound.copy_params_from(params)

    def scores(self, letter: int, place: int) -> Any:
        """Scores of the letter behind this one, which stands at `place`."""
        given = {"data": mx.nd.array([[letter]]), "offset": mx.nd.array([place])}
        return self._bound.forward(is_train=False, **given)[0].asnumpy().ravel()

    def write(self, prompt: list[int], count: int, temperature: float = 0.7) -> list[int]:
        """The prompt and `count` letters, each drawn by its probability."""
        rng, written = np.random.default_rng(0), list(prompt)
        for place in range(len(prompt) + count - 1):
            scores = self.scores(written[place], place) / temperature
            if place + 1 == len(written):
                shares = np.exp(scores - scores.max())
                written.append(int(rng.choice(len(shares), p=shares / shares.sum())))
        return written


def train(epochs: int = 4, quick: bool = False) -> tuple[float, float, str, float]:
    """Losses of the held-out end of the text, the model's and that of letters by frequency, and a sample.

    Returns:
        Both losses in nats per letter, what the model writes, and how many letters per second.
    """
    size = Size(layers=2, width=32, heads=2, steps=32) if quick else Size()
    text = load_text()
    alphabet, numbers = np.unique(np.array(list(text)), return_inverse=True)
    cut = 9 * len(numbers) // 10
    seen, unseen = numbers[:cut], numbers[cut:]
    if quick:
        seen, unseen = (part[: size.batch * size.steps + 1] for part in (seen, unseen))

    mx.random.seed(0)
    module = mx.mod.Module(network(len(alphabet), size), data_names=("data",), label_names=("label",))
    module.fit(
        batches(seen, size, shuffle=True),
        num_epoch=1 if quick else epochs,
        eval_metric=mx.metric.Loss(),
        initializer=mx.init.Xavier(factor_type="in", magnitude=1.0),
        optimizer="adam",
        optimizer_params={"learning_rate": 0.001, "rescale_grad": 1.0, "clip_gradient": 1.0},
        batch_end_callback=mx.callback.Speedometer(size.batch, frequent=25),
    )
    ((_, loss),) = module.score(batches(unseen, size, shuffle=False), mx.metric.Loss())
    frequency = np.bincount(seen, minlength=len(alphabet)) + 1
    of_frequencies = float(-np.log(frequency / frequency.sum())[unseen].mean())

    decoder = Decoder(len(alphabet), size, module.get_params()[0])
    prompt = np.searchsorted(alphabet, list(PROMPT)).tolist()
    start = time.perf_counter()
    written = decoder.write(prompt, size.steps - len(prompt))
    speed = len(written) / (time.perf_counter() - start)
    return float(loss), of_frequencies, "".join(alphabet[written]), speed


main = program(
    __doc__, train, 4, "loss per letter {:.2f}, of letters by frequency {:.2f}\n{}\n{:.0f} letters per second"
)


if __name__ == "__main__":
    main()
