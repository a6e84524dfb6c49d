"""Nodes that use the entries of a graph, and whether somebody outside of a cluster needs what it makes."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import final

from operad.first_use import cached_property
from operad.graph import Entry, Graph, Node


@final
class Uses:
    """Readers of each entry of a graph; the tables are made when they are asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def is_wanted(self, entry: Entry, own: Container[Node] = ()) -> bool:
        """Return whether an entry is an output of the graph, or is read by a node that is not in `own`."""
        readers = self._readers.get(entry, ())
        return entry in self._outputs or any(reader not in own for reader in readers)

    def takers(self, entry: Entry) -> Sequence[Node]:
        """Nodes that have an entry as an input, be it for its shape alone."""
        return self._takers.get(entry, ())

    @cached_property
    def _outputs(self) -> set[Entry]:
        return set(self._graph.outputs)

    @cached_property
    def _readers(self) -> dict[Entry, list[Node]]:
        """Nodes that read the value of an entry."""
        return self._by_entry(lambda node: node.of_read(node.inputs))

    @cached_property
    def _takers(self) -> dict[Entry, list[Node]]:
        return self._by_entry(lambda node: node.inputs)

    def _by_entry(self, inputs_of: Callable[[Node], Sequence[Entry]]) -> dict[Entry, list[Node]]:
        found: dict[Entry, list[Node]] = {}
        for node in self._graph.nodes:
            for entry in inputs_of(node):
                found.setdefault(entry, []).append(node)
        return found
