"""Dispatch: small imperative operations, recorded ones, one chain of them in an executor."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

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
    torch = optional_module("torch")
    values = np.random.default_rng(0).standard_normal((SIDE, SIDE)).astype(np.float32)
    return [*_calls(values, torch), *_recorded_cases(values, torch), *_bound(values, torch)]


def _calls(values: np.ndarray, torch: Any) -> list[Case]:
    x, target = od.nd.array(values), od.nd.array(values)
    data, weight, bias = (od.nd.array(np.ones(shape)) for shape in ((32, 64), (64, 64), (64,)))
    t = peers = None
    if torch is not None:
        t, out = torch.from_numpy(values), torch.from_numpy(values.copy())
        linear = [torch.ones(shape) for shape in ((32, 64), (64, 64), (64,))]
        peers = {
            "tanh": lambda: torch.tanh(t), "add": lambda: t + t, "scale": lambda: t * 2.5,
            "fresh": lambda: t * next(numbers), "view": lambda: t[1:3],
            "out": lambda: torch.add(t, t, out=out),
            "dense": lambda: torch.nn.functional.linear(*linear), "sgd": lambda: out.add_(t, alpha=-0.1),
        }  # fmt: skip
    numbers = (0.5 * number for number in count())
    nd = od.nd
    ours = {
        "tanh": ("nd.tanh(x)", lambda: nd.tanh(x)),
        "add": ("x + x", lambda: x + x),
        "scale": ("x * 2.5", lambda: x * 2.5),
        "fresh": ("x * a new number", lambda: x * next(numbers)),
        "view": ("x[1:3]", lambda: x[1:3]),
        "out": ("nd.elemwise_add(x, x, out=y)", lambda: nd.elemwise_add(x, x, out=target)),
        "sgd": ("nd.sgd_update(y, x, out=y)", lambda: nd.sgd_update(target, x, out=target, lr=0.1)),
        "dense": ("nd.FullyConnected, 32x64 by 64x64",
                  lambda: nd.FullyConnected(data, weight, bias, num_hidden=64)),
    }  # fmt: skip
    made = [
        Case(name if "32x64" in name else f"{name}, 16x16", _repeated(call), REPEATS,
             peers and _torch_repeated(peers[key]))
        for key, (name, call) in ours.items()
    ]  # fmt: skip
    rate = "nd.sgd_update with a new lr, 16x16"
    new_rate = _repeated(lambda: nd.sgd_update(target, x, out=target, lr=1 / (1 + next(numbers))))
    # Its peer is the call with the rate of before, in the same rounds.
    return [*made, Case(rate, new_rate, REPEATS, _repeated(ours["sgd"][1]), peer_name="same lr")]


def _recorded_cases(values: np.ndarray, torch: Any) -> list[Case]:
    x = od.nd.array(values)
    t = None if torch is None else torch.from_numpy(values)
    return [
        Case("recorded chain of 100, forward", _recorded(x, False), REPEATS,
             None if t is None else _torch_recorded(torch, t, False)),
        Case("recorded chain of 100, forward + backward", _recorded(x, True), REPEATS,
             None if t is None else _torch_recorded(torch, t, True)),
    ]  # fmt: skip


def _bound(values: np.ndarray, torch: Any) -> list[Case]:
    t = None if torch is None else torch.from_numpy(values)
    return [
        Case("bound chain of 1000, forward", _chain(values, train=False), CHAIN,
             None if t is None else _torch_chain(torch, t)),
        Case("bound chain of 1000, forward + backward", _chain(values, train=True), CHAIN),
    ]  # fmt: skip


def _recorded(x: od.NDArray, with_backward: bool) -> Callable[[], None]:
    leaf = x.copy()
    leaf.attach_grad()

    def run() -> None:
        with od.autograd.record():
            y = leaf
            for i in range(REPEATS):
                y = od.nd.tanh(y) if i % 2 else y + 1.0
        if with_backward:
            y.backward()
            leaf.grad.wait_to_read()
        y.wait_to_read()

    return run


def _torch_recorded(torch: Any, t: Any, with_backward: bool) -> Callable[[], None]:
    leaf = t.clone().requires_grad_()
    ones = torch.ones_like(leaf)

    def run() -> None:
        leaf.grad = None
        y = leaf
        for i in range(REPEATS):
            y = torch.tanh(y) if i % 2 else y + 1.0
        if with_backward:
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
