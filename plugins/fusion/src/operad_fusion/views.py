"""Nodes that only say where elements are: slices, reshapes, transposes.

What such a node does with an array of the elements' numbers is what it does with any array. If the result's
numbers rise by the same steps along each axis, its output is a view of its input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final, final

import numpy as np

from operad.context import Context
from operad.graph import Entry, Graph, OpNode
from operad.operator import Gradient, KernelCall, OpContext, OpReq, Shape, choose
from operad_sdk.form_kernels import View

OPERATORS: Final = frozenset(
    ("SliceChannel", "slice_axis", "slice", "Reshape", "Flatten", "expand_dims", "squeeze", "transpose")
) | {"SwapAxis", "reverse"}
"""Names of operators that move elements, whatever these are, and have one argument."""
_MOST_ELEMENTS: Final = 1 << 17
"""Elements of an array up to which its numbers are looked at."""
_NUMBERS: Final = np.dtype(np.int64)


def _may_be_view(node: OpNode, shape: Shape) -> bool:
    """Return whether a node, whose argument has this shape, may give views of it."""
    return node.op.name in OPERATORS and node.num_args == 1 and 0 < prod(shape) <= _MOST_ELEMENTS


def _moved(node: OpNode, numbers: Any, ctx: Context) -> list[Any] | None:
    """Outputs of a node for an array of numbers; None if it does not take it."""
    shapes: list[Any] = node.op.infer_shape([numbers.shape])[1]
    outputs = [np.empty(shape, _NUMBERS) for shape in shapes]
    try:
        operator = choose(KernelCall(node.op, ctx, [numbers.shape], [_NUMBERS], False)).operator()
        operator.forward(OpContext(ctx, False, ()), [numbers], [OpReq.WRITE] * len(outputs), outputs, [])
    except Exception:  # noqa: BLE001 - the author's function; then it is no view
        return None
    return outputs


def view_of(numbers: Any, itemsize: int) -> View | None:
    """The view whose elements have these numbers; None if no steps lead from each to the next."""
    if not numbers.size:
        return None
    first = int(numbers.flat[0])
    steps = [
        int(numbers[tuple(int(axis == own) for axis in range(numbers.ndim))]) - first if length > 1 else 0
        for own, length in enumerate(numbers.shape)
    ]
    expected = np.full(numbers.shape, first)
    for axis, (step, length) in enumerate(zip(steps, numbers.shape, strict=True)):
        expected += (np.arange(length) * step).reshape([-1 if axis == i else 1 for i in range(numbers.ndim)])
    if not np.array_equal(numbers, expected):
        return None
    return View(first * itemsize, numbers.shape, tuple([step * itemsize for step in steps]))


@final
class Views:
    """Entries of a graph that are views of others.

    Args:
        facts: `shapes`, `types` and `contexts`.
    """

    def __init__(self, graph: Graph, facts: Mapping[str, Any]) -> None:
        self._graph = graph
        self._shapes, self._types, self._contexts = (facts[name] for name in ("shapes", "types", "contexts"))
        self._awaited = {dep for node in graph.nodes for dep in node.control_deps}
        self._found: dict[Entry, tuple[Entry, View | None]] = {}

    def resolved(self, entry: Entry) -> tuple[Entry, View | None]:
        """The entry whose array this one is a view of, and the view; itself, if it is none."""
        found = self._found.get(entry)
        if found is None:
            found = self._found[entry] = self._looked_up(entry)
        return found

    def _looked_up(self, entry: Entry) -> tuple[Entry, View | None]:
        path: list[Entry] = []
        base = entry
        while self._may_be(base):
            path.append(base)
            base = base.node.inputs[0]
        # The longest way through views; what does not go as a whole goes for a part.
        while path:
            view = self._along(base, path)
            if view is not None:
                return base, view
            base = path.pop()
        return entry, None

    def _along(self, base: Entry, path: Sequence[Entry]) -> View | None:
        shape, itemsize = self._shapes.of(base), self._types.of(base).itemsize
        numbers: Any = np.arange(prod(shape)).reshape(shape)
        for each in reversed(path):
            node = each.node
            assert isinstance(node, OpNode)
            outputs = _moved(node, numbers, self._contexts[self._graph.node_ids[node]])
            if outputs is None:
                return None
            numbers = outputs[each.index]
        return view_of(numbers, itemsize)

    def _may_be(self, entry: Entry) -> bool:
        node = entry.node
        if not isinstance(node, OpNode) or node in self._graph.computed or node in self._awaited:
            return False
        if node.control_deps or node.sums or isinstance(node.op, Gradient) or len(node.inputs) != 1:
            return False
        (source,) = node.inputs
        ids, contexts = self._graph.node_ids, self._contexts
        is_alike = self._types.of(source) == self._types.of(entry)
        is_near = contexts[ids[source.node]] == contexts[ids[node]]
        return is_alike and is_near and _may_be_view(node, self._shapes.of(source))
