"""Programs with loops and branches, in MXNet's words: both libraries run them.

Run with the interpreter of MXNet 1.9.1 and a folder, it prints as JSON what MXNet computes and writes, and
what it computes with the files in the folder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Shapes = dict[str, tuple[int, ...]]
Program = Callable[[Any], tuple[Any, Shapes]]
Facts = dict[str, Any]


def recurrent(mx: Any) -> tuple[Any, Shapes]:
    """States of two shapes, weights from outside, two outputs."""
    w, u, b = mx.sym.var("w"), mx.sym.var("u"), mx.sym.var("b")

    def body(x: Any, states: Any) -> Any:
        h = mx.sym.tanh(mx.sym.dot(x, w) + mx.sym.dot(states[0], u))
        c = states[1] * 0.5 + mx.sym.sum(mx.sym.broadcast_mul(h, b), axis=1)
        return [h, c * 2], [h, c]

    outs, states = mx.sym.contrib.foreach(body, mx.sym.var("data"), [mx.sym.var("h"), mx.sym.var("c")])
    shapes = {"data": (5, 2, 3), "h": (2, 4), "c": (2,), "w": (3, 4), "u": (4, 4), "b": (1, 4)}
    return mx.sym.Group([*outs, *states]), shapes


def nested(mx: Any) -> tuple[Any, Shapes]:
    """A loop in a loop, both of which read one weight."""
    w = mx.sym.var("w")

    def inner(x: Any, s: Any) -> Any:
        return mx.sym.broadcast_mul(x, w) + s, s * 0.5 + x

    def outer(x: Any, s: Any) -> Any:
        outs, last = mx.sym.contrib.foreach(inner, x, s)
        return outs * 2, last * w

    outs, last = mx.sym.contrib.foreach(outer, mx.sym.var("data"), mx.sym.var("s"))
    return mx.sym.Group([outs, last]), {"data": (3, 4, 2), "s": (2,), "w": (2,)}


def twice(mx: Any) -> tuple[Any, Shapes]:
    """A loop over the outputs of a loop."""

    def body(x: Any, s: Any) -> Any:
        return x * s, s + x

    outs, last = mx.sym.contrib.foreach(body, mx.sym.var("data"), mx.sym.var("s"))
    outs, last = mx.sym.contrib.foreach(body, outs, last)
    return mx.sym.Group([outs, last]), {"data": (4, 3), "s": (3,)}


def repeated(mx: Any) -> tuple[Any, Shapes]:
    """A body until its condition fails, before the most steps are over."""
    w = mx.sym.var("w")
    outs, last = mx.sym.contrib.while_loop(
        lambda i, x: mx.sym.sum(i) < 3,
        lambda i, x: ([x * w], [i + 1, mx.sym.tanh(x * w + x)]),
        [mx.sym.var("i"), mx.sym.var("x")],
        max_iterations=3,
    )
    return mx.sym.Group([*outs, *last]), {"i": (1,), "x": (2, 3), "w": (2, 3)}


def branches(mx: Any) -> tuple[Any, Shapes]:
    """One of two branches, which read different arrays."""
    a, b, p = mx.sym.var("a"), mx.sym.var("b"), mx.sym.var("p")
    outs = mx.sym.contrib.cond(p < 0, lambda: [a * b, a + 1], lambda: [b * b, a * 3])
    return mx.sym.Group(outs), {"p": (1,), "a": (2, 2), "b": (2, 2)}


PROGRAMS: dict[str, Program] = {f.__name__: f for f in (recurrent, nested, twice, repeated, branches)}


def run(mx: Any, symbol: Any, shapes: Shapes) -> Facts:
    """Outputs, of prediction too, and gradients, some of them added up over two runs."""
    draws = np.random.RandomState(3)
    args = {name: mx.nd.array(draws.uniform(-1, 1, shapes[name])) for name in sorted(shapes)}
    if "i" in args:  # it counts
        args["i"][:] = 0
    grads = {name: mx.nd.zeros(shape) for name, shape in shapes.items()}
    added = {name: "add" if name in ("w", "data") else "write" for name in shapes}
    executor = symbol.bind(mx.cpu(), args, grads, added)
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward([mx.nd.array(draws.uniform(-1, 1, out.shape)) for out in executor.outputs])
    outputs = [out.asnumpy().tolist() for out in executor.outputs]
    return {
        "arguments": symbol.list_arguments(),
        "outputs": outputs,
        "grads": {name: grad.asnumpy().tolist() for name, grad in grads.items()},
        "predicted": [out.asnumpy().tolist() for out in executor.forward(is_train=False)],
    }


def main(folder: Path) -> None:
    """Print what MXNet computes with programs, and with the files of them in `folder`."""
    import mxnet as mx

    found = {}
    for name, program in PROGRAMS.items():
        symbol, shapes = program(mx)
        other = mx.sym.load(str(folder / f"{name}.json"))
        found[name] = {
            "file": symbol.tojson(),
            "own": run(mx, symbol, shapes),
            "other": run(mx, other, shapes),
        }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
