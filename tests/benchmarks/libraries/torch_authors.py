"""The operators of `tests.benchmarks.authors` in PyTorch, as its users write them, and compiled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch.nn import functional

from tests.benchmarks.libraries.arrays import author_arrays, normal
from tests.benchmarks.libraries.torch_rows import with_gradients
from tests.benchmarks.work import Work


def makers(_: Any) -> dict[str, Callable[..., Work]]:
    """Makers of rows, by name."""
    return {"author": author}


def author(name: str, shape: Sequence[int], backward: bool) -> Work:
    """Eager; beside it by `torch.compile`."""
    inputs = [torch.from_numpy(value) for value in author_arrays(name, tuple(shape))]
    made = _work(FORMULAS[name], inputs, backward)
    return made._replace(beside={"torch.compile": _work(torch.compile(FORMULAS[name]), inputs, backward).run})


def _work(formula: Callable[..., Any], inputs: list[Any], backward: bool) -> Work:
    if backward:
        floating = [tensor for tensor in inputs if tensor.is_floating_point()]
        head = torch.from_numpy(normal(*inputs[0].shape)[::-1].copy())
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


def _masked_softmax(data: Any, mask: Any) -> Any:
    return torch.softmax(data.masked_fill(~mask, float("-inf")), -1)


FORMULAS: dict[str, Callable[..., Any]] = {
    "rms_norm": _rms_norm,
    "swiglu": _swiglu,
    "fake_quantization": _fake_quantization,
    "batch_norm_relu": _batch_norm_relu,
    "masked_softmax": _masked_softmax,
}
