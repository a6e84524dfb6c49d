"""Walks over the nodes of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from operad_sdk.differentiate.tracing import Node


def nodes_of(args: Any) -> Iterator[Node]:
    """The nodes among arguments, and inside lists of them."""
    for arg in args:
        if isinstance(arg, Node):
            yield arg
        elif type(arg) in (list, tuple):
            yield from nodes_of(arg)


def behind(nodes: Sequence[Node]) -> set[Node]:
    """The nodes, and all nodes from which they were computed."""
    found: set[Node] = set()
    left = list(nodes)
    while left:
        node = left.pop()
        if node not in found:
            found.add(node)
            left += nodes_of(node.step.args) if node.step else ()
    return found
