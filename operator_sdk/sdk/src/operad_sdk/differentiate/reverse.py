"""Reverse accumulation over a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import Any, Final

import numpy as np

from operad_sdk.differentiate.errors import lasting_refusals
from operad_sdk.differentiate.tracing import Node, Traced, plain

_levels: Final = count(1)

Function = Callable[[Sequence[Any]], Sequence[Any]]
"""A function of arrays that returns arrays."""


def vector_jacobian(
    function: Function, inputs: Sequence[Any], gradients: Sequence[Any], wanted: Sequence[bool]
) -> list[Any]:
    """The gradients of `inputs`, from those of the outputs of `function`.

    What comes out was computed by functions of NumPy alone, so that the inputs and gradients may be traced
    themselves: the derivative of a derivative is this function of this function.

    Args:
        function: Called with the inputs, those that are `wanted` traced.
        inputs: Plain arrays, or arrays of an outer trace.
        gradients: One for each output.
        wanted: One flag for each input: whether its gradient is asked for.
    Returns:
        One array for each input that is wanted.
    Raises:
        TraceError: The function does something that has no derivative here.
    """
    level = next(_levels)
    cells = [
        Traced(Node(level, x, is_input=True)) if flag else x for x, flag in zip(inputs, wanted, strict=True)
    ]
    nodes = [cell.node for cell in cells if isinstance(cell, Traced) and cell.level == level]
    with lasting_refusals():
        outputs = function(cells)
    found = _accumulate(level, outputs, gradients)
    return [
        found[node] if node in found else np.zeros_like(value)
        for node, value in ((node, node.value) for node in nodes)
    ]


def _accumulate(level: int, outputs: Sequence[Any], gradients: Sequence[Any]) -> dict[Node, Any]:
    """The gradient of every node that an output depends on, the last computed first."""
    found: dict[Node, Any] = {}
    pending: list[tuple[int, Node]] = []

    def add(node: Node, gradient: Any) -> None:
        if node in found:
            found[node] = found[node] + gradient
        else:
            found[node] = gradient
            heappush(pending, (-node.number, node))

    for output, gradient in zip(outputs, gradients, strict=True):
        # An output that nothing was asked of must add nothing: 0 times an infinite slope of it is NaN.
        is_asked = isinstance(gradient, Traced) or gradient.any()
        if isinstance(output, Traced) and output.level == level and output.node.leads and is_asked:
            add(output.node, gradient)
    done: dict[Node, Any] = {}
    with np.errstate(all="ignore"):
        while pending:
            _, node = heappop(pending)
            gradient = done[node] = found.pop(node)
            for parent, pullback in node.parents:
                pulled = pullback(gradient)
                assert plain(pulled).shape == plain(parent.value).shape, "a rule gave another shape"
                add(parent, pulled)
    return done
