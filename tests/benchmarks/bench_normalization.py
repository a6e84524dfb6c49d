"""Normalization layers and the softmax, beside PyTorch's on as many threads.

An entry is a name and a function that makes, of PyTorch's module (None where it is not installed), our
call and the peer's. Ours waits for its result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

import operad as od
from tests.benchmarks.case import Case, optional_module

Call = Callable[[], Any]
Make = Callable[[Any], tuple[Call, Call | None]]
"""Called with PyTorch or None; gives our call and the peer's."""


def cases() -> list[Case]:
    """Each beside PyTorch eager, in microseconds."""
    torch = optional_module("torch")
    if torch is not None:
        torch.set_num_threads(od.engine.get().num_threads_now)
    return [_case(name, make, torch) for name, make in ENTRIES.items()]


def _case(name: str, make: Make, torch: Any) -> Case:
    ours, peer = make(torch)
    return Case(name, lambda: ours().wait_to_read(), peer=peer)


def _values(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).standard_normal(shape).astype(np.float32)


def _layer(shape: tuple[int, ...], length: int, call: Any, peer: Any, *, with_backward: bool) -> Make:
    """A layer of data, gamma and beta: `call(data, gamma, beta)`, and `peer(torch, ...)` alike."""
    inputs = [_values(*shape), np.ones(length, np.float32), np.zeros(length, np.float32)]
    head = _values(*shape)

    def make(torch: Any) -> tuple[Call, Call | None]:
        arrays, above = [od.nd.array(values) for values in inputs], od.nd.array(head)
        for array in arrays:
            array.attach_grad()

        def ours() -> Any:
            with od.autograd.record():
                output = call(*arrays)
            if not with_backward:
                return output
            output.backward(above)
            return arrays[0].grad

        if torch is None:
            return ours, None
        tensors = [torch.from_numpy(values).requires_grad_() for values in inputs]
        t_above = torch.from_numpy(head)

        def theirs() -> Any:
            for tensor in tensors:
                tensor.grad = None
            output = peer(torch, *tensors)
            if with_backward:
                output.backward(t_above)

        return ours, theirs

    return make


def _batch_norm(*, with_backward: bool) -> Make:
    moving = [np.zeros(64, np.float32), np.ones(64, np.float32)]
    states = [od.nd.array(values) for values in moving]

    def call(*arrays: Any) -> Any:
        return od.nd.BatchNorm(*arrays, *states, fix_gamma=False, eps=1e-5)

    def peer(torch: Any, data: Any, gamma: Any, beta: Any) -> Any:
        mean, var = map(torch.from_numpy, moving)
        return torch.nn.functional.batch_norm(data, mean, var, gamma, beta, training=True)

    return _layer((32, 64, 28, 28), 64, call, peer, with_backward=with_backward)


def _layer_norm(*, with_backward: bool) -> Make:
    def peer(torch: Any, data: Any, gamma: Any, beta: Any) -> Any:
        return torch.nn.functional.layer_norm(data, (768,), gamma, beta)

    return _layer((512, 768), 768, od.nd.LayerNorm, peer, with_backward=with_backward)


def _softmax(torch: Any) -> tuple[Call, Call | None]:
    values = _values(512, 1000)
    data = od.nd.array(values)
    t = None if torch is None else torch.from_numpy(values)
    return lambda: od.nd.softmax(data), None if t is None else lambda: torch.softmax(t, -1)


ENTRIES: Final[dict[str, Make]] = {
    "BatchNorm 32x64x28x28, training forward": _batch_norm(with_backward=False),
    "BatchNorm 32x64x28x28, forward + backward": _batch_norm(with_backward=True),
    "LayerNorm 512x768, forward": _layer_norm(with_backward=False),
    "LayerNorm 512x768, forward + backward": _layer_norm(with_backward=True),
    "softmax 512x1,000": _softmax,
}
"""Name to calls."""
