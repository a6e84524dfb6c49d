"""Networks whose memory plans are measured, and random ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from core.tests.graph.operators import (
    Add,
    AddConst,
    Dense,
    Mul,
    Sign,
    Split,
    Square,
    SquareLoss,
    Tanh,
    apply,
    var,
)
from operad.graph import (
    Entry,
    Graph,
    gradient,
    infer_shapes,
    infer_types,
)

FLOAT32 = np.dtype(np.float32)


class Network:
    """A graph of outputs and gradients with everything a plan or a run needs."""

    def __init__(self, outputs, heads, wrt, known):
        self.outputs = outputs
        self.gradients = gradient(outputs, heads, wrt)
        self.graph = Graph([*outputs, *self.gradients])
        self.shapes = infer_shapes(self.graph, known)
        names = [node.name for node in self.graph.arguments]
        self.types = infer_types(self.graph, dict.fromkeys(names, FLOAT32))

    def values(self):
        rng = np.random.default_rng(0)
        return {
            node.name: rng.uniform(-1, 1, self.shapes.of(Entry(node))).astype(np.float32)
            for node in self.graph.arguments
        }


def trained(loss, known):
    """The training graph of a loss over all its variables that start with w."""
    wrt = [Entry(node) for node in Graph([loss]).arguments if node.name.startswith("w")]
    return Network([loss], [None], wrt, known)


def perceptron(sizes=(512, 256, 10), batch=64, features=784):
    x = var("x")
    for i, hidden in enumerate(sizes):
        x = apply(Dense, f"fc{i}", x, var(f"w{i}"), hidden=hidden)
        if i < len(sizes) - 1:
            x = apply(Tanh, f"act{i}", x)
    return trained(apply(SquareLoss, "loss", x, var("label")), {"x": (batch, features)})


def lenet_like():
    """Layers whose outputs are as large as LeNet's maps."""
    return perceptron((20 * 24 * 24, 20 * 12 * 12, 50 * 8 * 8, 50 * 4 * 4, 500, 10))


def residual(blocks=20, width=128, batch=64):
    x = apply(Dense, "in", var("x"), var("w_in"), hidden=width)
    for i in range(blocks):
        inner = apply(Dense, f"a{i}", x, var(f"w_a{i}"), hidden=width * (1 + i % 3))
        inner = apply(Dense, f"b{i}", apply(Tanh, f"t{i}", inner), var(f"w_b{i}"), hidden=width)
        x = apply(Tanh, f"out{i}", apply(Add, f"add{i}", x, inner))
    return trained(apply(SquareLoss, "loss", x, var("label")), {"x": (batch, 256)})


def recurrent(steps=35, hidden=200, batch=32):
    """An unrolled LSTM."""
    state, cell = var("h0"), var("c0")
    weights = {f"{kind}{gate}": var(f"w_{kind}{gate}") for kind in "xh" for gate in "ifgo"}
    known = {"h0": (batch, hidden), "c0": (batch, hidden)}
    for t in range(steps):
        known[f"x{t}"] = (batch, hidden)
        x, gates = var(f"x{t}"), {}
        for gate in "ifgo":
            new = apply(Dense, f"x{gate}{t}", x, weights[f"x{gate}"], hidden=hidden)
            old = apply(Dense, f"h{gate}{t}", state, weights[f"h{gate}"], hidden=hidden)
            gates[gate] = apply(Tanh, f"gate_{gate}{t}", apply(Add, f"sum_{gate}{t}", new, old))
        kept, added = (
            apply(Mul, f"kept{t}", gates["f"], cell),
            apply(Mul, f"added{t}", gates["i"], gates["g"]),
        )
        cell = apply(Add, f"cell{t}", kept, added)
        state = apply(Mul, f"state{t}", gates["o"], apply(Tanh, f"squashed{t}", cell))
    projected = apply(Dense, "projection", state, var("w_p"), hidden=10)
    return trained(apply(SquareLoss, "loss", projected, var("label")), known)


def chain(length=3000):
    x = start = var("w")
    for i in range(length):
        x = apply(Square if i % 3 else Tanh, f"n{i}", x)
    return Network([x], [var("head")], [start], {"w": (64, 100)})


@st.composite
def networks(draw):
    """Random graphs with shared parts, several sizes, hidden outputs, losses and gradients."""
    rows, width = draw(st.integers(1, 3)), draw(st.integers(1, 20))
    entries = [(var("a"), width), (var("b"), width)]
    known = {"a": (rows, width), "b": (rows, width)}
    for step in range(draw(st.integers(1, 14))):
        source, columns = draw(st.sampled_from(entries))
        kind = draw(st.sampled_from([Tanh, Square, AddConst, Sign, Split, Add, Mul, Dense]))
        if kind is Dense:
            hidden = draw(st.integers(1, 40))
            entries.append((apply(Dense, f"n{step}", source, var(f"w{step}"), hidden=hidden), hidden))
        elif kind in {Add, Mul}:
            other = draw(st.sampled_from([entry for entry, wide in entries if wide == columns]))
            entries.append((apply(kind, f"n{step}", source, other), columns))
        else:
            made = apply(kind, f"n{step}", source)
            entries.append((made, columns))
            if kind is Split and draw(st.booleans()):
                entries.append((Entry(made.node, 1), columns))
    candidates = [entry for entry, _ in entries[2:]]
    outputs = draw(st.lists(st.sampled_from(candidates), min_size=1, max_size=3, unique=True))
    arguments = Graph(outputs).arguments
    wrt = draw(st.lists(st.sampled_from([Entry(node) for node in arguments]), max_size=4, unique=True))
    return Network(outputs, [var(f"head{i}") for i in range(len(outputs))], wrt, known)


def chain_of(kind, count, **params):
    entries = [var("x")]
    for i in range(count):
        entries.append(apply(kind, f"n{i}", entries[-1], **params))
    return Network([entries[-1]], [None], [], {"x": (4, 8)}), entries


def many_uses(uses):
    """The gradient of one variable that `uses` operators read."""
    x = var("x")
    outputs = [apply(Tanh, f"use{i}", x) for i in range(uses)]
    return Network(outputs, [var(f"head{i}") for i in range(uses)], [x], {"x": (4, 16)})
