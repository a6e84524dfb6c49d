"""What compiling costs per operator: binding, and the backward pass of a tape, new or seen before."""

from __future__ import annotations

from collections.abc import Callable

import operad as od
from operad import autograd, sym
from operad.autograd import program
from tests.benchmarks.case import Case
from tests.benchmarks.networks import lstm

_SHAPE = (16, 32)


def _chain(count: int) -> od.Symbol:
    """`tanh` and `+ 1.0` in turn."""
    net = sym.var("data")
    for _ in range(count // 2):
        net = sym.tanh(net) + 1.0
    return net


def _layers(count: int) -> od.Symbol:
    """Fully connected layers and activations in turn."""
    net = sym.var("data")
    for i in range(count // 2):
        net = sym.FullyConnected(net, num_hidden=_SHAPE[1], name=f"fc{i}")
        net = sym.Activation(net, act_type="tanh", name=f"act{i}")
    return net


def _binding(net: od.Symbol, grad_req: str, **shapes: tuple[int, ...]) -> Callable[[], od.Executor]:
    def run() -> od.Executor:
        return net.simple_bind(od.cpu(), grad_req=grad_req, **shapes)

    return run


def _backward(count: int) -> Callable[[], object]:
    """The backward pass of a recorded chain."""
    x = od.nd.ones((16, 16))
    x.attach_grad()
    y = x
    with autograd.record():
        for _ in range(count // 2):
            y = od.nd.tanh(y) + 1.0

    def run() -> object:
        y.backward(retain_graph=True)
        return od.waitall()

    return run


def _new_structure(run: Callable[[], object]) -> Callable[[], object]:
    def forgetful() -> object:
        program.forget()
        return run()

    return forgetful


def cases() -> list[Case]:
    """In microseconds per operator."""
    found = []
    for count, grad_req in ((1_000, "null"), (1_000, "write"), (20_000, "write")):
        what = "with gradients" if grad_req == "write" else "forward only"
        run = _binding(_chain(count), grad_req, data=_SHAPE)
        found.append(Case(f"bind a chain of {count:,} operators, {what}", run, count))
    run = _binding(_layers(1_000), "write", data=_SHAPE)
    found.append(Case("bind an MLP of 1,000 operators, with gradients", run, 1_000))
    net = lstm(steps=35, hidden=200)
    names = ("state", "cell", *[f"x{t}" for t in range(35)])
    run = _binding(net, "write", **dict.fromkeys(names, (32, 200)))
    planned_mb = run().memory_plan.planned_bytes / 1e6
    name = f"bind 35 LSTM steps of 200 ({planned_mb:.2f} MB planned)"
    found.append(Case(name, run, len(net.graph.op_nodes)))
    run = _backward(200)
    found.append(Case("backward of 200 recorded operators, seen before", run, 200))
    found.append(Case("backward of 200 recorded operators, a new structure", _new_structure(run), 200))
    return found
