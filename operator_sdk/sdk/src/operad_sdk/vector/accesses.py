"""Loads and stores of a kernel's vectors: where the lanes of each array lie.

The lanes of a vector are columns of one row or, where rows are neighbours in memory and columns are not,
rows: then a walk over columns reads some vectors of rows at each, nothing is gathered, and nothing is added
over lanes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, final

from operad_sdk.vector.primitives import cast
from operad_sdk.vector.writer import Values, Writer


class Pattern(NamedTuple):
    """Arrangement of arrays in memory, as far as the text of a kernel depends on it.

    Attributes:
        depth: Outer axes.
        columns: For each input and result: `next` where elements follow each other along the columns,
            `same` where there is one for each row, `run` where there is one for each run, `apart` where they
            are further apart.
        runs: Axes of runs.
        rows: Vectors of rows that are computed side by side; 0: lanes are columns.
        across: The same as `columns` along the last outer axis, if lanes are rows.
    """

    depth: int
    columns: tuple[str, ...]
    runs: int = 0
    rows: int = 0
    across: tuple[str, ...] = ()

    def lanes(self, number: int) -> str:
        """Position of the elements of one vector of an array: `next`, `apart` or `same`."""
        if self.rows:
            return self.across[number]
        return "same" if self.columns[number] == "run" else self.columns[number]


class Chunk(NamedTuple):
    """Some vectors of a walk.

    Attributes:
        column: Where they begin.
        vectors: How many there are.
        mask: The lanes that count, at the end of a row; None: all.
    """

    column: str
    vectors: int
    mask: str | None


@final
@dataclass(slots=True)
class Place:
    """Position of an array's vectors.

    Attributes:
        lanes: `next` where the elements of a vector follow each other, `apart` where they are further apart,
            `same` where one element is all of them.
        base: Address of the first element of the row, or of the first of some rows.
        column_step: Bytes from column to column.
        lane_step: Bytes from lane to lane.
        is_scratch: There is room for whole vectors, so that none is masked.
    """

    lanes: str
    base: str
    column_step: str | int
    lane_step: str | int
    is_scratch: bool = False


BYTES_AHEAD: Final = (512, 1024)
"""Distance to what is prefetched where lanes are rows: of several walks over their columns, and of one. Sums
of four rows of a million elements take a third of the time so, and softmax over channels of images a fifth;
gradients of softmax whose arrays a cache holds take 1.2 of it."""


@final
@dataclass(slots=True)
class Accesses:
    """Loads and stores of vectors.

    Attributes:
        code: Where they are written.
        rows: Vectors of rows side by side; 0: lanes are columns.
        bytes_ahead: Distance to what is prefetched, where the rows behind those that are read come next: a
            processor does not follow so many streams. 0: nothing is.
        row_masks: For each vector of rows the mask of those that there are.
    """

    code: Writer
    rows: int
    bytes_ahead: int = 0
    row_masks: Values = field(default_factory=list)

    def enter_group(self, number: str, outer: Sequence[str]) -> list[str]:
        """The index along each outer axis of the first row of a group, along the last of which it lies."""
        code, rows = self.code, self.rows * self.code.lanes
        groups = code.value(f"udiv i64 {code.add(outer[-1], rows - 1)}, {rows}")
        first = code.multiply(code.value(f"urem i64 {number}, {groups}"), rows)
        self.row_masks = [code.mask(code.add(first, i * code.lanes), outer[-1]) for i in range(self.rows)]
        return [*code.counters(code.value(f"udiv i64 {number}, {groups}"), outer[:-1]), first]

    def moved(self, place: Place, steps: Sequence[str], counters: Sequence[str]) -> Place:
        """The place so many steps further on along each of some axes."""
        base = place.base
        for step, counter in zip(steps, counters, strict=True):
            base = self.code.address(base, self.code.multiply(step, counter))
        return replace(place, base=base)

    def load_columns(self, place: Place, kind: str, chunk: Chunk, number: int) -> str:
        """Load one vector of a chunk of columns."""
        at = self._at(place, chunk, number)
        if self.bytes_ahead and place.lanes == "next":
            self.code.prefetch(self.code.address(at, str(self.bytes_ahead)))
        return self._loaded(place, kind, at, self._mask(place, chunk, number))

    def store_columns(self, place: Place, kind: str, chunk: Chunk, number: int, value: str) -> None:
        """Store one vector of a chunk of columns."""
        self._stored(place, kind, self._at(place, chunk, number), self._mask(place, chunk, number), value)

    def load_of_rows(self, place: Place, kind: str, number: int) -> str:
        """Load what a row has one of, or a vector of rows one each."""
        mask = self.row_masks[number] if self.rows else None
        return self._loaded(place, kind, self._of_lanes(place, place.base, number), mask)

    def store_of_rows(self, place: Place, kind: str, number: int, value: str) -> None:
        """Store what a row has one of, or a vector of rows one each."""
        mask = self.row_masks[number] if self.rows else None
        self._stored(place, kind, self._of_lanes(place, place.base, number), mask, value)

    def _mask(self, place: Place, chunk: Chunk, number: int) -> str | None:
        if not self.rows:
            return chunk.mask
        return None if place.is_scratch else self.row_masks[number % self.rows]

    def _at(self, place: Place, chunk: Chunk, number: int) -> str:
        code = self.code
        if self.rows:
            column = code.add(chunk.column, number // self.rows)
            at = code.address(place.base, code.multiply(column, place.column_step))
            return self._of_lanes(place, at, number % self.rows)
        if place.lanes == "same":
            return place.base
        at = code.address(place.base, code.multiply(chunk.column, place.column_step))
        return self._of_lanes(place, at, number)

    def _of_lanes(self, place: Place, at: str, number: int) -> str:
        """Address of a vector, of which the first one begins at an address."""
        if not number or place.lanes == "same":
            return at
        step, count = place.lane_step, number * self.code.lanes
        return self.code.address(
            at, str(count * step) if isinstance(step, int) else self.code.multiply(step, count)
        )

    def _loaded(self, place: Place, kind: str, at: str, mask: str | None) -> str:
        code, memory = self.code, in_memory(kind)
        if place.lanes == "same":
            loaded = code.broadcast(memory, at)
        elif place.lanes == "apart":
            loaded = code.gather(memory, self._addresses(place, at), mask or code.constant("bool", 1))
        elif mask is None:
            loaded = code.load_vector(memory, at)
        else:
            loaded = code.load_masked(memory, at, mask)
        return cast(code, loaded, memory, kind)

    def _stored(self, place: Place, kind: str, at: str, mask: str | None, value: str) -> None:
        code, memory = self.code, in_memory(kind)
        value = cast(code, value, kind, memory)
        if place.lanes == "same":
            code.store_first(memory, value, at)
        elif place.lanes == "apart":
            code.scatter(memory, value, self._addresses(place, at), mask or code.constant("bool", 1))
        elif mask is None:
            code.store_vector(memory, value, at)
        else:
            code.store_masked(memory, value, at, mask)

    def _addresses(self, place: Place, at: str) -> str:
        code = self.code
        vector = code.vector("int64")
        steps = code.splat("int64", str(place.lane_step))
        offsets = code.value(f"mul {vector} {code.numbers()}, {steps}")
        return code.value(f"getelementptr i8, ptr {at}, {vector} {offsets}")


def in_memory(kind: str) -> str:
    """The kind as which values of a kind are stored."""
    return "uint8" if kind == "bool" else kind
