"""Which nodes may run beside which: lanes, and the segments they are cut into.

One thread runs a lane. A graph without heavy parallel branches has one lane for each context. Where
branches are heavy enough, nodes are dealt to lanes by list scheduling: in order, each goes where it
could start first, by estimated costs; light nodes stay with the input they wait for. The result is
used only if the estimate says that it pays.

A segment is a piece of one lane that waits for other lanes only before it starts and is waited for
only after it ends; so the segments, pushed in the order they are closed, never wait in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, final

from operad.context import Context
from operad.graph import BackwardNode, Node, Variable

_US_PER_COST: Final = 5e-4
"""Microseconds a unit of `OperatorProperty.cost` takes, roughly: one float of a NumPy loop."""
_HANDOVER_US: Final = 40.0
"""What it costs to wait for another lane."""
_LIGHT_US: Final = 100.0
"""Nodes below this follow the input they wait for."""
_WORTH: Final = 1.25
"""How many times faster lanes must promise to be."""


def assign_lanes(
    nodes: Sequence[Node],
    contexts: Mapping[Node, Context],
    cost: Callable[[Node], float],
    num_workers: int,
) -> dict[Node, int]:
    """A lane for every node, numbered from 0 in each context.

    Args:
        nodes: All nodes, in running order.
        contexts: Where each node runs.
        cost: Rough number of scalar operations of a node.
        num_workers: How many lanes a CPU context may have.
    """
    serial = dict.fromkeys(nodes, 0)
    if num_workers < 2:
        return serial
    times = {node: 1.0 + _US_PER_COST * cost(node) for node in nodes}
    if sum(time > _LIGHT_US for time in times.values()) < 2:
        return serial
    lanes, makespan = _list_schedule(nodes, contexts, times, num_workers)
    return lanes if sum(times.values()) >= _WORTH * makespan else serial


def _list_schedule(
    nodes: Sequence[Node], contexts: Mapping[Node, Context], times: Mapping[Node, float], num_workers: int
) -> tuple[dict[Node, int], float]:
    lanes: dict[Node, int] = {}
    finish: dict[Node, float] = {}
    free: dict[tuple[Context, int], float] = {}
    for node in nodes:
        ctx = contexts[node]
        needed = [needs for needs in requirements(node) if needs in finish]
        last = max(needed, key=finish.__getitem__, default=None)
        choices = range(1 if ctx.is_gpu else num_workers)
        if last is not None and contexts[last] is ctx and times[node] < _LIGHT_US:
            choices = range(lanes[last], lanes[last] + 1)

        def start(lane: int, ctx: Context = ctx, needed: Sequence[Node] = needed) -> float:
            arrival = [
                finish[n] + (0.0 if (contexts[n], lanes[n]) == (ctx, lane) else _HANDOVER_US) for n in needed
            ]
            return max([free.get((ctx, lane), 0.0), *arrival])

        lane = min(choices, key=start)
        begin = start(lane)
        lanes[node] = lane
        finish[node] = free[ctx, lane] = begin + times[node]
    return lanes, max(finish.values(), default=0.0)


def requirements(node: Node) -> list[Node]:
    """The nodes that must run before `node`."""
    needed = [entry.node for entry in node.inputs if not isinstance(entry.node, Variable)]
    needed += node.control_deps
    if isinstance(node, BackwardNode):
        needed.append(node.forward)
    return needed


def cut(
    nodes: Sequence[Node], contexts: Mapping[Node, Context], lanes: Mapping[Node, int]
) -> list[list[Node]]:
    """Segments, in the order to push them."""
    return _Cut(nodes, contexts, lanes).segments


@final
class _Cut:
    """Segments while they are being made."""

    def __init__(
        self, nodes: Sequence[Node], contexts: Mapping[Node, Context], lanes: Mapping[Node, int]
    ) -> None:
        self.segments: list[list[Node]] = []
        self._lane_of = {node: (contexts[node], lanes[node]) for node in nodes}
        self._open: dict[tuple[Context, int], list[Node]] = {}
        self._born: dict[tuple[Context, int], int] = {}
        self._closed_at: dict[Node, int] = {}
        for node in nodes:
            self._add(node)
        for lane in list(self._open):
            self._close(lane)

    def _add(self, node: Node) -> None:
        lane = self._lane_of[node]
        foreign = [n for n in requirements(node) if self._lane_of.get(n, lane) != lane]
        for needed in foreign:
            if needed not in self._closed_at:
                self._close(self._lane_of[needed])
        # invariant: what a segment waits for was closed before the segment began
        if lane in self._open and any(self._closed_at[n] >= self._born[lane] for n in foreign):
            self._close(lane)
        if lane not in self._open:
            self._open[lane] = []
            self._born[lane] = len(self.segments)
        self._open[lane].append(node)

    def _close(self, lane: tuple[Context, int]) -> None:
        segment = self._open.pop(lane)
        self._closed_at.update(dict.fromkeys(segment, len(self.segments)))
        self.segments.append(segment)
