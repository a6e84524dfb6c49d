"""Arguments whose numbers their operators fix, such as gamma under `fix_gamma`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from operad.graph import Graph, Variable
from operad.imperative import Versions
from operad.ndarray import NDArray


@final
class FixedArguments:
    """Keeps the arrays of fixed arguments at their numbers.

    Args:
        graph: Whose operators say them.
        arrays: The executor's arguments, by name.
    """

    def __init__(self, graph: Graph, arrays: Mapping[str, NDArray]) -> None:
        self._numbers = _numbers(graph)
        self._arrays = {name: arrays[name] for name in self._numbers}
        self._since: Versions | None = None

    def write(self) -> None:
        """Write the numbers, if something else may have been written since they were."""
        if not self._numbers or (self._since is not None and self._since.first_changed() is None):
            return
        for name, number in self._numbers.items():
            self._arrays[name][...] = number
        self._since = Versions(list(self._arrays.values()))


def _numbers(graph: Graph) -> dict[str, float]:
    return {
        entry.node.name: number
        for node in graph.op_nodes
        for name, number in node.op.fixed_arguments().items()
        if isinstance((entry := node.inputs[node.op.list_inputs().index(name)]).node, Variable)
        and entry.node in graph.arguments
    }
