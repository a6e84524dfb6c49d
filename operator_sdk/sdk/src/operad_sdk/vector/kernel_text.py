"""The kernel of a scalar form: loops over rows and columns, as text of LLVM.

`void kernel(ptr table, i64 first, i64 last, ptr scratch)` computes the rows from `first` to `last`, or, of a
single row that nothing reduces, the columns. Where lanes are rows, it computes groups of rows. A row is one
*run* of columns, or several: a channel of images has one in each image. The table serves all lengths and
strides:

    columns; the lengths of the axes of runs; the lengths that the form asks for; the lengths of the outer
    axes; for each input and then each result: its address, its strides in bytes along the outer axes, along
    those of runs, and along columns

Nothing about memory is promised to LLVM: a result may lie where an input lies, if `may_share` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Final, final

import numpy as np

from operad.operator import Instruction, ScalarForm
from operad_sdk.vector.accesses import BYTES_AHEAD, Accesses, Chunk, Pattern, Place, in_memory
from operad_sdk.vector.columns import Body, ColumnWalk, vectors_of_group
from operad_sdk.vector.panels import Panel
from operad_sdk.vector.primitives import NoVectorCodeError, apply, cast
from operad_sdk.vector.reductions import Reductions, WideTotals
from operad_sdk.vector.stages import Stages
from operad_sdk.vector.writer import (
    BITS,
    ELEMENTS,
    KERNEL_PARAMETERS,
    LANES,
    NAME,
    Values,
    Writer,
)


@final
class KernelText:
    """The text of one kernel, with the facts that its caller needs.

    Attributes:
        stages: How rows are walked.
        lengths: The axes of the space whose lengths the table holds.
        has_rows: Whether calls divide rows, and not columns.
        orders: Orders in which it adds: the numbers of vectors whose totals are put together.
        text: The module.
    """

    def __init__(
        self,
        form: ScalarForm,
        dtype: np.dtype[np.generic],
        pattern: Pattern,
        *,
        lanes: int | None = None,
        counted: Collection[int] = (),
        has_scalef: bool = False,
    ) -> None:
        """Write the kernel of a form of primitives that have vector code.

        Args:
            lanes: Elements of a vector; None: as many as fill a register of AVX-512.
            counted: Inputs that are positions along an axis.
            has_scalef: As for `Writer`.
        Raises:
            NoVectorCodeError: A part of the form has none.
        """
        self._steps = tuple(
            step._replace(kind=dtype.name) if step.kind == "real" else step for step in form.instructions
        )
        for kind in {step.kind for step in self._steps} - set(ELEMENTS):
            raise NoVectorCodeError(f"elements of type {kind} have no vector code")
        self._results = [result.position for result in form.results]
        self._pattern = pattern
        self._given = len(form.inputs)
        # Along a row these are the numbers of its columns, which no memory need be read for.
        is_row = not pattern.rows and not pattern.runs
        self._counted = {i for i in counted if is_row and pattern.columns[i] == "next"}
        self.stages: Final = Stages(form, {i for i in range(self._given) if pattern.columns[i] == "same"})
        self.lengths: Final = list(
            dict.fromkeys(int(step.value or 0) for step in self._steps if step.op == "length")
        )
        # Number of a result by kept value: the value lies in the result's memory until that is written.
        ways = [pattern.lanes(self._given + number) for number in range(len(form.results))]
        self._hosts = self.stages.hosts([way == "next" for way in ways])
        self.has_rows: Final = bool(pattern.depth) or any(self.stages.reduced)
        count = lanes or LANES[dtype.itemsize]
        self._code = Writer(NAME, KERNEL_PARAMETERS, count, has_scalef=has_scalef)
        self._accesses = Accesses(self._code, pattern.rows)
        self._reductions = Reductions(self._code, self._steps, over_lanes=not pattern.rows)
        # Of the row, or of each vector of rows: what is known before its columns are.
        self._sides = max(pattern.rows, 1)
        self._of_row: list[dict[int, str]] = [{} for _ in range(self._sides)]
        self.orders: Final[set[int]] = set()
        self._write()
        self.text: Final = self._code.module()

    def scratch_bytes(self, columns: int) -> int:
        """Scratch memory that a call needs, for rows of so many columns, those of all runs."""
        if self._panel is not None:
            return self._panel.scratch_bytes(columns)
        own = [i for i in self.stages.kept if i not in self._hosts]
        return sum(self._kept_step(i) * (columns + 63 & -64) for i in own)

    def may_share(self, given: int, result: int) -> bool:
        """Return whether a result may lie where an input lies: no instruction reads that input later."""
        position, columns = self._results[result], self._pattern.columns
        is_alike = columns[given] == columns[self._given + result]
        if not is_alike or columns[given] == "same":  # read when its row begins, written when that ends
            return is_alike
        if self.stages.is_of_rows[position]:
            return False
        # What is kept in the result's memory is written before it.
        stages = [self.stages.stage[i] for i, host in self._hosts.items() if host == result]
        return not self.stages.is_read_after(given, min([self.stages.stage[position], *stages]))

    # the loops

    def _write(self) -> None:
        code, pattern = self._code, self._pattern
        numbers = iter(range(1 << 30))

        def words(count: int) -> list[str]:
            return [code.word("%table", next(numbers)) for _ in range(count)]

        (self._columns,) = words(1)
        self._runs = words(pattern.runs)
        lengths = dict(zip(self.lengths, words(len(self.lengths)), strict=True))
        for position, step in enumerate(self._steps):
            if step.op == "constant":
                assert step.value is not None  # `or 0` would make 0.0 of -0.0
                self._know(position, code.constant(step.kind, float(step.value)))
            elif step.op == "length":
                self._know(position, code.converted(step.kind, lengths[int(step.value or 0)]))
        outer = words(pattern.depth)
        arrays = [words(pattern.depth + pattern.runs + 2) for _ in pattern.columns]
        self._steps_of_runs = [each[1 + pattern.depth : -1] for each in arrays]
        self._places = [self._place(number, each) for number, each in enumerate(arrays)]
        self._scratch = self._rows_of_scratch()
        self._panel = self._panel_of_rows()
        if pattern.rows:
            self._accesses.bytes_ahead = BYTES_AHEAD[self.stages.is_one_walk]
        if not self.has_rows:
            self._load_row()
            self._compute_row("%first", "%last")
            return
        places, same = self._places, self._of_row

        def enter(number: str) -> None:
            counters = (self._accesses.enter_group if pattern.rows else code.counters)(number, outer)
            steps = [each[1 : 1 + pattern.depth] for each in arrays]
            self._places = [self._accesses.moved(*each, counters) for each in zip(places, steps, strict=True)]
            self._of_row = [dict(known) for known in same]
            self._load_row()

        def row(number: str, _: Values) -> Values:
            enter(number)
            self._compute_row("0", self._columns)
            return []

        if self._panel is None:
            code.loop("%first", "%last", 1, [], row)
        else:
            self._panel.compute(self._columns, enter, self._finish_rows)

    def _know(self, position: int, value: str) -> None:
        """Note a value that is one for all rows."""
        for known in self._of_row:
            known[position] = value

    def _place(self, number: int, words: list[str]) -> Place:
        """Position of an array whose words in the table are these."""
        position = number if number < self._given else self._results[number - self._given]
        kind = self._steps[position].kind
        lanes, step = self._pattern.lanes(number), words[-1]
        size = BITS[in_memory(kind)] // 8
        base = self._code.pointer(words[0])
        if self._pattern.rows:
            return Place(lanes, base, step, size if lanes == "next" else words[self._pattern.depth])
        step_ = size if lanes == "next" else step
        return Place(lanes, base, step_, step_)

    def _rows_of_scratch(self) -> dict[int, Place]:
        """The scratch row of each kept value."""
        code, base, found = self._code, "%scratch", {}
        own = [i for i in self.stages.kept if i not in self._hosts]
        if own:
            count = code.multiply(self._columns, self._run_count()) if self._runs else self._columns
            padded = code.value(f"and i64 {code.add(count, 63)}, -64")
        for position in own:
            size = BITS[in_memory(self._steps[position].kind)] // 8
            found[position] = Place("next", base, self._kept_step(position), size, is_scratch=True)
            base = code.address(base, code.multiply(padded, self._kept_step(position)))
        return found

    def _place_of_kept(self, position: int) -> Place:
        host = self._hosts.get(position)
        return self._scratch[position] if host is None else self._places[self._given + host]

    def _kept_step(self, position: int) -> int:
        """Bytes of scratch memory for each column."""
        vectors = self._pattern.rows * self._code.lanes if self._pattern.rows else 1
        return vectors * BITS[in_memory(self._steps[position].kind)] // 8

    def _panel_of_rows(self) -> Panel | None:
        """The panel by which rows are reduced; None: they are computed one by one."""
        pattern, stages = self._pattern, self.stages
        ways = pattern.columns[self._given :]
        own = [way for way, position in zip(ways, self._results, strict=True) if stages.is_of_rows[position]]
        if not pattern.rows or pattern.runs or not stages.is_one_walk or {*own} - {"same"}:
            return None
        return Panel(stages.reduced[0], *self._walk_of(0))

    def _finish_rows(self, totals: Values) -> None:
        self._know_totals(0, totals)
        self._end_row("0", self._columns)

    def _compute_row(self, begin: str, end: str) -> None:
        for stage in range(self.stages.count):
            self._compute_between(stage)
            self._walk(stage, begin, end)
        self._end_row(begin, end)

    def _load_row(self) -> None:
        for position, step in enumerate(self._steps):
            if step.op == "input" and self.stages.is_of_rows[position]:
                for side, known in enumerate(self._of_row):
                    known[position] = self._accesses.load_of_rows(self._places[position], step.kind, side)
        self._compute_between(0)

    def _end_row(self, begin: str, end: str) -> None:
        self._compute_between(self.stages.count)
        for number, position in enumerate(self._results):
            if self.stages.is_of_rows[position]:
                self._store_of_row(number, begin, end)

    def _compute_between(self, stage: int) -> None:
        """Compute the values of whole rows that follow from the reductions before a stage."""
        for position, step in enumerate(self._steps):
            if self.stages.is_of_rows[position] and self.stages.stage[position] <= stage:
                for known in self._of_row:
                    if position not in known:
                        known[position] = self._computed_of_rows(step, [known[i] for i in step.args])

    def _walk_of(self, stage: int) -> tuple[ColumnWalk, Body]:
        """The loops of a stage, and their body."""
        reduced, needed = self.stages.reduced[stage], self.stages.needed(stage)
        unrolled = vectors_of_group(
            len(needed), has_totals=bool(reduced), live=self.stages.most_live(needed), rows=self._pattern.rows
        )
        if any(self._steps[i].op == "sum" for i in reduced):
            self.orders.add(unrolled)
        return self._columns_walk(unrolled), partial(self._compute_chunk, stage, needed)

    def _walk(self, stage: int, begin: str, end: str) -> None:
        """One walk over the columns of a row."""
        code, reduced, (walk, body) = self._code, self.stages.reduced[stage], self._walk_of(stage)
        if not reduced:
            if self.stages.needed(stage) or self.stages.stored[stage]:
                self._each_run([], lambda *_: walk(begin, end, [], body))
            return
        every = reduced * self._sides
        neutral = self._reductions.neutral(every)
        is_long, last = walk.blocks(end)
        wide = WideTotals(self._reductions, every, is_long)

        def run(number: str, totals: Values) -> Values:
            is_due = is_long
            if self._runs:
                is_due = code.value(f"icmp eq i64 {code.value(f'and i64 {number}, {last}')}, {last}")

            def block(start: str, totals: Values) -> Values:
                end_of_block = code.value(f"add i64 {start}, {walk.block}")
                stop = code.smallest(end_of_block, end)
                found = walk(start, stop, reduced, body, totals)
                return code.when(is_due, of_kinds(found), lambda: wide.take(found))

            return code.loop(begin, end, walk.block, of_kinds(totals), block)

        def of_kinds(totals: Values) -> list[tuple[str, str]]:
            return [(kind, one) for (kind, _), one in zip(neutral, totals, strict=True)]

        values = wide.finished(self._each_run(neutral, run))
        self._know_totals(stage, values)

    def _know_totals(self, stage: int, values: Values) -> None:
        reduced = self.stages.reduced[stage]
        for number, value in enumerate(values):
            self._of_row[number // len(reduced)][reduced[number % len(reduced)]] = value

    def _columns_walk(self, unrolled: int) -> ColumnWalk:
        lanes = 1 if self._pattern.rows else self._code.lanes
        runs = self._run_count() if self._runs else ""
        return ColumnWalk(self._code, self._reductions, lanes, self._sides, unrolled, runs)

    def _run_count(self) -> str:
        count = self._runs[0]
        for length in self._runs[1:]:
            count = self._code.multiply(count, length)
        return count

    def _each_run(self, carried: Sequence[tuple[str, str]], body: Callable[[str, Values], Values]) -> Values:
        """Write a body for each run of a row."""
        if not self._runs:
            return body("0", [value for _, value in carried])
        code, places, scratch = self._code, self._places, self._scratch

        def run(number: str, values: Values) -> Values:
            counters = code.counters(number, self._runs)
            steps = self._steps_of_runs
            self._places = [self._accesses.moved(*each, counters) for each in zip(places, steps, strict=True)]
            before = code.multiply(number, self._columns)
            self._scratch = {
                position: self._accesses.moved(place, [before], [str(place.column_step)])
                for position, place in scratch.items()
            }
            return body(number, values)

        found = code.loop("0", self._run_count(), 1, carried, run)
        self._places, self._scratch = places, scratch
        return found

    def _compute_chunk(self, stage: int, needed: Sequence[int], chunk: Chunk, totals: Values) -> Values:
        """Compute a stage for some vectors, instruction by instruction; return the new totals."""
        values = [dict(self._of_row[number % self._sides]) for number in range(chunk.vectors)]
        for position in needed:
            step = self._steps[position]
            for number, known in enumerate(values):
                is_kept = self.stages.is_loaded(position, stage)
                if position in self._counted:
                    known[position] = self._code.counted(step.kind, chunk.column, number)
                elif is_kept or step.op == "input":
                    place = self._place_of_kept(position) if is_kept else self._places[position]
                    known[position] = self._accesses.load_columns(place, step.kind, chunk, number)
                else:
                    known[position] = self._computed(step, [known[i] for i in step.args])
        kept = [i for i in self.stages.kept if self.stages.stage[i] == stage]
        for number, known in enumerate(values):
            for position in kept:
                kind, place = self._steps[position].kind, self._place_of_kept(position)
                self._accesses.store_columns(place, kind, chunk, number, known[position])
            for result in self.stages.stored[stage]:
                self._store_result(result, chunk, number, known[self._results[result]])
        reduced = self.stages.reduced[stage]
        found: Values = []
        for number, known in enumerate(values):
            terms = [known[self._steps[i].args[0]] for i in reduced]
            if chunk.mask is not None:
                terms = [
                    self._reductions.only(chunk.mask, i, term) for i, term in zip(reduced, terms, strict=True)
                ]
            found += self._reductions.combined(
                reduced, totals[number * len(reduced) :][: len(reduced)], terms
            )
        return found

    def _computed(self, step: Instruction, args: Values) -> str:
        kind = self._steps[step.args[-1]].kind
        if step.op == "cast":
            return cast(self._code, args[0], kind, step.kind)
        return apply(self._code, step.op, kind, args)

    def _computed_of_rows(self, step: Instruction, args: Values) -> str:
        if self._pattern.rows:
            return self._computed(step, args)
        kinds = [self._steps[i].kind for i in step.args]
        return self._code.once(kinds, args, step.kind, partial(self._computed, step))

    def _store_of_row(self, number: int, begin: str, end: str) -> None:
        """Store a result that has one value per row: into its one element, or into all elements."""
        index, position = self._given + number, self._results[number]
        if self._pattern.columns[index] == "same":
            kind = self._steps[position].kind
            for side, known in enumerate(self._of_row):
                self._accesses.store_of_rows(self._places[index], kind, side, known[position])
            return

        def fill(chunk: Chunk, totals: Values) -> Values:
            for each in range(chunk.vectors):
                self._store_result(number, chunk, each, self._of_row[each % self._sides][position])
            return totals

        walk = self._columns_walk(1)
        self._each_run([], lambda *_: walk(begin, end, [], fill))

    def _store_result(self, number: int, chunk: Chunk, each: int, value: str) -> None:
        kind = self._steps[self._results[number]].kind
        self._accesses.store_columns(self._places[self._given + number], kind, chunk, each, value)
