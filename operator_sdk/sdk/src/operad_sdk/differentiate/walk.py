"""Walks over the nodes of a trace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from operad_sdk.differentiate.tracing import Node


def nodes_of(args: Any) -> Iterator[Node]:
    """The nodes among arguments, and inside lists of them."""
    for arg in args:
        if isinstance(arg, Node):
            yield arg
        elif type(arg) in (list, tuple):
            yield from nodes_of(arg)


def behind(nodes: Sequence[Node], inside: Collection[Node] | None = None) -> set[Node]:
    """The nodes, and all nodes from which they were computed; of those `inside`, where they are given."""
    found: set[Node] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found and (inside is None or node in inside):
            found.add(node)
            left += nodes_of(node.step.args) if node.step else ()
    return found
