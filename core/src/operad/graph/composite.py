"""Operators that stand for several nodes of the graph that a user built."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

from operad.graph.ir import Entry, OpNode
from operad.op import OperatorProperty, Shape


@final
class CompositeReport(NamedTuple):
    """Account of one operator that stands in the place of several nodes.

    Attributes:
        members: Names of the nodes.
        saved_bytes: Size of what they make that is neither written nor read any more.
        compiled_s: Seconds that its kernel took to compile, or to be found in a cache.
        neighbours: Nodes that read of the members or that these read, and why they are not among them.
    """

    members: list[str]
    saved_bytes: int
    compiled_s: float
    neighbours: dict[str, str]

    def __str__(self) -> str:
        count = "1 node" if len(self.members) == 1 else f"{len(self.members)} nodes"
        names = f"{count} ({', '.join(self.members)})"
        saved = f"{self.saved_bytes} bytes neither written nor read"
        head = f"{names}; {saved}; {self.compiled_s * 1e3:.0f} ms to compile"
        return "\n".join([head, *(f"  not {name}: {reason}" for name, reason in self.neighbours.items())])


class Composite(OperatorProperty):
    """An operator that a pass has put in the place of others.

    Attributes:
        members: The nodes that it stands for, in order.
        member_outputs: Outputs of the members that its own outputs are.
        passed_over: Nodes between the members and what these read: their outputs are read as parts of arrays.
    """

    members: Sequence[OpNode]
    member_outputs: Sequence[Entry]
    passed_over: Sequence[OpNode] = ()

    @abstractmethod
    def member_values(self, inputs: Sequence[Any]) -> Mapping[Entry, Any]:
        """Values that its members read and write, as arrays: for monitors, which show the user's own nodes.

        Also what nodes give that it passes over, as it reads their arrays where they are.

        Args:
            inputs: Arrays of its own inputs, which are final.
        """

    @abstractmethod
    def about(self, in_shapes: Sequence[Shape]) -> CompositeReport:
        """Account of the members, of what they save, and of why neighbours are no members."""
