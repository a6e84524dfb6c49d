"""The network of `examples/gpt.py` in JAX, compiled; what changes is changed in place."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.benchmarks import gpt_inputs as inputs
from tests.benchmarks.work import Work

WIDTH, HEADS = inputs.WIDTH, inputs.HEADS
COS, SIN = inputs.angles()
Values = dict  # of arrays, by name


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    return {make.__name__: make for make in (gpt_step, gpt_forward, gpt_decoding)}


def _normal(of: Values, data: Any, name: str) -> Any:
    mean = (data * data).mean(-1, keepdims=True)
    return data * lax.rsqrt(mean + inputs.EPSILON) * of[f"{name}_weight"]


def _turned(data: Any, cos: Any, sin: Any) -> Any:
    """Of (batch, steps, heads, width)."""
    first, second = jnp.split(data, 2, -1)
    cos, sin = cos[:, None], sin[:, None]
    return jnp.concatenate([first * cos - second * sin, second * cos + first * sin], -1)


def _attention(query: Any, key: Any, value: Any, _: str) -> Any:
    query, key = _turned(query, COS, SIN), _turned(key, COS, SIN)
    return jax.nn.dot_product_attention(query, key, value, is_causal=True)


def logits(of: Values, data: Any, attend: Callable[..., Any] = _attention) -> Any:
    """Scores of the next letter at each step of `data`; `attend` is given query, key, value and a layer."""
    found = of["embedding_weight"][data]
    for layer in range(inputs.LAYERS):
        name = f"layer{layer}_mix"
        split = _normal(of, found, f"{name}_norm") @ of[f"{name}_qkv_weight"].T
        parts = jnp.split(split.reshape(*data.shape, 3 * HEADS, -1), 3, 2)
        joined = attend(*parts, name).reshape(*data.shape, WIDTH)
        found = found + joined @ of[f"{name}_projection_weight"].T
        name = f"layer{layer}_unit"
        normal = _normal(of, found, f"{name}_norm")
        gate, value = (normal @ of[f"{name}_{part}_weight"].T for part in ("gate", "value"))
        found = found + (jax.nn.silu(gate) * value) @ of[f"{name}_down_weight"].T
    return _normal(of, found, "norm") @ of["scores_weight"].T


def loss(of: Values, data: Any, label: Any) -> Any:
    """The mean loss of all steps."""
    shares = jax.nn.log_softmax(logits(of, data))
    return -jnp.take_along_axis(shares, label[..., None], -1).mean()


@partial(jax.jit, donate_argnums=(0, 1, 2), static_argnames="clip")
def _step(
    of: Values, first: Values, second: Values, number: Any, data: Any, label: Any, clip: float = np.inf
) -> Any:
    value, grads = jax.value_and_grad(loss)(of, data, label)
    if clip < np.inf:
        grads = {n: jnp.clip(grads[n], -clip, clip) for n in of}
    one, two = inputs.BETAS
    first = {n: one * first[n] + (1 - one) * grads[n] for n in of}
    second = {n: two * second[n] + (1 - two) * grads[n] ** 2 for n in of}
    rate = inputs.RATE * jnp.sqrt(1 - two**number) / (1 - one**number)
    new = {n: of[n] - rate * first[n] / (jnp.sqrt(second[n]) + inputs.ADAM_EPSILON) for n in of}
    return value, (new, first, second)


def _arrays(values: dict[str, np.ndarray]) -> Values:
    return {name: jnp.array(value) for name, value in values.items()}


class _Training:
    """Steps from given weights, which each replaces."""

    def __init__(self, start: dict[str, np.ndarray], clip: float = np.inf) -> None:
        zeros = {name: np.zeros_like(value) for name, value in start.items()}
        self.state, self._count, self._clip = [*map(_arrays, (start, zeros, zeros))], 0, clip

    def step(self, data: Any, label: Any) -> float:
        """The loss before the step."""
        self._count += 1
        value, self.state = _step(*self.state, float(self._count), data, label, clip=self._clip)
        return float(jax.block_until_ready((value, self.state))[0])


def training(way: str, start: dict[str, np.ndarray], clip: float) -> tuple[Callable[..., float], ...]:
    """A step of Adam and the loss without one, as functions of data and label; there is one `way`."""
    own, compiled = _Training(start, clip), jax.jit(loss)
    return own.step, lambda *arrays: float(compiled(own.state[0], *arrays))


def gpt_step() -> Work:
    """Loss, gradients and Adam."""
    given, own = [jnp.asarray(value) for value in inputs.batch()], _Training(inputs.parameters())

    def run() -> float:
        return own.step(*given)

    return Work(run, check=lambda: {f"loss {i}": run() for i in range(3)})


def gpt_forward() -> Work:
    """The scores of a batch."""
    of, data = _arrays(inputs.parameters()), jnp.asarray(inputs.batch()[0])
    compiled = jax.jit(logits)

    def run() -> Any:
        return jax.block_until_ready(compiled(of, data))

    return Work(run, check=lambda: {"scores": float(jnp.abs(run()).mean())})


@partial(jax.jit, donate_argnums=1)
def _decoded(of: Values, caches: Values, data: Any, place: Any) -> tuple[Any, Values]:
    new: Values = {}
    cos, sin = (lax.dynamic_slice_in_dim(jnp.asarray(part), place, 1) for part in (COS, SIN))

    def attend(query: Any, key: Any, value: Any, name: str) -> Any:
        rows = (_turned(key, cos, sin), value)
        pairs = zip(caches[name], rows, strict=True)
        keys, values = new[name] = [lax.dynamic_update_slice_in_dim(old, row, place, 1) for old, row in pairs]
        mask = (jnp.arange(inputs.STEPS) <= place)[None, None, None]
        return jax.nn.dot_product_attention(_turned(query, cos, sin), keys, values, mask=mask)

    return logits(of, data, attend), new


def gpt_decoding() -> Work:
    """Letters one at a time, with a cache of keys and values."""
    of, letters = _arrays(inputs.parameters()), inputs.batch()[0][0, : inputs.DECODED].tolist()
    shape = (1, inputs.STEPS, HEADS, WIDTH // HEADS)
    names = [f"layer{layer}_mix" for layer in range(inputs.LAYERS)]
    caches = {name: [jnp.zeros(shape), jnp.zeros(shape)] for name in names}

    def run() -> np.ndarray:
        nonlocal caches
        for place, letter in enumerate(letters):
            scores, caches = _decoded(of, caches, jnp.array([[letter]]), place)
            found = np.asarray(scores)
        return found

    return Work(run, len(letters), lambda: {"scores": float(np.abs(run()).mean())})
