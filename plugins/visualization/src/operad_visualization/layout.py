"""Positions of a network's nodes in a picture: in layers, with few crossings.

A node's layer is the length of the longest path that leads to it; a variable is in the layer before its first
use. An edge that passes layers gets a position in each. Neighbours then pull on each other: a few sweeps
through the layers sort each by the mean position of its neighbours, and a few more move nodes there, as far
as those beside them allow.

Source: Sugiyama, Tagawa and Toda, "Methods for visual understanding of hierarchical system structures", 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, final

_SWEEPS: Final = 8
_THIN: Final = 0.25
"""Width that an edge takes in a layer that it passes; that of a node is 1."""
_LONGEST: Final = 40
"""Layers that an edge may pass; a longer one is a straight line, as of a weight that hundreds share."""


@final
@dataclass(frozen=True, slots=True)
class Drawing:
    """Positions of nodes and edges. The first layer is 0; a node is as wide as 1.

    Attributes:
        nodes: Position and layer of each node.
        edges: For each edge, the positions and layers that it passes, its ends included.
        width: The greatest position.
        height: Number of layers.
    """

    nodes: Sequence[tuple[float, int]]
    edges: Sequence[Sequence[tuple[float, int]]]
    width: float
    height: int


def arranged(count: int, edges: Sequence[tuple[int, int]]) -> Drawing:
    """The layout of `count` nodes, numbered so that every edge leads to a greater number."""
    layers = _layers(count, edges)
    paths = []
    for source, target in edges:
        passed = range(layers[source] + 1, layers[target])
        passed = passed if len(passed) <= _LONGEST else range(0)
        paths.append([source, *range(len(layers), len(layers) + len(passed)), target])
        layers += passed
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for number, layer in enumerate(layers):
        rows[layer].append(number)
    before: list[list[int]] = [[] for _ in layers]
    after: list[list[int]] = [[] for _ in layers]
    for path in paths:
        for one, other in pairwise(path):
            before[other].append(one)
            after[one].append(other)
    widths = [1.0] * count + [_THIN] * (len(layers) - count)
    positions = _positions(rows, before, after, widths)
    points = list(zip(positions, layers, strict=True))
    return Drawing(
        points[:count], [[points[n] for n in path] for path in paths], max(positions, default=0.0), len(rows)
    )


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    layers = [0] * count
    for source, target in sorted(edges, key=lambda edge: edge[1]):
        layers[target] = max(layers[target], layers[source] + 1)
    targets = {target for _, target in edges}
    first_use: dict[int, int] = {}
    for source, target in edges:
        first_use[source] = min(layers[target], first_use.get(source, layers[target]))
    for node, use in first_use.items():
        if node not in targets:
            layers[node] = use - 1
    return layers


def _positions(
    rows: list[list[int]],
    before: Sequence[Sequence[int]],
    after: Sequence[Sequence[int]],
    widths: Sequence[float],
) -> list[float]:
    positions = [0.0] * len(widths)
    for row in rows:
        _spread(row, [float(i) for i in range(len(row))], widths, positions)
    for moves_only in (False, True):
        for sweep in range(_SWEEPS):
            is_down = sweep % 2 == 0
            for row in rows if is_down else reversed(rows):
                wanted = [_mean(before[n] if is_down else after[n], positions, positions[n]) for n in row]
                if not moves_only:
                    order = sorted(range(len(row)), key=wanted.__getitem__)
                    row[:], wanted = [row[i] for i in order], [wanted[i] for i in order]
                _spread(row, wanted, widths, positions)
    left = min(positions, default=0.0)
    return [position - left for position in positions]


def _mean(numbers: Sequence[int], positions: Sequence[float], otherwise: float) -> float:
    return sum(positions[number] for number in numbers) / len(numbers) if numbers else otherwise


def _spread(
    row: Sequence[int], wanted: Sequence[float], widths: Sequence[float], positions: list[float]
) -> None:
    """Put a row's nodes near where they are wanted, in their order, and clear of each other."""
    gaps = [(widths[one] + widths[other]) / 2 for one, other in pairwise(row)]
    right, left = list(wanted), list(wanted)
    for i, gap in enumerate(gaps):
        right[i + 1] = max(right[i + 1], right[i] + gap)
    for i in reversed(range(len(gaps))):
        left[i] = min(left[i], left[i + 1] - gaps[i])
    for node, one, other in zip(row, right, left, strict=True):
        positions[node] = (one + other) / 2  # both keep the gaps, and so does their mean
