"""Partitions, whose nodes may run beside each other, and the segments they are cut into.

One thread runs a partition. A graph without heavy parallel branches has one partition for each context.
Where branches are heavy enough, nodes are dealt to partitions by list scheduling: in order, each goes
where it could start first, by estimated costs; light nodes stay with the input they wait for. The result
is used only if the estimate says that it pays.

A segment is a piece of one partition that waits for other partitions only before it starts and is waited
for only after it ends; so the segments, pushed in the order they are closed, never wait in a circle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final, final

from operad.device import Context
from operad.graph.infer import ShapeTable, TypeTable
from operad.graph.ir import Graph, OpNode, Variable, requirements
from operad.graph.schedule import Schedule
from operad.graph.signature import Memo
from operad.op import Cost, own_cost

_NODE_US: Final = 1.0
"""Cost of a node besides what it computes."""
_HANDOVER_US: Final = 40.0
"""Cost of a wait for another partition."""
_LIGHT_US: Final = 100.0
"""Nodes below this follow the input they wait for."""
_NOTHING: Final = Cost()
_WORTH: Final = 1.25
"""Factor by which partitions must promise to be faster."""


def node_costs(graph: Graph, shapes: ShapeTable, types: TypeTable) -> list[Cost]:
    """For each node, roughly what it computes."""
    costs: list[Cost] = []
    answers: Memo[Cost] = Memo()
    values, first = shapes.values, graph.first_entries
    for number, node in enumerate(graph.nodes):
        cost = _NOTHING
        if isinstance(node, OpNode):
            ins = [values[entry] for entry in graph.input_ids[number][: node.num_args]]
            outs = values[first[number] : first[number + 1]]
            kinds = [types.values[entry] for entry in graph.input_ids[number][: node.num_args]]
            cost = answers.get((node.signature, *ins, *outs, *kinds), own_cost, node.op, ins, outs, kinds)
        costs.append(cost)
    return costs


def estimated(costs: Collection[Cost]) -> Cost:
    """Roughly how long nodes of these costs take, one after another."""
    alike = Counter(costs).items()
    pooled_us = sum([count * cost.pooled_us for cost, count in alike])
    return Cost(beside_us=sum([count * (_NODE_US + cost.us) for cost, count in alike]), pooled_us=pooled_us)


def assign_partitions(
    graph: Graph, contexts: Sequence[Context], costs: Sequence[Cost], num_workers: int
) -> list[int]:
    """A partition for every node, numbered from 0 in each context.

    Args:
        contexts: Where each node runs.
        costs: What each node computes, roughly.
        num_workers: How many partitions a CPU context may have.
    """
    serial = [0] * len(costs)
    heavy = {cost for cost in {*costs} if cost.us > _LIGHT_US}
    if num_workers < 2 or sum([cost in heavy for cost in costs]) < 2:
        return serial
    times = [
        0.0 if isinstance(node, Variable) else estimated([cost]).us
        for node, cost in zip(graph.nodes, costs, strict=True)
    ]
    partitions, makespan = _list_schedule(graph, contexts, times, num_workers)
    return partitions if sum(times) >= _WORTH * makespan else serial


def _list_schedule(
    graph: Graph, contexts: Sequence[Context], times: Sequence[float], num_workers: int
) -> tuple[list[int], float]:
    partitions = [0] * len(times)
    finish = [0.0] * len(times)
    free: dict[tuple[Context, int], float] = {}
    for number, node in enumerate(graph.nodes):
        if isinstance(node, Variable):
            continue
        ctx = contexts[number]
        needed = [graph.node_ids[other] for other in requirements(node) if not isinstance(other, Variable)]
        last = max(needed, key=finish.__getitem__, default=None)
        choices = range(1 if ctx.is_gpu else num_workers)
        if last is not None and contexts[last] is ctx and times[number] < _LIGHT_US:
            choices = range(partitions[last], partitions[last] + 1)

        def start(partition: int, ctx: Context = ctx, needed: Sequence[int] = needed) -> float:
            arrival = [
                finish[n] + (0.0 if (contexts[n], partitions[n]) == (ctx, partition) else _HANDOVER_US)
                for n in needed
            ]
            return max([free.get((ctx, partition), 0.0), *arrival])

        partition = min(choices, key=start)
        begin = start(partition)
        partitions[number] = partition
        finish[number] = free[ctx, partition] = begin + times[number]
    return partitions, max(finish, default=0.0)


def cut(schedule: Schedule, node_ids: Iterable[int]) -> list[list[int]]:
    """The nodes as segments, in the order to push them."""
    if len(schedule.partition_contexts) < 2:
        found = [node_id for node_id in node_ids if schedule.partitions[node_id] >= 0]
        return [found] if found else []
    return _Cut(schedule, node_ids).segments


@final
class _Cut:
    """Segments while they are being made."""

    def __init__(self, schedule: Schedule, node_ids: Iterable[int]) -> None:
        self.segments: list[list[int]] = []
        self._schedule = schedule
        self._open: dict[int, list[int]] = {}
        self._born: dict[int, int] = {}
        self._closed_at: dict[int, int] = {}
        own = set(node_ids)
        for node_id in sorted(own):
            if schedule.partitions[node_id] >= 0:
                self._add(node_id, own)
        for partition in list(self._open):
            self._close(partition)

    def _add(self, node_id: int, own: set[int]) -> None:
        partitions, graph = self._schedule.partitions, self._schedule.graph
        partition = partitions[node_id]
        needed = {graph.node_ids[node] for node in requirements(graph.nodes[node_id])} & own
        foreign = [n for n in needed if partitions[n] not in {partition, -1}]
        for other in foreign:
            if other not in self._closed_at:
                self._close(partitions[other])
        # invariant: what a segment waits for was closed before the segment began
        if partition in self._open and any(self._closed_at[n] >= self._born[partition] for n in foreign):
            self._close(partition)
        if partition not in self._open:
            self._open[partition] = []
            self._born[partition] = len(self.segments)
        self._open[partition].append(node_id)

    def _close(self, partition: int) -> None:
        segment = self._open.pop(partition)
        self._closed_at.update(dict.fromkeys(segment, len(self.segments)))
        self.segments.append(segment)
