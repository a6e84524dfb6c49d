"""What compiling costs per operator: binding, and the backward pass of a tape, new or seen before."""

from __future__ import annotations

from collections.abc import Callable

import operad as od
from operad import autograd, sym
from operad.autograd import program
from tests.benchmarks.case import Case

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


def _unrolled(steps: int, hidden: int) -> od.Symbol:
    """A recurrent network whose weights every step reads."""
    state = sym.var("state")
    weights = {name: sym.var(name) for name in ("w_x", "w_h", "b_x", "b_h")}
    for t in range(steps):
        given = sym.FullyConnected(sym.var(f"x{t}"), weights["w_x"], weights["b_x"], num_hidden=hidden)
        kept = sym.FullyConnected(state, weights["w_h"], weights["b_h"], num_hidden=hidden)
        state = sym.tanh(given + kept)
    return state


def _binding(net: od.Symbol, grad_req: str, **shapes: tuple[int, ...]) -> Callable[[], object]:
    def run() -> object:
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
    shapes = {"state": (32, 200), **{f"x{t}": (32, 200) for t in range(35)}}
    run = _binding(_unrolled(35, 200), "write", **shapes)
    found.append(Case("bind 35 steps of a recurrent network, with gradients", run, 35 * 4))
    run = _backward(200)
    found.append(Case("backward of 200 recorded operators, seen before", run, 200))
    found.append(Case("backward of 200 recorded operators, a new structure", _new_structure(run), 200))
    return found
