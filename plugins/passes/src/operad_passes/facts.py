"""Facts about a graph that was made of another, node by node, carried over rather than found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    entries, nodes = numbers(graph, origins, facts["shapes"].graph)
    return {**tables(graph, entries, facts), "contexts": [facts["contexts"][number] for number in nodes]}


def numbers(graph: Graph, origins: Mapping[Node, Node], old: Graph) -> tuple[list[int], list[int]]:
    """For each entry and for each node of a graph the number of that of the old one which it is like."""
    nodes = [old.node_ids[origins.get(node, node)] for node in graph.nodes]
    firsts = [old.first_entries[number] for number in nodes]
    spans = [range(first, first + node.num_outputs) for first, node in zip(firsts, graph.nodes, strict=True)]
    return [entry for span in spans for entry in span], nodes


def tables(graph: Graph, entries: Sequence[int], facts: Mapping[str, Any]) -> dict[str, Any]:
    """`shapes` and `types` of a graph.

    Args:
        entries: For each of its entries the number of that of the old graph which it is like.
        facts: The two of the old graph.
    """
    old = [facts[name].values for name in ("shapes", "types")]
    shapes, types = ([values[number] for number in entries] for values in old)
    return {"shapes": ShapeTable(graph, shapes, True), "types": ShapeTable(graph, types, True)}
