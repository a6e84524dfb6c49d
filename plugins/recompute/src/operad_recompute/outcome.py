"""Outcome of a choice: the graph, what it will need, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, final

from operad.graph import Graph, planned_bytes
from operad_passes import numbers, tables
from operad_recompute.choice import Stretch
from operad_recompute.rewriting import mirrored
from operad_recompute.values import Values

Facts = Mapping[str, Any]


@final
class Outcome(NamedTuple):
    """A graph with recomputation.

    Attributes:
        graph: The graph.
        entries: For each of its entries the number of that of the old graph which it is like.
        planned_bytes: What it will need, roughly.
        us: How long what is computed again takes, roughly, in microseconds.
    """

    graph: Graph
    entries: Sequence[int]
    planned_bytes: int
    us: float


def outcome(values: Values, facts: Facts, stretches: Iterable[Stretch]) -> Outcome:
    """Outcome of computing the values of some stretches again."""
    chosen = list(stretches)
    graph, origins = mirrored(values, chosen)
    entries, nodes = numbers(graph, origins, values.graph)
    contexts = [facts["contexts"][number] for number in nodes]
    new = {**facts, **tables(graph, entries, facts), "contexts": contexts}
    return Outcome(graph, entries, planned_bytes(graph, new), microseconds(values, chosen))


def microseconds(values: Values, stretches: Iterable[Stretch]) -> float:
    """Time of what is computed again, roughly."""
    return sum(values.microseconds(step) for stretch in stretches for step in stretch.steps)
