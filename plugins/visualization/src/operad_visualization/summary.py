"""A network as a table: layers, shapes, numbers of parameters.

Source: print_summary, python/mxnet/visualization.py. Differs: parameters are what the shapes say, for every
operator, and each is counted once, at its first use; all inputs have a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

from operad import Symbol
from operad.errors import ArgumentError
from operad_visualization.network import Node, Shape, nodes_of, product

_HEAD: Final = ("Layer (type)", "Output Shape", "Param #", "Previous Layer")
POSITIONS: Final = (0.44, 0.64, 0.74, 1.0)


@final
class Table(str):
    """Text that a console shows as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def print_summary(
    symbol: Symbol,
    shape: Mapping[str, Shape] | None = None,
    line_length: int = 120,
    positions: Sequence[float] = POSITIONS,
) -> None:
    """Print a network's layers, the shapes of their outputs, and how many parameters they have.

    Args:
        symbol: The network.
        shape: Shapes of the inputs by name; None: shapes and numbers stay unknown.
        line_length: Characters in a line.
        positions: Where the columns end: parts of a line, or characters.

    Raises:
        ArgumentError: `symbol` is no symbol, or there are not four positions that rise.
        ShapeError: Not all shapes follow from those given.
    """
    print(_table(symbol, shape, line_length, positions))  # noqa: T201 - what it is for


def summary(
    symbol: Symbol, line_length: int = 120, positions: Sequence[float] = POSITIONS, **shapes: Any
) -> Table:
    """Text that `print_summary` prints.

    Args:
        symbol: The network.
        line_length: Characters in a line.
        positions: Where the columns end: parts of a line, or characters.
        shapes: Shapes of the inputs; none: shapes and numbers stay unknown.
    """
    return _table(symbol, shapes or None, line_length, positions)


def _table(
    symbol: Symbol, shape: Mapping[str, Shape] | None, line_length: int, positions: Sequence[float]
) -> Table:
    ends = _ends(line_length, positions)
    nodes = nodes_of(symbol, shape, what="print_summary")
    rule, lines, total = "_" * line_length, [], 0
    for fields, count in _rows(nodes, shape):
        lines += [*fields, rule]
        total += count
    del lines[-1:]
    head = [rule, _line(_HEAD, ends), "=" * line_length]
    body = [line if line is rule else _line(line, ends) for line in lines]
    return Table("\n".join([*head, *body, "=" * line_length, f"Total params: {total}", rule]))


def _rows(
    nodes: Sequence[Node], shape: Mapping[str, Shape] | None
) -> Iterator[tuple[list[Sequence[str]], int]]:
    """The lines of each layer, and its number of parameters."""
    counted: set[int] = set()
    for node in nodes:
        if not node.op and not _is_input(node, shape):
            continue
        learned = {
            number
            for number, _ in node.inputs
            if not (nodes[number].op or _is_input(nodes[number], shape))
            and not (nodes[number].is_fed or nodes[number].is_state)
        }
        count = sum(math.prod(nodes[number].shapes[0]) for number in learned - counted) if shape else 0
        counted |= learned
        sources = [nodes[n].name for n, _ in node.inputs if nodes[n].op or _is_input(nodes[n], shape)]
        kind = f"{node.name}({node.op or 'null'})"
        out = product(node.shapes[0]) if node.shapes else ""
        first, *others = sources or [""]
        yield [(kind, out, str(count), first), *(("", "", "", other) for other in others)], count


def _is_input(node: Node, shape: Mapping[str, Shape] | None) -> bool:
    """Return whether a variable is given to a network, and not learned."""
    if node.op or node.looks_learned:
        return False
    return not node.is_fed if shape is None else node.name in shape


def _ends(line_length: int, positions: Sequence[float]) -> list[int]:
    ends = [int(line_length * end) if positions[-1] <= 1 else int(end) for end in positions]
    if len(ends) != len(_HEAD) or ends != sorted(ends):
        raise ArgumentError(f"print_summary: positions are {positions!r}, expected {len(_HEAD)} that rise")
    return ends


def _line(fields: Sequence[str], ends: Sequence[int]) -> str:
    line = ""
    for field, end in zip(fields, ends, strict=True):
        line = (line + field)[:end].ljust(end)
    return line.rstrip()
