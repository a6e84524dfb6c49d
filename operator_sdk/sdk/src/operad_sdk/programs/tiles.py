"""Programs that are walked in tiles along one axis, so that large arrays between products never exist whole.

Attention has one score for each query and key: it multiplies, computes rows, and multiplies again. Rows of
scores know nothing of each other, so a program of some queries gives their rows of the output, and a product
that sums over queries (the gradients of keys and values) is the sum of those of the tiles. Nothing here knows
attention: axes that elements, views, reductions and products carry from array to array are one *class*, and a
class is walked along where each step that touches it computes its positions apart, or sums over all of them.
The program of a tile is like any other, of shorter arrays: its kernels are those of the whole, and its memory
is planned.

Refused: a softmax that is corrected as keys come in, which no author writes. Rows of scores are whole, so a
tile has as many elements as there are keys, times the rows in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import OpContext
from operad_sdk.differentiate import Node
from operad_sdk.differentiate.walk import behind
from operad_sdk.programs.axes import AFTER, BEFORE, SUM, Cut, Graph
from operad_sdk.programs.copies import GraphCopy
from operad_sdk.programs.matrices import MatrixProgram, MatrixTile, by_matrices, run_matrices
from operad_sdk.programs.program import Program, pooled
from operad_sdk.programs.seen import Seen, seen_columns
from operad_sdk.vector import KeptLoops

_LEAST_BYTES: Final = 1 << 23
"""Memory between the steps of a program from which tiles are tried: more than a core's own caches hold."""
_TILE_BYTES: Final = 1 << 22
"""Memory that a tile is to have."""
_LEAST_ROWS: Final = 32
"""Rows of a matrix; fewer are no faster to multiply."""
_MOST_TILES: Final = 128
"""Tiles whose sums are added one after another, as accuracy allows."""
_LARGEST_SHARE: Final = 0.5
"""Memory of a walk, over that of the whole program, above which the whole is computed at once."""

_LEAST_MASKED_BYTES: Final = 1 << 20
"""Memory between the steps of a program from which columns that no row sees are left out."""
_LEAST_MASKED_ROWS: Final = 64
_MASKED_TILES: Final = 8
_LARGEST_MASKED_SHARE: Final = 0.8
"""Share of the columns that tiles compute, above which none is left out."""

AnyProgram: TypeAlias = "Program | TiledProgram | MatrixProgram"


@final
class TiledProgram:
    """A program whose steps are computed for some positions of a class of axes at a time.

    Attributes:
        specs: Shape and type of each result.
        size_bytes: Memory between steps.
        num_rows: Positions in a tile; the last may have fewer.
    """

    def __init__(
        self, graph: Graph, cut: Cut, num_rows: int, *, always: bool, seen: Seen | None = None
    ) -> None:
        self._graph, self._cut, self.num_rows = graph, cut, num_rows
        self._always, self._seen = always, seen
        self._programs: dict[tuple[int, int], tuple[list[Node], AnyProgram]] = {}
        self.specs = [(node.value.shape, node.value.dtype) for node in graph.results]
        kinds = cut.kinds
        self._of_tiles = graph.of_tiles(cut)
        self._late = [node for node in graph.results if kinds.get(node, BEFORE) in (BEFORE, AFTER)]
        self._hoisted = cut.hoisted(self._of_tiles)
        self._before = Program(graph.inputs, self._hoisted, always=always) if self._hoisted else None
        self._after = self._made(self._late, None) if self._late else None
        self._numbers: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._loops = KeptLoops()
        # A tile that computes all columns goes first, so that sums begin with what it writes.
        begins = range(0, cut.length, num_rows)
        every = [i for i in begins if seen is None or seen.spans[i // num_rows] == slice(0, seen.length)]
        self._is_begun = bool(every)
        self._order = sorted(begins, key=lambda begin: begin not in every[:1])
        # What runs may not compile.
        made = [self._tile(begin)[1] for begin in range(0, cut.length, num_rows)]
        tile = max(made, key=lambda program: program.size_bytes)
        sums = [node for node in self._of_tiles if kinds[node] == SUM]
        self.size_bytes: int = (
            tile.size_bytes
            + sum(node.value.nbytes for node in (*sums, *self._hoisted))
            + sum(dtype.itemsize * prod(shape) for shape, dtype in tile.specs)
            + (self._after[1].size_bytes if self._after else 0)
        )

    def explained(self) -> str:
        """The steps in words."""
        steps = self._tile(0)[1].explained()
        after = f", then {self._after[1].explained()}" if self._after else ""
        seen = f", {self._seen.share:.0%} of the columns" if self._seen else ""
        return f"in tiles of {self.num_rows}{seen}: {steps}{after}"

    def run(
        self, op_ctx: OpContext, arrays: Sequence[NDArray[Any]], wanted: tuple[int, ...],
        targets: Sequence[NDArray[Any]],
    ) -> None:  # fmt: skip
        """Compute some results; as `Program.run`."""
        numbers = self._needed(wanted)
        of_tiles = [self._of_tiles[number] for number in numbers]
        asked = {self._graph.results[number]: out for number, out in zip(wanted, targets, strict=True)}
        found = dict(zip(self._graph.inputs, arrays, strict=True))
        found |= {node: asked[node] for node in of_tiles if node in asked}
        beside = [*self._hoisted, *(node for node in of_tiles if node not in asked)]
        with pooled([(node.value.shape, node.value.dtype) for node in beside]) as made:
            found |= dict(zip(beside, made, strict=True))
            self._run(op_ctx, arrays, wanted, targets, numbers, found)

    def _run(
        self, op_ctx: OpContext, arrays: Sequence[NDArray[Any]], wanted: tuple[int, ...],
        targets: Sequence[NDArray[Any]], numbers: tuple[int, ...], found: dict[Node, NDArray[Any]],
    ) -> None:  # fmt: skip
        results = self._graph.results
        if self._before is not None:
            outs = [found[node] for node in self._hoisted]
            self._before.run(op_ctx, arrays, tuple(range(len(outs))), outs)
        for number in numbers:
            if self._cut.kinds[node := self._of_tiles[number]] == SUM and not self._is_begun:
                found[node][...] = 0
        if numbers and not self._run_by_matrices(op_ctx, numbers, found):
            for begin in self._order:
                self._run_tile(op_ctx, begin, numbers, found)
        if self._after is not None:
            sources, program = self._after
            late = [number for number in wanted if results[number] in self._late]
            given = [found.get(node, node.value) for node in sources]
            outs = [targets[wanted.index(number)] for number in late]
            program.run(op_ctx, given, tuple(self._late.index(results[number]) for number in late), outs)
        for number, target in zip(wanted, targets, strict=True):
            if results[number] not in self._late and found[results[number]] is not target:
                target[...] = found[results[number]]

    def _needed(self, wanted: tuple[int, ...]) -> tuple[int, ...]:
        """The numbers of what tiles compute for some results."""
        found = self._numbers.get(wanted)
        if found is None:
            needed = behind([self._graph.results[number] for number in wanted])
            found = tuple([i for i, node in enumerate(self._of_tiles) if node in needed])
            self._numbers[wanted] = found
        return found

    def _run_tile(
        self, op_ctx: OpContext, begin: int, numbers: tuple[int, ...], found: dict[Node, NDArray[Any]]
    ) -> None:
        sources, program = self._tile(begin)
        given = [self._part(node, found.get(node, node.value), begin) for node in sources]
        with pooled([program.specs[number] for number in numbers]) as outs:
            program.run(op_ctx, given, numbers, outs)
            for number, out in zip(numbers, outs, strict=True):
                self._put(self._of_tiles[number], out, begin, found)

    def _run_by_matrices(
        self, op_ctx: OpContext, numbers: tuple[int, ...], found: dict[Node, NDArray[Any]]
    ) -> bool:
        """Compute for each matrix all tiles, each where its results belong, if that is possible."""
        nodes = [self._of_tiles[number] for number in numbers]
        sums = frozenset([i for i, node in zip(numbers, nodes, strict=True) if self._cut.kinds[node] == SUM])
        tiles, whole = list[MatrixTile](), [found[node] for node in nodes]
        for begin in self._order:
            sources, program = self._tile(begin)
            if not isinstance(program, MatrixProgram):
                return False
            given = [found.get(node, node.value) for node in sources]
            parts = [self._part(node, array, begin) for node, array in zip(sources, given, strict=True)]
            for node in nodes:
                self._put_tail(node, begin, found)
            outs = [self._part(node, found[node], begin) for node in nodes]
            adds = frozenset() if self._is_first(begin) else sums
            tiles.append(MatrixTile(program, parts, numbers, outs, adds))
            whole += given
        return bool(tiles) and run_matrices(op_ctx, self._loops, tiles, whole)

    def _is_first(self, begin: int) -> bool:
        """Return whether sums begin with a tile."""
        return self._is_begun and begin == self._order[0]

    def _put_tail(self, node: Node, begin: int, found: dict[Node, NDArray[Any]]) -> None:
        """Fill the columns that a tile leaves out."""
        if self._seen is not None and node in self._seen.axes and self._cut.kinds[node] != SUM:
            whole = self._part(node, found[node], begin, every=True)
            whole[...] = self._seen.tails[begin // self.num_rows].get(node, 0)

    def _put(self, node: Node, out: NDArray[Any], begin: int, found: dict[Node, NDArray[Any]]) -> None:
        """Copy or add the result of a tile to the whole."""
        if self._cut.kinds[node] == SUM:
            part = self._part(node, found[node], begin)
            np.copyto(part, out) if self._is_first(begin) else np.add(part, out, out=part)
            return
        self._put_tail(node, begin, found)
        self._part(node, found[node], begin)[...] = out

    def _span(self, begin: int) -> slice:
        """The columns of a tile."""
        return self._seen.spans[begin // self.num_rows] if self._seen is not None else slice(0, 0)

    def _part(self, node: Node, array: NDArray[Any], begin: int, *, every: bool = False) -> NDArray[Any]:
        """The rows of an array that are a tile's, and of these the columns that it computes, or all."""
        if node in self._cut.axes:
            array = _along(array, self._cut.axes[node], slice(begin, begin + self.num_rows))
        if self._seen is not None and node in self._seen.axes and not every:
            array = _along(array, self._seen.axes[node], self._span(begin))
        return array

    def _tile(self, begin: int) -> tuple[list[Node], AnyProgram]:
        """The program of the tile that begins at a row."""
        length, span = min(self.num_rows, self._cut.length - begin), self._span(begin)
        key = (length, span.stop - span.start)
        if key not in self._programs:
            self._programs[key] = self._made(self._of_tiles, *key)
        return self._programs[key]

    def _made(
        self, wanted: Sequence[Node], length: int | None, columns: int = 0
    ) -> tuple[list[Node], AnyProgram]:
        """The program of some nodes, for tiles of a length or of sums, and the nodes that it is given."""
        given = set(self._graph.inputs)
        if length is None:
            given |= {node for node in self._of_tiles if self._cut.kinds[node] == SUM}
        else:
            given |= set(self._hoisted)
        parts = [] if length is None else [(self._cut.axes, length)]
        if length is not None and self._seen is not None:
            parts.append((self._seen.axes, columns))
        copy = GraphCopy(given, parts)
        made = [copy.of(node) for node in wanted]
        program = Program(list(copy.sources.values()), made, always=self._always)
        walked = None if length is None else in_tiles(program, always=self._always, is_tile=True)
        return list(copy.sources), walked or program


def _along(array: NDArray[Any], axis: int, positions: slice) -> NDArray[Any]:
    return array[(*[slice(None)] * axis, positions)]


def in_tiles(program: Program, *, always: bool, is_tile: bool = False) -> TiledProgram | MatrixProgram | None:
    """The same computed in tiles, where that takes less work or a small part of the memory; else None.

    What stays whole but for its stack is computed matrix by matrix.

    Args:
        is_tile: Whether it is a tile: then it is, however small, as the other tiles are.
    """
    if not is_tile and program.size_bytes < min(_LEAST_BYTES, _LEAST_MASKED_BYTES):
        return None
    graph = Graph(program.inputs, program.results)
    cuts = list(graph.cuts())
    num_matrices = prod(cut.length for cut in cuts if cut.is_batch)
    ways = [_without_unseen, _of_little_memory]
    if num_matrices > 1 and program.size_bytes >= num_matrices * _LEAST_BYTES:
        ways.reverse()  # of each matrix then, which takes tiles itself
    tiled = next(filter(None, (way(graph, cuts, program.size_bytes, always) for way in ways)), None)
    return tiled or by_matrices(program, graph)


def _without_unseen(graph: Graph, cuts: list[Cut], size_bytes: int, always: bool) -> TiledProgram | None:
    """Tiles of rows that leave out what a mask drops."""
    for cut in cuts if size_bytes >= _LEAST_MASKED_BYTES else ():
        rows = max(_LEAST_MASKED_ROWS, ceil(cut.length / _MASKED_TILES))
        for seen in seen_columns(graph, cut, rows) if 2 * rows <= cut.length and not cut.is_batch else ():
            if seen.share <= _LARGEST_MASKED_SHARE:
                return TiledProgram(graph, cut, rows, always=always, seen=seen)
    return None


def _of_little_memory(graph: Graph, cuts: list[Cut], size_bytes: int, always: bool) -> TiledProgram | None:
    """Tiles that take a small part of the memory."""
    for cut in cuts if size_bytes >= _LEAST_BYTES else ():
        least = 1 if cut.is_batch else _LEAST_ROWS
        rows = max(least, cut.length * _TILE_BYTES // size_bytes, ceil(cut.length / _MOST_TILES))
        if 2 * rows <= cut.length:
            made = TiledProgram(graph, cut, rows, always=always)
            if made.size_bytes <= _LARGEST_SHARE * size_bytes:
                return made
    return None
