"""The values of forward that backward reads, and which of them may be computed again."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Final, final

from operad.graph import Graph, Variable
from operad_passes import Repetition, repetition

FORCED: Final = 1 << 60
"""Bytes of a value that may not be kept: more than any other choice can cost."""


@final
class Values:
    """A training graph's values, by entry number; its nodes, by step.

    Attributes:
        graph: The graph, forward and backward.
        end: The first step of backward.
        read: The values of forward that backward reads.
        needed: Those of them that operators made, in the order of forward.
        owners: The step that makes each value of forward.
        forced: The steps that the user wants to run once more.
        kept_bytes: What is kept of them from forward to backward, beside arguments and outputs.
    """

    def __init__(self, graph: Graph, facts: Mapping[str, Any]) -> None:
        self.graph = graph
        self._facts = facts
        self._shapes, types = facts["shapes"].values, facts["types"].values
        bound = graph.outputs[: facts["num_outputs"]]
        self.end = max([graph.node_ids[entry.node] + 1 for entry in bound], default=0)
        first = graph.first_entries[self.end]
        self.owners = [s for s in range(self.end) for _ in range(graph.nodes[s].num_outputs)]
        self.read = {
            entry
            for step in range(self.end, len(graph.nodes))
            for entry in graph.nodes[step].of_read(graph.input_ids[step])
            if entry < first
        }
        made = (entry for entry in self.read if not isinstance(self._node(entry), Variable))
        self.needed = sorted(made)
        self._sizes: list[int] = [prod(self._shapes[entry]) * types[entry].itemsize for entry in range(first)]
        arguments = [
            number for number, node in enumerate(graph.nodes[: self.end]) if isinstance(node, Variable)
        ]
        self._there = {graph.first_entries[number] for number in arguments}
        self._there.update(graph.entry_id(entry) for entry in bound)
        self.forced = {step for step in range(self.end) if self.is_forced(step)}
        self._repetitions: dict[int, Repetition | None] = {}
        self._sources: dict[int, list[int]] = {}
        self.kept_bytes = sum(self.bytes_of(entry) for entry in self.needed if not self.is_there(entry))

    def _node(self, entry: int) -> Any:
        return self.graph.nodes[self.owners[entry]]

    def bytes_of(self, entry: int) -> int:
        """The size of a value."""
        return self._sizes[entry]

    def microseconds(self, step: int) -> float:
        """Time of running a node once more, roughly."""
        return float(self._facts["costs"][step].us)

    def is_product(self, step: int) -> bool:
        """Return whether a node multiplies matrices, or convolves."""
        return bool(self._facts["costs"][step].product_flops)

    def is_forced(self, step: int) -> bool | None:
        """Value of the user's attribute `force_mirroring` of a node; None where there is none."""
        text = self.graph.nodes[step].attrs.get("__force_mirroring__")
        return None if text is None else text.lower() in {"1", "true"}

    def repetition(self, step: int) -> Repetition | None:
        """Way in which a node may run once more; None where it cannot, or the user forbids it."""
        if step not in self._repetitions:
            shapes = [self._shapes[entry] for entry in self.graph.input_ids[step]]
            can_be = self.is_forced(step) is not False
            self._repetitions[step] = repetition(self.graph.nodes[step], shapes) if can_be else None
        return self._repetitions[step]

    def sources(self, step: int) -> list[int]:
        """The values that a node reads when it runs once more, as it must be able to."""
        found = self._sources.get(step)
        if found is None:
            how = self.repetition(step)
            assert how is not None
            found = self._sources[step] = [self.graph.entry_id(entry) for entry in how.inputs]
        return found

    def is_there(self, entry: int) -> bool:
        """Return whether a value lies in the caller's array when backward runs: an argument or output."""
        return entry in self._there

    def may_be_read(self, entry: int, is_careful: bool) -> bool:
        """Return whether backward may come to read a value because something is computed again of it.

        What backward reads must not be overwritten after forward. A careful choice adds no input and no
        output to that, and only those arguments that change after backward alone: the ones with a gradient.
        """
        if not is_careful or entry in self.read or not self.is_there(entry):
            return True
        node = self._node(entry)
        return isinstance(node, Variable) and node.name in self._facts["wanted"]
