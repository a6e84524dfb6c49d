"""The kernel of a scalar form: loops over rows and columns, as text of LLVM.

`void kernel(ptr table, i64 first, i64 last, ptr scratch)` computes the rows from `first` to `last`, or, of a
single row that nothing reduces, the columns. The table serves all lengths and strides:

    columns; the lengths that the form asks for; the lengths of the outer axes; for each input and then each
    result: its address, its strides in bytes along the outer axes, and along columns

Nothing about memory is promised to LLVM: a result may lie where an input lies, if `may_share` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, final

import numpy as np

from operad.operator import Instruction, ScalarForm
from operad_sdk.vector.primitives import NoVectorCodeError, apply, cast
from operad_sdk.vector.reductions import Reductions
from operad_sdk.vector.stages import Stages
from operad_sdk.vector.writer import (
    BITS,
    ELEMENTS,
    FLOATS,
    KERNEL_PARAMETERS,
    LANES,
    NAME,
    Values,
    Writer,
)

BLOCK: Final = 4096
"""Columns whose sum is added up apart, so that its error grows with them and with the number of blocks
alone."""
_UNROLLED: Final = ((10, 8), (400, 4))
"""Vectors that are computed side by side, by how many instructions there are: they hide each other's
latency."""


class Pattern(NamedTuple):
    """Arrangement of arrays in memory, as far as the text of a kernel depends on it.

    Attributes:
        depth: Outer axes.
        columns: For each input and result: `next` where elements follow each other along the columns,
            `same` where there is one for each row, `apart` where they are further apart.
    """

    depth: int
    columns: tuple[str, ...]


class _Chunk(NamedTuple):
    """Some vectors of a row: the column where they begin, how many, and the mask of the lanes that count."""

    column: str
    vectors: int
    mask: str | None


_Body = Callable[[_Chunk, Values], Values]


@final
class KernelText:
    """The text of one kernel, with the facts that its caller needs.

    Attributes:
        stages: How rows are walked.
        lengths: The axes of the space whose lengths the table holds.
        has_rows: Whether calls divide rows, and not columns.
        text: The module.
    """

    def __init__(
        self, form: ScalarForm, dtype: np.dtype[np.generic], pattern: Pattern, *, has_scalef: bool = False
    ) -> None:
        """Write the kernel of a form of primitives that have vector code; `has_scalef` as for `Writer`.

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
        self.stages: Final = Stages(form, {i for i in range(self._given) if pattern.columns[i] == "same"})
        self.lengths: Final = list(
            dict.fromkeys(int(step.value or 0) for step in self._steps if step.op == "length")
        )
        self._hosts = self._find_hosts()
        self.has_rows: Final = bool(pattern.depth) or any(self.stages.reduced)
        self._code = Writer(NAME, KERNEL_PARAMETERS, LANES[dtype.itemsize], has_scalef=has_scalef)
        self._reductions = Reductions(self._code, self._steps)
        self._of_row: dict[int, str] = {}
        self._unrolled = 1
        self._write()
        self.text: Final = self._code.module()

    def scratch_bytes(self, columns: int) -> int:
        """Scratch memory that a call needs, for rows of so many columns."""
        own = [i for i in self.stages.kept if i not in self._hosts]
        return sum(self._kept_bytes(i) * (columns + 63 & -64) for i in own)

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

    def _find_hosts(self) -> dict[int, int]:
        """Number of a result by kept value: the value lies in the result's memory until that is written."""
        hosts: dict[int, int] = {}
        for number, position in enumerate(self._results):
            if self._pattern.columns[self._given + number] != "next" or self.stages.is_of_rows[position]:
                continue
            written = self.stages.stage[position]
            for kept in self.stages.kept:
                if (
                    kept not in hosts
                    and self._steps[kept].kind == self._steps[position].kind
                    and self.stages.stage[kept] < written
                    and not self.stages.is_read_after(kept, written)
                ):
                    hosts[kept] = number
                    break
        return hosts

    # the loops

    def _write(self) -> None:
        code, depth = self._code, self._pattern.depth
        numbers = iter(range(1 << 30))

        def word() -> str:
            return code.value(f"load i64, ptr {code.address('%table', str(8 * next(numbers)))}")

        self._columns = word()
        lengths = {axis: word() for axis in self.lengths}
        for position, step in enumerate(self._steps):
            if step.op == "constant":
                self._of_row[position] = code.constant(step.kind, float(step.value or 0))
            elif step.op == "length":
                self._of_row[position] = self._length(step.kind, lengths[int(step.value or 0)])
        outer = [word() for _ in range(depth)]
        words = [[word() for _ in range(depth + 2)] for _ in self._pattern.columns]
        self._apart = [each[-1] for each in words]
        self._bases = [code.value(f"inttoptr i64 {each[0]} to ptr") for each in words]
        self._scratch = self._rows_of_scratch()
        if not self.has_rows:
            self._compute_row("%first", "%last")
            return
        bases, same = self._bases, self._of_row

        def row(number: str, _: Values) -> Values:
            counters = self._counters(number, outer)
            strides = [each[1:-1] for each in words]
            self._bases = [self._moved(*each, counters) for each in zip(bases, strides, strict=True)]
            self._of_row = dict(same)
            self._compute_row("0", self._columns)
            return []

        code.loop("%first", "%last", 1, [], row)

    def _length(self, kind: str, length: str) -> str:
        code = self._code
        if kind in FLOATS:
            return code.splat(kind, code.value(f"uitofp i64 {length} to {ELEMENTS[kind]}"))
        if BITS[kind] < 64:
            length = code.value(f"trunc i64 {length} to {ELEMENTS[kind]}")
        return code.splat(kind, length)

    def _rows_of_scratch(self) -> dict[int, str]:
        """Address of the scratch row of each kept value."""
        code, row, found = self._code, "%scratch", {}
        own = [i for i in self.stages.kept if i not in self._hosts]
        if own:
            padded = code.value(f"and i64 {code.value(f'add i64 {self._columns}, 63')}, -64")
        for position in own:
            found[position] = row
            row = code.address(row, code.value(f"mul i64 {padded}, {self._kept_bytes(position)}"))
        return found

    def _row_of_kept(self, position: int) -> str:
        host = self._hosts.get(position)
        if host is None:
            return self._scratch[position]
        return self._bases[self._given + host]

    def _kept_bytes(self, position: int) -> int:
        return BITS[self._steps[position].kind] // 8

    def _counters(self, row: str, outer: list[str]) -> list[str]:
        """The row's index along each outer axis."""
        code, counters = self._code, []
        for length in reversed(outer[1:]):
            counters.append(code.value(f"urem i64 {row}, {length}"))
            row = code.value(f"udiv i64 {row}, {length}")
        return [*([row] if outer else []), *reversed(counters)]

    def _moved(self, base: str, strides: list[str], counters: list[str]) -> str:
        for stride, counter in zip(strides, counters, strict=True):
            base = self._code.address(base, self._code.value(f"mul i64 {stride}, {counter}"))
        return base

    def _compute_row(self, begin: str, end: str) -> None:
        for position, step in enumerate(self._steps):
            if step.op == "input" and self.stages.is_of_rows[position]:
                self._of_row[position] = self._load_one(position)
        for stage in range(self.stages.count):
            self._compute_between(stage)
            self._walk(stage, begin, end)
        self._compute_between(self.stages.count)
        for number, position in enumerate(self._results):
            if self.stages.is_of_rows[position]:
                self._store_of_row(number, begin, end)

    def _compute_between(self, stage: int) -> None:
        """Compute the values of whole rows that follow from the reductions before a stage."""
        for position, step in enumerate(self._steps):
            is_due = self.stages.is_of_rows[position] and self.stages.stage[position] <= stage
            if is_due and position not in self._of_row:
                self._of_row[position] = self._computed(step, [self._of_row[i] for i in step.args])

    def _walk(self, stage: int, begin: str, end: str) -> None:
        """One walk over the columns of a row."""
        code, reduced, needed = self._code, self.stages.reduced[stage], self.stages.needed(stage)
        self._unrolled = next((vectors for limit, vectors in _UNROLLED if len(needed) < limit), 1)

        def body(chunk: _Chunk, totals: Values) -> Values:
            return self._compute_chunk(stage, needed, chunk, totals)

        if not reduced:
            if needed or self.stages.stored[stage]:
                self._walk_columns(begin, end, [], body)
            return

        def block(start: str, totals: Values) -> Values:
            end_of_block = code.value(f"add i64 {start}, {BLOCK}")
            stop = code.call("i64", "llvm.smin.i64", ("i64", end_of_block), ("i64", end))
            return self._reductions.combined(reduced, totals, self._walk_columns(start, stop, reduced, body))

        totals = code.loop(begin, end, BLOCK, self._reductions.neutral(reduced), block)
        for position, total in zip(reduced, totals, strict=True):
            self._of_row[position] = self._reductions.over_lanes(position, total)

    def _walk_columns(self, begin: str, end: str, reduced: Sequence[int], body: _Body) -> Values:
        """Walk over groups of whole vectors, then over single vectors with the lanes behind the end masked.

        Returns:
            A vector of totals for each reduction.
        """
        code, lanes, side_by_side = self._code, self._code.lanes, self._unrolled
        length = code.value(f"sub i64 {end}, {begin}")
        rest = code.value(f"srem i64 {length}, {lanes * side_by_side}")
        whole = code.value(f"sub i64 {end}, {rest}")
        totals = code.loop(
            begin,
            whole,
            lanes * side_by_side,
            self._reductions.neutral(reduced) * side_by_side,
            lambda column, totals: body(_Chunk(column, side_by_side, None), totals),
        )
        groups = [totals[i : i + len(reduced)] for i in range(0, len(totals), len(reduced) or 1)]
        while len(groups) > 1:
            half = len(groups) // 2
            groups = [self._reductions.combined(reduced, groups[i], groups[i + half]) for i in range(half)]
        vectors = [code.vector(self._steps[i].kind) for i in reduced]
        return code.loop(
            whole,
            end,
            lanes,
            list(zip(vectors, groups[0] if groups else [], strict=True)),
            lambda column, totals: body(_Chunk(column, 1, code.mask(column, end)), totals),
        )

    def _compute_chunk(self, stage: int, needed: Sequence[int], chunk: _Chunk, totals: Values) -> Values:
        """Compute a stage for some vectors, instruction by instruction; return the new totals."""
        values = [dict(self._of_row) for _ in range(chunk.vectors)]
        for position in needed:
            step = self._steps[position]
            for number, known in enumerate(values):
                if self.stages.is_loaded(position, stage):
                    base = self._row_of_kept(position)
                    known[position] = self._load(base, step.kind, "next", "", chunk, number)
                elif step.op == "input":
                    how, stride = self._pattern.columns[position], self._apart[position]
                    known[position] = self._load(self._bases[position], step.kind, how, stride, chunk, number)
                else:
                    known[position] = self._computed(step, [known[i] for i in step.args])
        kept = [i for i in self.stages.kept if self.stages.stage[i] == stage]
        for number, known in enumerate(values):
            for position in kept:
                kind = self._steps[position].kind
                self._store(self._row_of_kept(position), kind, "next", "", chunk, number, known[position])
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

    # memory

    def _load_one(self, position: int) -> str:
        """Load an input that has one element per row."""
        kind = self._steps[position].kind
        memory = _in_memory(kind)
        scalar = self._code.value(f"load {ELEMENTS[memory]}, ptr {self._bases[position]}, align 1")
        return cast(self._code, self._code.splat(memory, scalar), memory, kind)

    def _store_of_row(self, number: int, begin: str, end: str) -> None:
        """Store a result that has one value per row: into its one element, or into all elements."""
        code, position = self._code, self._results[number]
        kind = self._steps[position].kind
        if self._pattern.columns[self._given + number] != "same":

            def fill(chunk: _Chunk, totals: Values) -> Values:
                for each in range(chunk.vectors):
                    self._store_result(number, chunk, each, self._of_row[position])
                return totals

            self._walk_columns(begin, end, [], fill)
            return
        memory = _in_memory(kind)
        vector = cast(code, self._of_row[position], kind, memory)
        scalar = code.value(f"extractelement {code.vector(memory)} {vector}, i32 0")
        code.line(f"store {ELEMENTS[memory]} {scalar}, ptr {self._bases[self._given + number]}, align 1")

    def _store_result(self, number: int, chunk: _Chunk, each: int, value: str) -> None:
        index = self._given + number
        kind, how = self._steps[self._results[number]].kind, self._pattern.columns[index]
        self._store(self._bases[index], kind, how, self._apart[index], chunk, each, value)

    def _load(self, base: str, kind: str, how: str, stride: str, chunk: _Chunk, number: int) -> str:
        code, memory = self._code, _in_memory(kind)
        if how == "apart":
            loaded = code.gather(memory, *self._addresses(base, stride, chunk, number))
        elif chunk.mask is None:
            loaded = code.load_vector(memory, self._address(base, memory, chunk, number))
        else:
            loaded = code.load_masked(memory, self._address(base, memory, chunk, number), chunk.mask)
        return cast(code, loaded, memory, kind)

    def _store(
        self, base: str, kind: str, how: str, stride: str, chunk: _Chunk, number: int, value: str
    ) -> None:
        code, memory = self._code, _in_memory(kind)
        value = cast(code, value, kind, memory)
        if how == "apart":
            code.scatter(memory, value, *self._addresses(base, stride, chunk, number))
        elif chunk.mask is None:
            code.store_vector(memory, value, self._address(base, memory, chunk, number))
        else:
            code.store_masked(memory, value, self._address(base, memory, chunk, number), chunk.mask)

    def _address(self, base: str, memory: str, chunk: _Chunk, number: int) -> str:
        code, size = self._code, BITS[memory] // 8
        found = code.value(f"getelementptr {ELEMENTS[memory]}, ptr {base}, i64 {chunk.column}")
        return code.address(found, str(number * code.lanes * size)) if number else found

    def _addresses(self, base: str, stride: str, chunk: _Chunk, number: int) -> tuple[str, str]:
        """Addresses of a vector's elements that lie apart, and the mask of the elements that count."""
        code = self._code
        vector = code.vector("int64")
        numbers = code.numbers(number * code.lanes)
        indices = code.value(f"add {vector} {code.splat('int64', chunk.column)}, {numbers}")
        offsets = code.value(f"mul {vector} {indices}, {code.splat('int64', stride)}")
        addresses = code.value(f"getelementptr i8, ptr {base}, {vector} {offsets}")
        return addresses, chunk.mask or code.constant("bool", 1)


def _in_memory(kind: str) -> str:
    return "uint8" if kind == "bool" else kind
