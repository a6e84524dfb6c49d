"""The network of `examples/gpt.py` in PyTorch: eager with its own attention, and by `torch.compile`."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from tests.benchmarks import gpt_inputs as inputs
from tests.benchmarks.work import Work

WIDTH, HEADS = inputs.WIDTH, inputs.HEADS
COS, SIN = map(torch.from_numpy, inputs.angles())


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    return {make.__name__: make for make in (gpt_step, gpt_forward, gpt_decoding)}


def _normal(of: dict[str, Any], data: Any, name: str) -> Any:
    return functional.rms_norm(data, (WIDTH,), of[f"{name}_weight"], inputs.EPSILON)


def _turned(data: Any, cos: Any, sin: Any) -> Any:
    first, second = data.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def _attention(query: Any, key: Any, value: Any, _: str) -> Any:
    seen = functional.scaled_dot_product_attention
    return seen(_turned(query, COS, SIN), _turned(key, COS, SIN), value, is_causal=True)


def logits(of: dict[str, Any], data: Any, attend: Callable[..., Any] = _attention) -> Any:
    """Scores of the next letter at each step of `data`; `attend` is given query, key, value and a layer."""
    found = functional.embedding(data, of["embedding_weight"])
    for layer in range(inputs.LAYERS):
        name = f"layer{layer}_mix"
        split = functional.linear(_normal(of, found, f"{name}_norm"), of[f"{name}_qkv_weight"])
        parts = split.view(*data.shape, 3 * HEADS, -1).transpose(1, 2).split(HEADS, 1)
        joined = attend(*parts, name).transpose(1, 2).reshape(*data.shape, WIDTH)
        found = found + functional.linear(joined, of[f"{name}_projection_weight"])
        name = f"layer{layer}_unit"
        normal = _normal(of, found, f"{name}_norm")
        gate, value = (functional.linear(normal, of[f"{name}_{part}_weight"]) for part in ("gate", "value"))
        found = found + functional.linear(functional.silu(gate) * value, of[f"{name}_down_weight"])
    return functional.linear(_normal(of, found, "norm"), of["scores_weight"])


def loss(of: dict[str, Any], data: Any, label: Any) -> Any:
    """The mean loss of all steps."""
    scores = logits(of, data)
    return functional.cross_entropy(scores.view(-1, scores.shape[-1]), label.reshape(-1))


def stepper(loss: Callable[..., Any], start: dict[str, np.ndarray], clip: float = 0) -> Callable[..., float]:
    """A function of data and label that takes a step of Adam, and returns the loss before it."""
    of = {name: torch.from_numpy(value.copy()).requires_grad_() for name, value in start.items()}
    adam = torch.optim.Adam(of.values(), inputs.RATE, inputs.BETAS, eps=inputs.ADAM_EPSILON, fused=True)

    def step(data: Any, label: Any) -> float:
        adam.zero_grad()
        value = loss(of, data, label)
        value.backward()
        if clip:
            torch.nn.utils.clip_grad_value_(of.values(), clip)
        adam.step()
        return float(value)

    step.parameters = of  # type: ignore[attr-defined]
    return step


def training(way: str, start: dict[str, np.ndarray], clip: float) -> tuple[Callable[..., float], ...]:
    """A step of Adam and the loss without one, as functions of data and label; `way`: eager or compiled."""
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    own = stepper(torch.compile(loss) if way == "compiled" else loss, start, clip)

    def step(*arrays: Any) -> float:
        return own(*map(torch.from_numpy, arrays))

    def evaluate(*arrays: Any) -> float:
        with torch.no_grad():
            return float(loss(own.parameters, *map(torch.from_numpy, arrays)))  # type: ignore[attr-defined]

    return step, evaluate


def _tensors(values: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: torch.from_numpy(value) for name, value in values.items()}


def gpt_step() -> Work:
    """Loss, gradients and Adam."""
    given = [torch.from_numpy(value) for value in inputs.batch()]
    eager, compiled = (stepper(way, inputs.parameters()) for way in (loss, torch.compile(loss)))
    return Work(
        lambda: eager(*given), check=lambda: {f"loss {i}": eager(*given) for i in range(3)},
        beside={"torch.compile": lambda: compiled(*given)},
    )  # fmt: skip


def gpt_forward() -> Work:
    """The scores of a batch."""
    of, data = _tensors(inputs.parameters()), torch.from_numpy(inputs.batch()[0])

    def way(function: Callable[..., Any]) -> Callable[[], Any]:
        def run() -> Any:
            with torch.no_grad():
                return function(of, data)

        return run

    eager, compiled = way(logits), way(torch.compile(logits))
    return Work(
        eager, check=lambda: {"scores": float(eager().abs().mean())}, beside={"torch.compile": compiled}
    )


class _Cache:
    """Keys and values of all layers, and attention of one step to what they hold."""

    def __init__(self) -> None:
        shape = (1, HEADS, inputs.STEPS, WIDTH // HEADS)
        names = [f"layer{layer}_mix" for layer in range(inputs.LAYERS)]
        self._of = {name: (torch.zeros(shape), torch.zeros(shape)) for name in names}

    def sliced(self, place: int) -> Callable[..., Any]:
        """Attention to the first rows."""

        def attend(query: Any, key: Any, value: Any, name: str) -> Any:
            cos, sin = COS[place], SIN[place]
            keys, values = self._of[name]
            keys[:, :, place], values[:, :, place] = _turned(key[:, :, 0], cos, sin), value[:, :, 0]
            seen = functional.scaled_dot_product_attention
            return seen(_turned(query, cos, sin), keys[:, :, : place + 1], values[:, :, : place + 1])

        return attend

    def masked(self, place: Any) -> Callable[..., Any]:
        """Attention to all rows, with a mask: shapes stay the same, so one program serves all places."""

        def attend(query: Any, key: Any, value: Any, name: str) -> Any:
            cos, sin = COS[place], SIN[place]
            keys, values = self._of[name]
            keys.index_copy_(2, place, _turned(key, cos, sin))
            values.index_copy_(2, place, value)
            mask = torch.arange(inputs.STEPS) <= place
            seen = functional.scaled_dot_product_attention
            return seen(_turned(query, cos, sin), keys, values, attn_mask=mask[None])

        return attend


def gpt_decoding() -> Work:
    """Letters one at a time, with a cache of keys and values."""
    of, cache = _tensors(inputs.parameters()), _Cache()
    letters = inputs.batch()[0][0, : inputs.DECODED].tolist()

    def run() -> Any:
        with torch.no_grad():
            for place, letter in enumerate(letters):
                found = logits(of, torch.tensor([[letter]]), cache.sliced(place)).numpy()
        return found

    @torch.compile
    def one(data: Any, place: Any) -> Any:
        return logits(of, data, cache.masked(place))

    def run_compiled() -> Any:
        with torch.no_grad():
            for place, letter in enumerate(letters):
                found = one(torch.tensor([[letter]]), torch.tensor([place])).numpy()
        return found

    return Work(
        run, len(letters), lambda: {"scores": float(np.abs(run()).mean())},
        beside={"torch.compile": run_compiled},
    )  # fmt: skip
