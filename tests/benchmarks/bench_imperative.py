"""Dispatch: one small imperative operation, one recorded, one chain of them in an executor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import operad as od
from tests.benchmarks.case import Case, optional_module

SIDE = 16
CHAIN = 1000
REPEATS = 100


def _repeated(call: Callable[[], od.NDArray]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(REPEATS):
            result = call()
        result.wait_to_read()

    return run


def _torch_repeated(call: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(REPEATS):
            call()

    return run


def cases() -> list[Case]:
    """Each beside PyTorch eager, in microseconds an operation."""
    values = np.random.default_rng(0).standard_normal((SIDE, SIDE)).astype(np.float32)
    x = od.nd.array(values)
    torch = optional_module("torch")
    t = None if torch is None else torch.from_numpy(values)
    tanh = od.nd.tanh
    return [
        Case("nd.tanh(x), 16x16", _repeated(lambda: tanh(x)), REPEATS,
             None if t is None else _torch_repeated(lambda: torch.tanh(t))),
        Case("x + x, 16x16", _repeated(lambda: x + x), REPEATS,
             None if t is None else _torch_repeated(lambda: t + t)),
        Case("x * 2.5, 16x16", _repeated(lambda: x * 2.5), REPEATS,
             None if t is None else _torch_repeated(lambda: t * 2.5)),
        Case("recorded chain of 100, forward + backward", _recorded(x), REPEATS,
             None if t is None else _torch_recorded(torch, t)),
        Case("bound chain of 1000, forward", _chain(values, train=False), CHAIN,
             None if t is None else _torch_chain(torch, t)),
        Case("bound chain of 1000, forward + backward", _chain(values, train=True), CHAIN),
    ]  # fmt: skip


def _recorded(x: od.NDArray) -> Callable[[], None]:
    leaf = x.copy()
    leaf.attach_grad()

    def run() -> None:
        with od.autograd.record():
            y = leaf
            for i in range(REPEATS):
                y = od.nd.tanh(y) if i % 2 else y + 1.0
        y.backward()
        leaf.grad.wait_to_read()

    return run


def _torch_recorded(torch: object, t: object) -> Callable[[], None]:
    leaf = t.clone().requires_grad_()
    ones = torch.ones_like(leaf)

    def run() -> None:
        leaf.grad = None
        y = leaf
        for i in range(REPEATS):
            y = torch.tanh(y) if i % 2 else y + 1.0
        y.backward(ones)

    return run


def _chain(values: np.ndarray, train: bool) -> Callable[[], None]:
    net = od.sym.var("x")
    for i in range(CHAIN):
        net = od.sym.tanh(net) if i % 2 else net + 1.0
    executor = net.simple_bind(od.cpu(), grad_req="write" if train else "null", x=values.shape)
    executor.arg_dict["x"][:] = values
    ones = od.nd.array(np.ones_like(values))

    def run() -> None:
        executor.forward(is_train=train)
        if train:
            executor.backward(ones)
            executor.grad_dict["x"].wait_to_read()
        executor.outputs[0].wait_to_read()

    return run


def _torch_chain(torch: object, t: object) -> Callable[[], None]:
    def run() -> None:
        with torch.no_grad():
            y = t
            for i in range(CHAIN):
                y = torch.tanh(y) if i % 2 else y + 1.0

    return run
