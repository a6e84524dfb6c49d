"""Stage: a few times on the device, beside the CPU's, and PyTorch's where it is installed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from statistics import median
from typing import Any, Final

import numpy as np

import operad as od
from operad import autograd
from tests.devices.device import is_stand_in

_ROUNDS: Final = 5


def _us(run: Callable[[], object], wait: Callable[[], object], count: int) -> float:
    """Median microseconds of one of `count` calls that end in one wait."""
    run()
    wait()
    found = []
    for _ in range(_ROUNDS):
        start = time.perf_counter()
        for _ in range(count):
            run()
        wait()
        found.append((time.perf_counter() - start) / count * 1e6)
    return median(found)


def _values(*shape: int) -> Any:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def small_call(nd: Any, put: Callable[[Any], Any]) -> Callable[[], object]:
    """tanh of 16 elements: what a call costs."""
    x = put(_values(16))
    return lambda: nd.tanh(x)


def elements(nd: Any, put: Callable[[Any], Any]) -> Callable[[], object]:
    """tanh of four million elements."""
    x = put(_values(2048, 2048))
    return lambda: nd.tanh(x)


def row_sums(nd: Any, put: Callable[[Any], Any]) -> Callable[[], object]:
    """Sums of the rows of four million elements."""
    x = put(_values(2048, 2048))
    return lambda: nd.sum(x, 1) if nd is not od.nd else nd.sum(x, axis=1)


def product(nd: Any, put: Callable[[Any], Any]) -> Callable[[], object]:
    """A product of matrices of 1024."""
    x = put(_values(1024, 1024))
    return lambda: nd.matmul(x, x) if nd is not od.nd else nd.dot(x, x)


def to_the_device(nd: Any, put: Callable[[Any], Any]) -> Callable[[], object]:
    """A copy of four megabytes from the host."""
    host = _values(1024, 1024)
    return lambda: put(host)


def convolution(ctx: od.Context) -> Callable[[], object]:
    """Forward and backward of a convolution of 32 images of 16x28x28 by 32 filters."""
    net = od.sym.Convolution(od.sym.var("data"), kernel=(3, 3), pad=(1, 1), num_filter=32, no_bias=True)
    executor = net.simple_bind(ctx, data=(32, 16, 28, 28))
    heads = od.nd.ones((32, 32, 28, 28), ctx=ctx)

    def run() -> None:
        executor.forward(is_train=True)
        executor.backward([heads])

    return run


def recorded_step(ctx: od.Context) -> Callable[[], object]:
    """A step of two layers of 256 by recorded calls."""
    x, w, v = (od.nd.array(_values(256, 256) * 0.05, ctx=ctx) for _ in range(3))
    w.attach_grad()
    v.attach_grad()

    def run() -> None:
        with autograd.record():
            loss = od.nd.dot(od.nd.tanh(od.nd.dot(x, w)), v).sum()
        loss.backward()
        od.nd.sgd_update(w, w.grad, lr=1e-6, out=w)

    return run


BESIDE_TORCH: Final[Mapping[str, tuple[Callable[..., Callable[[], object]], int]]] = {
    made.__name__: (made, count)
    for made, count in ((small_call, 200), (elements, 10), (row_sums, 10), (product, 10), (to_the_device, 10))
}
ALONE: Final[Mapping[str, tuple[Callable[..., Callable[[], object]], int]]] = {
    made.__name__: (made, count) for made, count in ((convolution, 5), (recorded_step, 10))
}


def names() -> list[str]:
    """The rows."""
    return [*BESIDE_TORCH, *ALONE]


def run(name: str) -> Mapping[str, object]:
    """Microseconds of a row, and ratios."""
    figures: dict[str, object] = {}
    if name in ALONE:
        make, count = ALONE[name]
        device, host = (_us(make(ctx), od.nd.waitall, count) for ctx in (od.gpu(0), od.cpu()))
    else:
        make, count = BESIDE_TORCH[name]
        device, host = (
            _us(make(od.nd, lambda values, ctx=ctx: od.nd.array(values, ctx=ctx)), od.nd.waitall, count)
            for ctx in (od.gpu(0), od.cpu())
        )
        figures = _of_torch(make, count, device)
    return {"us": device, "us on the CPU": host, "device/CPU": device / host, **figures}


def _of_torch(make: Callable[..., Callable[[], object]], count: int, device: float) -> dict[str, object]:
    """PyTorch's time for the same, on the same device."""
    if find_spec("torch") is None:
        return {}
    import torch

    if not (is_stand_in() or torch.cuda.is_available()):
        return {"PyTorch": "has no CUDA"}
    where = "cpu" if is_stand_in() else "cuda"
    wait = torch.cuda.synchronize if where == "cuda" else int
    found = _us(make(torch, lambda values: torch.from_numpy(values).to(where)), wait, count)
    return {"us of PyTorch": found, "device/PyTorch": device / found}
