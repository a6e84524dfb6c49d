"""Copies of steps for arrays of which some axes are shorter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

import numpy as np

from operad_sdk.differentiate import PROGRAM, Node
from operad_sdk.differentiate.dispatch import each
from operad_sdk.differentiate.made_up import noted, zeros
from operad_sdk.differentiate.tracing import AppliedPrimitive
from operad_sdk.differentiate.walk import nodes_of


@final
class GraphCopy:
    """Copies of steps, for tiles of a length.

    Attributes:
        sources: What the copies are given in the place of nodes.

    Args:
        given: Nodes that are not computed.
        parts: Axes that a tile has a part of, by node, and the length of the part.
    """

    def __init__(self, given: set[Node], parts: Sequence[tuple[dict[Node, int], int]]) -> None:
        self._given, self._parts = given, parts
        self._copies: dict[Node, Node] = {}
        self.sources: Final[dict[Node, Node]] = {}

    def of(self, node: Node) -> Node:
        """The copy of a node, behind those of all that it reads."""
        for one in sorted(self._behind(node), key=lambda one: one.number):
            self._copies[one] = self._made(one)
        return self._copies[node]

    def _behind(self, node: Node) -> list[Node]:
        found, left = dict[Node, None](), [node]
        while left:
            one = left.pop()
            if one not in self._copies and one not in found:
                found[one] = None
                left += nodes_of(one.step.args) if one.step is not None and one not in self._given else ()
        return list(found)

    def _made(self, node: Node) -> Node:
        is_part = False
        shape = list(node.value.shape)
        for axes, length in self._parts:
            if node in axes:
                shape[axes[node]], is_part = length, True
        if node in self._given or (node.step is None and is_part):
            made = Node(PROGRAM, zeros(tuple(shape), node.value.dtype), is_input=True)
            self.sources[node] = made
            return made
        if node.step is None:
            return node
        primitive, args, options = node.step
        if primitive.form in ("reshape", "broadcast"):
            args = (args[0], tuple(shape))
        args = [each(arg, lambda one: self._copies[one] if isinstance(one, Node) else one) for arg in args]
        with np.errstate(all="ignore"):
            return noted(AppliedPrimitive(primitive, args, options))
