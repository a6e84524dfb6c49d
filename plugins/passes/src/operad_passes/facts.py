"""Facts about a graph that was made of another, node by node, carried over rather than found again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from operad.graph import Graph, Node, ShapeTable


def carried(graph: Graph, origins: Mapping[Node, Node], facts: Mapping[str, Any]) -> dict[str, Any]:
    """`shapes`, `types` and `contexts` of a graph that was made of another.

    Args:
        graph: The new graph.
        origins: For each of its nodes that is not one of the old graph, a node of that whose first outputs
            are like this one's.
        facts: The three of the old graph.
    """
    old = facts["shapes"].graph
    numbers = [old.node_ids[origins.get(node, node)] for node in graph.nodes]
    firsts = [old.first_entries[number] for number in numbers]
    spans = [slice(first, first + node.num_outputs) for first, node in zip(firsts, graph.nodes, strict=True)]
    found: dict[str, Any] = {"contexts": [facts["contexts"][number] for number in numbers]}
    for name in ("shapes", "types"):
        values = facts[name].values
        found[name] = ShapeTable(graph, [value for span in spans for value in values[span]], is_complete=True)
    return found
