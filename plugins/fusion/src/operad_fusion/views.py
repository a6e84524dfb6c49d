"""Nodes that only say where elements are: slices, reshapes, transposes, and gradients of joins.

What such a node does with an array of the elements' numbers is what it does with any array. If the result's
numbers rise by the same steps along each axis, its output is a view of its input.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.context import Context
from operad.graph import Entry, Graph, Memo, Node, OpNode
from operad.operator import ForwardArrays, Gradient, OpContext, OpReq, Shape
from operad_sdk.form_kernels import View

OPERATORS: Final = frozenset(
    ("SliceChannel", "slice_axis", "slice", "Reshape", "Flatten", "expand_dims", "squeeze", "transpose")
) | {"SwapAxis", "reverse"}
"""Names of operators that move elements, whatever these are, and have one argument."""
GRADIENTS: Final = frozenset(("Reshape", "Flatten", "expand_dims", "squeeze", "transpose", "SwapAxis")) | {
    "reverse", "Concat", "stack"
}  # fmt: skip
"""Names of operators whose gradients do so."""
_MOST_ELEMENTS: Final = 1 << 17
"""Elements of an array up to which its numbers are looked at."""
_NUMBERS: Final = np.dtype(np.int64)


def moves_elements(node: Node) -> bool:
    """Return whether a node only says where elements are."""
    op = node.op if isinstance(node, OpNode) else None
    return op is not None and (op.of.name in GRADIENTS if isinstance(op, Gradient) else op.name in OPERATORS)


def _may_be_view(node: OpNode, shape: Shape) -> bool:
    """Return whether a node, whose first input has this shape, may give views of it."""
    reads_one = node.num_read == len(node.inputs) - node.op.num_unread == 1
    return moves_elements(node) and reads_one and 0 < prod(shape) <= _MOST_ELEMENTS


def _moved(node: OpNode, numbers: Any, others: Sequence[Shape], ctx: Context) -> list[Any] | None:
    """Outputs of a node for an array of numbers; None if it does not take it.

    Args:
        others: Shapes of the inputs of which only these count.
    """
    arrays = [numbers, *[np.zeros(shape, _NUMBERS) for shape in others]]
    shapes = [array.shape for array in arrays]
    made: list[Any] = node.op.infer_shape(shapes)[1]
    outputs = [np.empty(shape, _NUMBERS) for shape in made]
    try:
        operator = node.op.create_operator(ctx, shapes, [_NUMBERS] * len(shapes))
        operator.forward(
            OpContext(ctx, False, ()), ForwardArrays(arrays, [OpReq.WRITE] * len(outputs), outputs)
        )
    except Exception:  # noqa: BLE001 - the author's function; then it is no view
        return None
    return outputs


def _view_along(
    shape: Shape, itemsize: int, ctx: Context, steps: Sequence[tuple[OpNode, int, Sequence[Shape]]]
) -> View | None:
    """View of an array that some nodes give, one after another; None if it is none."""
    numbers: Any = np.arange(prod(shape)).reshape(shape)
    for node, index, others in steps:
        outputs = _moved(node, numbers, others, ctx)
        if outputs is None:
            return None
        numbers = outputs[index]
    return view_of(numbers, itemsize)


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


def _is_contiguous(view: View, itemsize: int) -> bool:
    step = itemsize
    for length, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if length > 1 and stride != step:
            return False
        step *= length
    return True


class InPlace(NamedTuple):
    """Entries that a cluster reads in the arrays of which they are parts.

    Attributes:
        entries: Each entry that nobody writes for it, the entry whose array has it, and how that array does.
        nodes: The nodes that are passed over, in order.
    """

    entries: list[tuple[Entry, Entry, View]]
    nodes: list[OpNode]


@final
class Views:
    """Entries of a graph that are views of others.

    Args:
        facts: `shapes`, `types` and `contexts`.
        clustered: Nodes that are in clusters with others: these write what others read, and nothing between.
        known: Views that nodes give together, for all that are alike.
    """

    def __init__(
        self,
        graph: Graph,
        facts: Mapping[str, Any],
        clustered: Container[Node] = (),
        known: Memo[View | None] | None = None,
    ) -> None:
        self._graph, self.clustered = graph, clustered
        self.known: Final = Memo[View | None]() if known is None else known
        self._shapes, self._types, self._contexts = (facts[name] for name in ("shapes", "types", "contexts"))
        self._awaited = {dep for node in graph.nodes for dep in node.control_deps}
        self._found: dict[Entry, tuple[Entry, View | None]] = {}

    def resolved(self, entry: Entry) -> tuple[Entry, View | None]:
        """The entry whose array this one is a view of, and the view; itself, if it is none."""
        found = self._found.get(entry)
        if found is None:
            found = self._found[entry] = self._looked_up(entry)
        return found

    def answers(self, entries: Iterable[Entry] | None = None) -> list[tuple[Entry, Entry, bool, bool]]:
        """Answers about entries that may be views: the array, whether it has them, and not as a whole.

        Args:
            entries: Some; None: all that were asked about.
        """
        every = (
            [entry for entry in [*self._found] if moves_elements(entry.node)] if entries is None else entries
        )
        return [(entry, *self._answer(entry)) for entry in every]

    def _answer(self, entry: Entry) -> tuple[Entry, bool, bool]:
        base, view = self.resolved(entry)
        return base, view is not None, self.saves_a_copy(entry)

    def between(self, entry: Entry) -> list[tuple[Entry, Entry, View]]:
        """All outputs of the nodes between an array and a view of it, each with that array and its own view.

        In order; empty if the entry is no view.
        """
        base, view = self.resolved(entry)
        nodes: list[OpNode] = []
        while view is not None and entry != base:
            assert isinstance(entry.node, OpNode)
            nodes.append(entry.node)
            entry = entry.node.inputs[0]
        found = [(each, *self.resolved(each)) for node in reversed(nodes) for each in node.entries]
        return [(each, own, view) for each, own, view in found if view is not None]

    def saves_a_copy(self, entry: Entry) -> bool:
        """Return whether an entry is a view that must be copied where it is an array: no mere reshape."""
        base, view = self.resolved(entry)
        if view is None:
            return False
        is_all = prod(view.shape) == prod(self._shapes.of(base))
        return not (is_all and _is_contiguous(view, self._types.of(base).itemsize))

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
        ctx = self._contexts[self._graph.node_ids[base.node]]
        steps = []
        for node, index in reversed(path):
            assert isinstance(node, OpNode)
            steps.append((node, index, [self._shapes.of(other) for other in node.inputs[1:]]))
        key = [(node.signature, index, *others) for node, index, others in steps]
        return self.known.get((shape, itemsize, ctx, *key), _view_along, shape, itemsize, ctx, steps)

    def _may_be(self, entry: Entry) -> bool:
        node = entry.node
        if not isinstance(node, OpNode) or node in self._graph.computed or node in self._awaited:
            return False
        if node in self.clustered:
            return False
        if node.control_deps or node.sums or not node.inputs:
            return False
        source = node.inputs[0]
        ids, contexts = self._graph.node_ids, self._contexts
        is_alike = self._types.of(source) == self._types.of(entry)
        is_near = contexts[ids[source.node]] == contexts[ids[node]]
        return is_alike and is_near and _may_be_view(node, self._shapes.of(source))
