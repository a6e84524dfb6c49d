"""The order of a program's steps, and where its arrays lie.

Each node has a slot. Views have the memory of what they are views of. Parts that are written into one array
one after another share it, and what computes a part writes it there where no other part has the place. All
that kernels and NumPy's functions of elements make, and that is no result, lies in one piece of memory, as
the core packs a graph's values; a result is computed where it is wanted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import TopologicalSorter
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.graph import pack
from operad.storage import ALIGNMENT_BYTES
from operad_sdk.differentiate import Node
from operad_sdk.differentiate.dispatch import each
from operad_sdk.programs.cluster import Cluster, operands, views_something
from operad_sdk.programs.clusters import Clusters
from operad_sdk.programs.stores import Stores, step_of, writes


class Slot(NamedTuple):
    """An array of a run, by number."""

    number: int


class KernelStep(NamedTuple):
    """A cluster: the slots of what its kernel reads and makes."""

    cluster: Cluster
    slots: Sequence[int]


class CallStep(NamedTuple):
    """A function of NumPy.

    Attributes:
        function: What is called.
        args: Its arguments, slots in the place of arrays.
        options: By name.
        slot: Of the result.
        writes: Whether it is written where the slot's array lies.
        is_view: Whether it gives a view, where memory allows one.
    """

    function: Any
    args: Sequence[Any]
    options: dict[str, Any]
    slot: int
    writes: bool
    is_view: bool


class StoreStep(NamedTuple):
    """An array, or a part of it, that is overwritten: the slot, the part's index, and with what."""

    slot: int
    index: Any
    value: Any


Step = KernelStep | CallStep | StoreStep


class Place(NamedTuple):
    """Place of a slot's array in the program's memory.

    Attributes:
        slot: Which.
        begin: Bytes from the beginning of the program's memory.
        shape: Of the array.
        dtype: Of the array.
    """

    slot: int
    begin: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class Part(NamedTuple):
    """A slot whose array is the part of another slot's."""

    slot: int
    whole: int
    index: Any


@final
class Plan:
    """Steps and slots of a program.

    Attributes:
        num_slots: How many arrays a run has; the first are the inputs.
        constants: Arrays that the function made without its arguments, by slot.
        steps: In order.
        places: Slots in the program's memory.
        size_bytes: Of that memory.
        parts: Slots that are parts of others.
        direct: Of each result that is computed where it is wanted the number, the slot, and the shape there.
        copied: The other results, each with its slot.
        copied_bytes: Of arrays that are copied so that parts of them can be written.

    Args:
        copies_all: Whether each array that something else reads is copied before it is written.

    Raises:
        CycleError: Steps wait for each other, which they do not where all is copied.
    """

    def __init__(
        self,
        inputs: Sequence[Node],
        results: Sequence[Node],
        clusters: Clusters,
        *,
        copies_all: bool = False,
    ) -> None:
        self._clusters = clusters
        self._results = results
        self._slots: dict[Node, int] = {}
        self.constants: Final[list[tuple[int, Any]]] = []
        self._given = set(inputs)
        for node in inputs:
            self._slot(node)
        self._stores = Stores(results, self._given, clusters, copies_all=copies_all)
        for node, root in self._stores.roots.items():
            self._slots[node] = self._slot(root)
        self.copied_bytes: Final = self._stores.copied_bytes
        units = self._ordered()
        self.direct: Final[list[tuple[int, int, tuple[int, ...]]]] = []
        self.copied: Final[list[tuple[int, int]]] = []
        direct = self._find_results()
        self.steps: Final = self._read_steps([step for unit in units for step in self._steps(unit)])
        self.parts: Final = [
            Part(self._slots[node], self._slot(root), index)
            for node, (root, index) in self._stores.placed.items()
            if node in self._slots  # an array that is written whole leaves out the writes before
        ]
        self.places, self.size_bytes = self._packed(units, direct)
        self.num_slots: Final = len(self._slots)

    def _slot(self, node: Node) -> int:
        found = self._slots.get(node)
        if found is None:
            found = self._slots[node] = len(self._slots)
            if node.step is None and node not in self._given:
                self.constants.append((found, node.value))
        return found

    def _root(self, node: Node) -> Node:
        """The node in whose memory a node lies."""
        while True:
            if node in self._stores.placed:
                node = self._stores.placed[node][0]
            elif self._stores.roots.get(node, node) is not node:
                node = self._stores.roots[node]
            elif node not in self._clusters.by_node and views_something(node) and node not in self._given:
                node = operands(node)[0]
            else:
                return node

    # Order.

    def _ordered(self) -> list[Any]:
        """Clusters, nodes, and the roots of stores once more, each behind all that it reads."""
        sorter: TopologicalSorter[Any] = TopologicalSorter()
        seen: set[Any] = set()
        left: list[Any] = [self._stores.unit(node) for node in self._results if self._stores.is_made(node)]
        while left:
            unit = left.pop()
            if unit in seen:
                continue
            seen.add(unit)
            needs = self._needs(unit)
            sorter.add(unit, *needs)
            left += needs
        return list(sorter.static_order())

    def _needs(self, unit: Any) -> list[Any]:
        write = self._stores.early_write(unit)
        waits = [] if write is None else [one for one in self._before(write) if one is not unit]
        return self._before(unit) + waits

    def _before(self, unit: Any) -> list[Any]:
        if isinstance(unit, Cluster):
            needed = [self._stores.unit(node) for node in unit.reads if self._stores.is_made(node)]
            roots = [self._stores.placed[node][0] for node in unit.makes if node in self._stores.placed]
            return needed + [_Filling(root) for root in roots if self._stores.unfilled.get(root)]
        if isinstance(unit, _Filling):
            whole = step_of(unit.root).args[0]
            read = [whole] if isinstance(whole, Node) else []
        elif self._is_root(unit):
            read = [one for one in operands(unit) if one is not step_of(unit).args[0]]
        else:
            read = operands(unit)
        needed = [self._stores.unit(one) for one in read if self._stores.is_made(one)]
        if isinstance(unit, Node):
            needed += self._stores.after.get(unit, ())
        return [*needed, _Filling(unit)] if self._stores.unfilled.get(unit) else needed

    def _is_root(self, node: Node) -> bool:
        return self._stores.roots.get(node) is node

    def _steps(self, unit: Any) -> list[Step]:
        if isinstance(unit, Cluster):
            return [KernelStep(unit, [self._slot(node) for node in (*unit.reads, *unit.makes)])]
        if isinstance(unit, _Filling):
            return [StoreStep(self._slot(unit.root), ..., self._argument(step_of(unit.root).args[0]))]
        primitive, args, options = step_of(unit)
        if unit in self._stores.roots:
            _, part, index = args
            if isinstance(part, Node) and part in self._stores.placed:
                return []
            return [StoreStep(self._slot(unit), self._argument(index), self._argument(part))]
        return [
            CallStep(
                primitive.function,
                [self._argument(arg) for arg in args],
                options,
                self._slot(unit),
                writes(unit),
                views_something(unit),
            )
        ]

    def _argument(self, arg: Any) -> Any:
        return each(arg, lambda one: Slot(self._slot(one)) if isinstance(one, Node) else one)

    def _read_steps(self, steps: Sequence[Step]) -> list[Step]:
        """The steps without views that nothing reads, as of what is computed where a result is wanted."""
        read, found = {slot for _, slot in self.copied}, list[Step]()
        for step in reversed(steps):
            if isinstance(step, CallStep) and step.is_view and step.slot not in read:
                continue
            found.insert(0, step)
            if isinstance(step, KernelStep):
                read.update(step.slots)
                continue
            args = step.args if isinstance(step, CallStep) else (Slot(step.slot), step.index, step.value)
            each(tuple(args), lambda one: read.add(one.number) if isinstance(one, Slot) else None)
        return found

    # Memory.

    def _find_results(self) -> dict[Node, int]:
        """Results that are computed where they are wanted: the node whose memory that is, and the number."""
        roots = [self._root(node) for node in self._results]
        found: dict[Node, int] = {}
        for number, (node, root) in enumerate(zip(self._results, roots, strict=True)):
            inner = node
            while inner not in self._clusters.by_node and _is_reshape(inner) and self._stores.is_made(inner):
                inner = operands(inner)[0]
            is_whole = inner is root or self._stores.roots.get(inner) is root
            if is_whole and roots.count(root) == 1 and self._is_planned(root):
                found[root] = number
                self.direct.append((number, self._slot(root), root.value.shape))
            else:
                self.copied.append((number, self._slot(node)))
        return found

    def _is_planned(self, node: Node) -> bool:
        return self._stores.is_made(node) and (
            node in self._clusters.by_node or node in self._stores.roots or writes(node)
        )

    def _packed(self, units: Sequence[Any], direct: dict[Node, int]) -> tuple[list[Place], int]:
        spans: dict[Node, list[int]] = {}
        for time, unit in enumerate(units):
            for node in self._touched(unit):
                root = self._root(node)
                if self._is_planned(root) and root not in direct:
                    spans.setdefault(root, [time, time])[1] = time
        for number, _ in enumerate(self._results):
            root = self._root(self._results[number])
            if root in spans:
                spans[root][1] = len(units)
        shared = self._overwritten(units, spans)
        sizes = [-(-max(node.value.nbytes, 1) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES for node in spans]
        first, last = ([span[i] for span in spans.values()] for i in (0, 1))
        offsets, size_bytes = pack(*(np.array(each_one, np.int64) for each_one in (first, last, sizes)))
        begins = dict(zip(spans, offsets.tolist(), strict=True))
        begins |= {node: begins[root] for node, root in shared.items()}
        return [
            Place(self._slot(node), begin, node.value.shape, node.value.dtype)
            for node, begin in begins.items()
        ], size_bytes

    def _overwritten(self, units: Sequence[Any], spans: dict[Node, list[int]]) -> dict[Node, Node]:
        """Results of kernels that lie where an argument did which nothing needs later; takes their spans."""
        shared: dict[Node, Node] = {}
        for time, unit in enumerate(units):
            taken = set[Node]()
            for i, j in unit.shares if isinstance(unit, Cluster) else ():
                source, made = unit.reads[i], unit.makes[j]
                root = shared.get(source, source)
                is_free = made in spans and root in spans and root not in taken and spans[root][1] == time
                is_whole = self._root(source) is source and self._root(made) is made
                is_whole = is_whole and [self._root(one) for one in unit.reads].count(source) == 1
                if is_free and is_whole and source.value.nbytes == made.value.nbytes:
                    spans[root][1] = spans.pop(made)[1]
                    shared[made] = root
                    taken.add(root)
        return shared

    def _touched(self, unit: Any) -> Iterable[Node]:
        if isinstance(unit, Cluster):
            return [*unit.reads, *unit.makes]
        if isinstance(unit, _Filling):
            return [unit.root, *operands(unit.root)]
        return [unit, *operands(unit)]


class _Filling(NamedTuple):
    """The first contents of an array of which parts are written."""

    root: Any


def _is_reshape(node: Node) -> bool:
    return node.step is not None and node.step.primitive.form == "reshape"
