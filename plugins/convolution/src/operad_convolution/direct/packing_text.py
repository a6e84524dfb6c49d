"""The kernel that brings weights to where tiles read them, as text of LLVM."""

from __future__ import annotations

from typing import Final, final

from operad_convolution.direct.images import BYTES, or_zeros
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer

_GATHERED: Final = 2
"""Columns up to which gathering them is faster than turning whole blocks."""


@final
class PackingText:
    """Copies of matrices whose rows are filters and whose columns are elements of a filter, turned.

    A chunk is rows that lie side by side in the target, a vector at most, in all matrices: its units. The
    table: the weights' address; bytes from a row to the next, and from a matrix; the target's address; the
    address of the chunks, and how many there are. A chunk: bytes from the weights' beginning to its first
    row; how many rows there are; and for each column bytes from the target's beginning, bytes from a matrix
    to the next there, and how many numbers are written, of which those behind the rows are zeros.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, rows: int, columns: int) -> None:
        """Write it; `rows` are those that a chunk has at most."""
        self._kind, self._rows, self._size = kind, rows, BYTES[kind]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, LANES[self._size])
        weight, self._row, self._matrix, target, chunks, count = (code.word("%table", i) for i in range(6))
        self._weight, self._target = code.pointer(weight), code.pointer(target)
        per = columns if columns <= _GATHERED or rows == 1 else code.lanes

        def chunk(_: str, values: Values) -> Values:
            (words,) = values
            for first in range(0, columns, per):
                self._columns(words, first, min(per, columns - first))
            return [code.address(words, str(8 * (2 + 3 * columns)))]

        code.loop("0", count, 1, [("ptr", code.pointer(chunks))], chunk)
        self.text: Final = code.module()

    def _columns(self, words: str, first: int, columns: int) -> None:
        """Some columns of a chunk, of all matrices of the call."""
        code, kind = self._code, self._kind
        source, rows = code.address(self._weight, code.word(words)), code.word(words, 1)
        inside = code.mask("0", rows)
        places = [
            [code.word(words, 2 + 3 * (first + column) + i) for i in range(3)] for column in range(columns)
        ]
        masks = [code.mask("0", written) for *_, written in places]

        def matrix(number: str, _: Values) -> Values:
            begin = code.address(source, code.add(code.multiply(self._matrix, number), first * self._size))
            found = self._read(begin, rows, columns)
            for (to, step, _written), mask, vector in zip(places, masks, found, strict=False):
                target = code.address(self._target, code.add(to, code.multiply(step, number)))
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
