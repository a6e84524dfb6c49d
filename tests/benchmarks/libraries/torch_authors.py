"""The operators of `tests.benchmarks.authors` in PyTorch, as its users write them, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from tests.benchmarks.libraries.arrays import author_arrays, author_head
from tests.benchmarks.libraries.torch_rows import with_gradients
from tests.benchmarks.work import Work


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    return {"author": author}


def author(name: str, shape: Sequence[int], backward: bool) -> Work:
    """Eager; beside it by `torch.compile`, and by a function of PyTorch's own where there is one."""
    inputs = [torch.from_numpy(value) for value in author_arrays(name, tuple(shape))]
    head = torch.from_numpy(author_head(name, tuple(shape)))
    compiled = {} if name in UNROLLED else {"torch.compile": torch.compile(FORMULAS[name])}
    ways = {**compiled, **FUNCTIONS.get(name, {})}
    beside = {way: _work(formula, inputs, head, backward).run for way, formula in ways.items()}
    return _work(FORMULAS[name], inputs, head, backward)._replace(beside=beside)


def _work(formula: Callable[..., Any], inputs: list[Any], head: Any, backward: bool) -> Work:
    if backward:
        floating = [tensor for tensor in inputs if tensor.is_floating_point()]
        return with_gradients(floating, head, partial(formula, *inputs))

    def run() -> Any:
        with torch.no_grad():
            return formula(*inputs)

    return Work(run, check=lambda: {"output": float(run().abs().mean())})


def _rms_norm(data: Any, weight: Any) -> Any:
    return data * torch.rsqrt(data.pow(2).mean(-1, keepdim=True) + 1e-6) * weight


def _swiglu(gate: Any, value: Any) -> Any:
    return functional.silu(gate) * value


class _Rounded(torch.autograd.Function):
    """Rounding with the gradient of the identity."""

    @staticmethod
    def forward(ctx: Any, data: Any) -> Any:
        return torch.round(data)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


def _fake_quantization(data: Any) -> Any:
    steps = torch.clamp(_Rounded.apply(data / 0.02) + 128, 0, 255)
    return (steps - 128) * 0.02


def _batch_norm_relu(data: Any, gamma: Any, beta: Any) -> Any:
    return functional.relu(functional.batch_norm(data, None, None, gamma, beta, training=True, eps=1e-5))


def _group_norm(data: Any, gamma: Any, beta: Any) -> Any:
    return functional.group_norm(data, 4, gamma, beta, eps=1e-5)


def _masked_softmax(data: Any, mask: Any) -> Any:
    return torch.softmax(data.masked_fill(~mask, float("-inf")), -1)


def _rotary_embedding(data: Any) -> Any:
    length, width = data.shape[-2:]
    frequencies = 10000.0 ** (-torch.arange(0, width, 2) / width)
    angles = torch.outer(torch.arange(length), frequencies)
    cos, sin = angles.cos(), angles.sin()
    first, second = data.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def _grouped_query_attention(query: Any, key: Any, value: Any) -> Any:
    length, width = query.shape[-2:]
    key, value = (each.repeat_interleave(4, 1) for each in (key, value))
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores = (query @ key.transpose(-1, -2) / width**0.5).masked_fill(later, float("-inf"))
    return torch.softmax(scores, -1) @ value


def _attention_function(query: Any, key: Any, value: Any) -> Any:
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


def _cross_entropy(data: Any, label: Any) -> Any:
    counted = label != -100
    logs = torch.log_softmax(data, -1)
    chosen = logs.gather(-1, label.clamp(min=0)[:, None])[:, 0]
    losses = -(1 - 0.1) * chosen - 0.1 * logs.mean(-1)
    return (losses.masked_fill(~counted, 0).sum() / counted.sum()).reshape(1)


def _cross_entropy_function(data: Any, label: Any) -> Any:
    return functional.cross_entropy(data, label, label_smoothing=0.1, ignore_index=-100).reshape(1)


def _selective_scan(data: Any, delta: Any, rate: Any, write: Any, read: Any) -> Any:
    kept = torch.exp(delta[..., None] * rate)
    added = (delta * data)[..., None] * write[:, :, None]
    state, outputs = torch.zeros_like(kept[:, 0]), []
    for t in range(data.shape[1]):
        state = kept[:, t] * state + added[:, t]
        outputs.append((state * read[:, t, None]).sum(-1))
    return torch.stack(outputs, 1)


def _top_k_gating(data: Any) -> Any:
    logits, chosen = data.topk(2, -1)
    return torch.zeros_like(data).scatter(-1, chosen, torch.softmax(logits, -1))


def _focal_loss(data: Any, label: Any) -> Any:
    target = label.to(data.dtype)
    losses = functional.binary_cross_entropy_with_logits(data, target, reduction="none")
    p = torch.sigmoid(data)
    own = p * target + (1 - p) * (1 - target)
    weights = 0.25 * target + 0.75 * (1 - target)
    return (weights * (1 - own) ** 2 * losses).mean().reshape(1)


def _alibi_attention(query: Any, key: Any, value: Any) -> Any:
    heads, length, width = query.shape[1:]
    slopes = 2.0 ** (-8 * torch.arange(1, heads + 1) / heads)
    places = torch.arange(length)
    biases = slopes[:, None, None] * (places - places[:, None])
    later = torch.ones(length, length, dtype=torch.bool).triu(1)
    scores = 50 * torch.tanh(query @ key.transpose(-1, -2) / (width**0.5 * 50)) + biases
    return torch.softmax(scores.masked_fill(later, float("-inf")), -1) @ value


def _info_nce(query: Any, key: Any) -> Any:
    queries, keys = (each * torch.rsqrt(each.pow(2).sum(-1, keepdim=True) + 1e-6) for each in (query, key))
    return functional.cross_entropy(queries @ keys.T / 0.07, torch.arange(len(query))).reshape(1)


def _pixel_shuffle_gelu(data: Any, gamma: Any) -> Any:
    shuffled = functional.pixel_shuffle(data, 2) * gamma[:, None, None]
    return functional.gelu(shuffled, approximate="tanh")


FORMULAS: dict[str, Callable[..., Any]] = {
    "rms_norm": _rms_norm,
    "swiglu": _swiglu,
    "fake_quantization": _fake_quantization,
    "batch_norm_relu": _batch_norm_relu,
    "group_norm": _group_norm,
    "masked_softmax": _masked_softmax,
    "rotary_embedding": _rotary_embedding,
    "grouped_query_attention": _grouped_query_attention,
    "cross_entropy": _cross_entropy,
    "selective_scan": _selective_scan,
    "top_k_gating": _top_k_gating,
    "focal_loss": _focal_loss,
    "alibi_attention": _alibi_attention,
    "info_nce": _info_nce,
    "pixel_shuffle_gelu": _pixel_shuffle_gelu,
}
FUNCTIONS: dict[str, dict[str, Callable[..., Any]]] = {
    "grouped_query_attention": {"scaled_dot_product_attention": _attention_function},
    "cross_entropy": {"functional.cross_entropy": _cross_entropy_function},
}
"""PyTorch's own functions of the same formulas."""
UNROLLED: frozenset[str] = frozenset({"selective_scan"})
"""Loops that `torch.compile` unrolls, so that it compiles for minutes."""
