"""Short programs for either library, MXNet 1.9.1 or operad, each of which returns what it found.

What is recorded elsewhere are operators, one call each. Here are rules that only a program shows: what a call
returns, in which order a loop reads and asks, what a file holds after training. A program is a function of the
library; what it returns must be the same under both, numbers but for their last digits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

Program = Callable[[Any], Any]
PROGRAMS: Final[dict[str, Program]] = {}


def program(function: Program) -> Program:
    """Add a program under its function's name."""
    PROGRAMS[function.__name__] = function
    return function


@program
def gradients_are_lists(mx: Any) -> Any:
    """The type and values that `autograd.grad` returns for each way to give heads and variables."""
    x, w = mx.nd.array([1, 2, 3]), mx.nd.array([2, 4, 6])
    x.attach_grad()
    w.attach_grad()
    one = mx.nd.ones((3,))
    found = []
    for as_heads in (lambda y: y, lambda y: [y], lambda y: (y,)):
        for variables in (x, [x], (x,), [x, w], (w, x)):
            for keywords in ({}, {"retain_graph": True}, {"create_graph": True}, {"head_grads": one}):
                with mx.autograd.record():
                    y = x * w * x
                    grads = mx.autograd.grad(as_heads(y), variables, **keywords)
                found.append([type(grads).__name__, *(grad.asnumpy().tolist() for grad in grads)])
    return found


def run(name: str, mx: Any) -> Any:
    """What a program returns, from seeds of its own."""
    np.random.seed(7)
    mx.random.seed(7)
    return PROGRAMS[name](mx)
