"""Operators that stand for several nodes of the graph that a user built."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from operad.graph.ir import Entry, OpNode
from operad.op import OperatorProperty


class Composite(OperatorProperty):
    """An operator that a pass has put in the place of others.

    Attributes:
        members: The nodes that it stands for, in order.
    """

    members: Sequence[OpNode]

    @abstractmethod
    def member_values(self, inputs: Sequence[Any]) -> Mapping[Entry, Any]:
        """Values that its members read and write, as arrays: for monitors, which show the user's own nodes.

        Args:
            inputs: Arrays of its own inputs, which are final.
        """
