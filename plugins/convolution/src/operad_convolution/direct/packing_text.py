"""The kernel that brings weights to where tiles read them, as text of LLVM."""

from __future__ import annotations

from typing import Final, final

from operad_convolution.direct.images import BYTES, or_zeros
from operad_convolution.direct.tables import Cell, Chunk, PackingTable
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Words, Writer

_GATHERED: Final = 2
"""Columns up to which gathering them is faster than turning whole blocks."""


@final
class PackingText:
    """Copies of matrices whose rows are filters and whose columns are elements of a filter, turned.

    A chunk is rows that lie side by side in the target, a vector at most, in all matrices: its units.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, rows: int, columns: int) -> None:
        """Write it; `rows` are those that a chunk has at most."""
        self._kind, self._rows, self._size = kind, rows, BYTES[kind]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, LANES[self._size])
        table = code.record(PackingTable)
        self._row, self._matrix = table.row, table.matrix
        self._weight, self._target = code.pointer(table.weight), code.pointer(table.target)
        per = columns if columns <= _GATHERED or rows == 1 else code.lanes

        def chunk(_: str, values: Values) -> Values:
            (words,) = values
            for first in range(0, columns, per):
                self._columns(words, first, min(per, columns - first))
            return [code.address(words, str(8 * (len(Chunk._fields) + columns * len(Cell._fields))))]

        code.loop("0", table.count, 1, [("ptr", code.pointer(table.chunks))], chunk)
        self.text: Final = code.module()

    def _columns(self, words: str, first: int, columns: int) -> None:
        """Some columns of a chunk, of all matrices of the call."""
        code, kind = self._code, self._kind
        chunk = Words(code, Chunk._fields, words)
        source, rows = code.address(self._weight, chunk("weight")), chunk("rows")
        inside = code.mask("0", rows)
        behind, size = len(Chunk._fields), len(Cell._fields)
        cells = [code.record(Cell, words, behind + i * size) for i in range(first, first + columns)]
        masks = [code.mask("0", cell.written) for cell in cells]

        def matrix(number: str, _: Values) -> Values:
            begin = code.address(source, code.add(code.multiply(self._matrix, number), first * self._size))
            found = self._read(begin, rows, columns)
            for cell, mask, vector in zip(cells, masks, found, strict=False):
                place = code.add(cell.target, code.multiply(cell.matrix, number))
                target = code.address(self._target, place)
                code.store_masked(kind, or_zeros(code, kind, vector, inside), target, mask)
            return []

        code.loop("%first", "%last", 1, [], matrix)

    def _read(self, begin: str, rows: str, columns: int) -> Values:
        """Vectors of the columns; whatever there is behind the rows."""
        code, kind = self._code, self._kind
        if self._rows == 1:
            return [code.broadcast(kind, code.address(begin, str(i * self._size))) for i in range(columns)]
        if columns <= _GATHERED:
            vector = code.vector("int64")
            offsets = code.value(f"mul {vector} {code.numbers()}, {code.splat('int64', self._row)}")
            mask = code.mask("0", rows)
            found = []
            for i in range(columns):
                own = code.address(begin, str(i * self._size))
                addresses = code.value(f"getelementptr i8, ptr {own}, {vector} {offsets}")
                found.append(code.gather(kind, addresses, mask))
            return found
        last = code.call("i64", "llvm.smax.i64", ("i64", code.add(rows, -1)), ("i64", "0"))
        read = []
        for i in range(self._rows):
            number = code.call("i64", "llvm.smin.i64", ("i64", str(i)), ("i64", last))
            address = code.address(begin, code.multiply(self._row, number))
            read.append(code.load_vector(kind, address, used=columns))
        return code.transposed(kind, [*read, *["poison"] * (code.lanes - self._rows)])
