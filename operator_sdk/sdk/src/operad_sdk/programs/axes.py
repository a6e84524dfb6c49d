"""Axes of a program's arrays that are the same, and along which of them it can be computed in parts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad_sdk.differentiate import PROGRAM, Node
from operad_sdk.differentiate.made_up import is_elementwise, is_view
from operad_sdk.differentiate.walk import behind, nodes_of
from operad_sdk.programs.cluster import is_array
from operad_sdk.programs.stores import step_of

_STRIDES: Final = (1009, 2003, 3001, 4001, 5003, 6007, 7001, 8009, 9001, 10007, 11003, 12007)
"""Primes, so that no step along one axis is another axis' stride."""
ROW, SUM, BEFORE, AFTER = range(4)
"""Kinds of steps."""

Key = tuple[Node, int]
"""An axis of a node."""


@final
class Cut(NamedTuple):
    """A class of axes along which a graph can be walked.

    Attributes:
        length: Of the axes.
        axes: The axis of each node that has one.
        kinds: What each step is: of each tile, a sum over tiles, or computed before them or after.
        is_batch: Whether each of them counts matrices that are multiplied, and no rows or columns.
    """

    length: int
    axes: dict[Node, int]
    kinds: dict[Node, int]
    is_batch: bool

    def hoisted(self, wanted: Sequence[Node]) -> list[Node]:
        """Steps before the tiles that these need, but for views, which each tile takes."""
        found, left, seen = dict[Node, None](), list(wanted), set[Node]()
        while left:
            node = left.pop()
            if node in seen or node.step is None or node not in self.kinds:
                continue
            seen.add(node)
            is_taken = node not in self.axes and is_view(node.step.primitive, node.step.args)
            if self.kinds[node] == BEFORE and not is_taken:
                found[node] = None
            else:
                left += nodes_of(node.step.args)
        return list(found)


@final
class Graph:
    """The steps behind some results, and which axes of theirs are the same.

    Attributes:
        pairs: For each step the axes of what it reads that are the same as others; None: unknown.
    """

    def __init__(self, inputs: Sequence[Node], results: Sequence[Node]) -> None:
        self.inputs, self.results = inputs, results
        given = set(inputs)
        found = [node for node in behind(results) if node.step is not None and node not in given]
        self._steps = sorted(found, key=lambda node: node.number)
        _name_constants(self._steps)
        self._parents: dict[Key, Key] = {}
        self.pairs = {node: _pairs(node) for node in self._steps}
        for pairs in self.pairs.values():
            for one, other in pairs or ():
                self._join(one, other)

    def _root(self, key: Key) -> Key:
        while (parent := self._parents.setdefault(key, key)) != key:
            key = parent
        return key

    def _join(self, one: Key, other: Key) -> None:
        self._parents[self._root(one)] = self._root(other)

    def _classes(self) -> dict[Key, list[Key]]:
        classes: dict[Key, list[Key]] = {}
        for key in list(self._parents):
            classes.setdefault(self._root(key), []).append(key)
        return classes

    def products(self) -> list[Node]:
        """The steps that multiply matrices."""
        return [node for node in self._steps if step_of(node).primitive.function is np.matmul]

    def classes(self) -> list[dict[Node, int]]:
        """For each class the axis of each node; without those of which a node has several."""
        return [dict(keys) for keys in self._classes().values() if len(dict(keys)) == len(keys)]

    def of_tiles(self, cut: Cut) -> list[Node]:
        """The nodes that tiles compute: parts of results, and sums over tiles."""
        kinds = cut.kinds
        found = {
            node for node in behind(self.results)
            if kinds.get(node) == SUM or (kinds.get(node) == ROW and node in self.results)
        }  # fmt: skip
        return sorted(found, key=lambda node: node.number)

    def between(self, wanted: Sequence[Node], given: Collection[Node]) -> list[Node]:
        """The steps that compute some nodes from others."""
        found, left = set[Node](), list(wanted)
        while left:
            node = left.pop()
            if node not in found and node not in given and node.step is not None:
                found.add(node)
                left += nodes_of(node.step.args)
        return sorted(found, key=lambda node: node.number)

    def cuts(self) -> Iterator[Cut]:
        """Ways to walk: by whole products first, then those whose axes most elements have."""
        classes = self._classes()
        weights = {
            root: sum(node.value.nbytes for node, _ in keys if node.step is not None)
            for root, keys in classes.items()
        }
        factors = {one for node in self.products() for one in (node, *nodes_of(step_of(node).args))}
        of_matrices = {
            root
            for root, keys in classes.items()
            if any(node in factors and axis >= node.value.ndim - 2 for node, axis in keys)
        }
        for root in sorted(classes, key=lambda root: (root in of_matrices, -weights[root])):
            axes = dict(classes[root])
            kinds = self._kinds(axes) if len(axes) == len(classes[root]) else None
            if kinds is not None and ROW in kinds.values():
                yield Cut(root[0].value.shape[root[1]], axes, kinds, root not in of_matrices)

    def _kinds(self, axes: dict[Node, int]) -> dict[Node, int] | None:
        """The kind of each step; None where one needs more than its own positions."""
        kinds: dict[Node, int] = {}
        for node in self._steps:
            read = list(nodes_of(step_of(node).args))
            is_late = any(kinds.get(one) in (SUM, AFTER) for one in read)
            if not any(one in axes for one in read):
                kinds[node] = AFTER if is_late else BEFORE
                continue
            pairs = self.pairs[node]
            if is_late or pairs is None:
                return None
            through = {one for one, other in pairs if other == (node, axes.get(node, -1))}
            if all((one, axes[one]) in through for one in read if one in axes):
                kinds[node] = ROW
            elif node not in axes and _sums(node, axes) and node.value.dtype.kind == "f":
                kinds[node] = SUM
            else:
                return None
        return kinds


def _name_constants(steps: Sequence[Node]) -> None:
    """Put nodes in the place of arrays among arguments."""
    named: dict[int, Node] = {}

    def known(arg: Any) -> Any:
        if isinstance(arg, Node) or not is_array(arg):
            return arg
        if id(arg) not in named:
            made = named[id(arg)] = Node(PROGRAM, arg)
            made.number = -1  # before all steps, which read it
        return named[id(arg)]

    for node in steps:
        node.step = step_of(node)._replace(args=[known(arg) for arg in step_of(node).args])


def _pairs(node: Node) -> list[tuple[Key, Key]] | None:
    """The axes of what a step reads that are axes of its result, or of another operand; None: unknown."""
    primitive, args, options = step_of(node)
    read = [arg for arg in args if isinstance(arg, Node)]
    if any(isinstance(value, (Node, np.ndarray)) for value in options.values()):
        return None
    if is_elementwise(primitive):
        return [pair for one in read for pair in _aligned(one, node)]
    if primitive.function is np.matmul and all(one.value.ndim > 1 for one in read) and len(read) == 2:
        a, b = read
        rank = node.value.ndim
        ends = [((a, a.value.ndim - 2), (node, rank - 2)), ((b, b.value.ndim - 1), (node, rank - 1))]
        inner = ((a, a.value.ndim - 1), (b, b.value.ndim - 2))
        return [*ends, inner, *_aligned(a, node, 2), *_aligned(b, node, 2)]
    if primitive.form == "reshape":
        return [((read[0], i), (node, j)) for i, j in _kept(read[0].value.shape, node.value.shape)]
    if is_view(primitive, args) and all(one is args[0] for one in nodes_of(args)):
        return _viewed(node, read[0])
    if primitive.form in ("sum", "max", "min"):
        gone = _reduced(node)
        left = [axis for axis in range(read[0].value.ndim) if args[2] or axis not in gone]
        return [((read[0], axis), (node, i)) for i, axis in enumerate(left) if axis not in gone]
    return None


def _aligned(one: Node, node: Node, behind_them: int = 0) -> list[tuple[Key, Key]]:
    """Axes of an operand that broadcasts, but for the last few."""
    shape, new = one.value.shape, node.value.ndim - one.value.ndim
    axes = range(one.value.ndim - behind_them)
    return [((one, i), (node, new + i)) for i in axes if shape[i] == node.value.shape[new + i]]


def _kept(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The axes that a reshape leaves as they are."""
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            yield i, j
            i, j = i + 1, j + 1
            continue
        if 1 in (old[i], new[j]):
            i, j = i + (old[i] == 1), j + (new[j] == 1)
            continue
        before, after, i, j = old[i], new[j], i + 1, j + 1
        while before != after and (i < len(old) if before < after else j < len(new)):
            if before < after:
                before, i = before * old[i], i + 1
            else:
                after, j = after * new[j], j + 1


def _viewed(node: Node, one: Node) -> list[tuple[Key, Key]] | None:
    """The axes that a view has of an array, told by their strides."""
    primitive, args, options = step_of(node)
    rank = one.value.ndim
    if rank > len(_STRIDES):
        return None
    whole = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), one.value.shape, _STRIDES[:rank])
    view = primitive.function(whole, *args[1:], **options)
    places = {stride: axis for axis, stride in enumerate(_STRIDES[:rank])}
    found = [(places.get(stride), i) for i, stride in enumerate(view.strides)]
    shape = one.value.shape
    return [
        ((one, axis), (node, i)) for axis, i in found if axis is not None and shape[axis] == view.shape[i]
    ]


def _reduced(node: Node) -> set[int]:
    x, axis, _ = step_of(node).args
    rank = x.value.ndim
    return set(range(rank)) if axis is None else {int(one) % rank for one in np.atleast_1d(axis)}


def _sums(node: Node, axes: dict[Node, int]) -> bool:
    """Return whether a step sums over the positions of all that it reads of the class."""
    primitive, args, _ = step_of(node)
    if primitive.form == "sum":
        return axes[args[0]] in _reduced(node)
    if primitive.function is not np.matmul:
        return False
    a, b = args
    return bool(axes.get(a) == a.value.ndim - 1 and axes.get(b) == b.value.ndim - 2)
