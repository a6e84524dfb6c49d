"""Kernels of maxima of 2 x 2 elements, as text of LLVM.

A vector has windows of one row. Elements of a row stand in turn left and right in their windows, so two
vectors are loaded and shuffled apart; nothing is gathered. What a row has beyond whole vectors is masked.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Final, final

from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer

BYTES: Final = {"float32": 4, "float64": 8}
_NO_PLACE: Final = 255
"""Place of the maximum of a window with NaN."""

PairsTable = namedtuple("PairsTable", "data windows places plane row rows columns")
"""Addresses of data, or its gradient, of the windows' numbers and places; bytes from a plane of data to the
next, and from a row; and rows and columns of windows."""


@final
class PairsText:
    """A kernel whose units are planes.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, is_gradient: bool) -> None:
        """Write the maxima and their places, or where `is_gradient` the adjoint."""
        self._kind, self._size, self._lanes = kind, BYTES[kind], LANES[BYTES[kind]]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, self._lanes)
        words = code.record(PairsTable)
        data, self._windows, self._places = map(code.pointer, (words.data, words.windows, words.places))
        whole = code.value(f"and i64 {words.columns}, {-self._lanes}")
        rest = code.value(f"sub i64 {words.columns}, {whole}")
        has_rest = code.value(f"zext i1 {code.value(f'icmp ne i64 {rest}, 0')} to i64")
        self._mask = code.mask("0", rest)
        end = code.multiply(rest, 2)
        self._pair_masks = [code.mask(str(first), end) for first in (0, self._lanes)]
        write = self._spread if is_gradient else self._pool

        def plane(number: str, _: Values) -> Values:
            begin = code.address(data, code.multiply(words.plane, number))
            first = code.multiply(code.multiply(words.rows, words.columns), number)

            def row(y: str, _: Values) -> Values:
                above = code.address(begin, code.multiply(code.multiply(words.row, 2), y))
                rows = [above, code.address(above, words.row)]
                window = code.add(first, code.multiply(words.columns, y))

                def some(x: str, is_whole: bool) -> Values:
                    offset = code.multiply(x, 2 * self._size)
                    write([code.address(each, offset) for each in rows], code.add(window, x), is_whole)
                    return []

                code.loop("0", whole, self._lanes, [], lambda x, _: some(x, True))
                code.loop("0", has_rest, 1, [], lambda _, __: some(whole, False))
                return []

            code.loop("0", words.rows, 1, [], row)
            return []

        code.loop("%first", "%last", 1, [], plane)
        self.text: Final = code.module()

    def _pool(self, rows: Values, window: str, is_whole: bool) -> None:
        """The first of the largest elements: one that is larger than those before, or NaN."""
        code, kind, integer = self._code, self._kind, f"int{8 * self._size}"
        vector, places, masks = code.vector(kind), code.vector(integer), code.vector("bool")
        best, *others = [each for row in rows for each in self._elements(row, is_whole)]
        place = "zeroinitializer"
        for number, other in enumerate(others, 1):
            is_larger = code.value(f"fcmp ogt {vector} {other}, {best}")
            is_new = code.value(f"or {masks} {is_larger}, {self._is_nan(other)}")
            best = code.value(f"select {masks} {is_new}, {vector} {other}, {vector} {best}")
            own = f"{places} {code.constant(integer, number)}"
            place = code.value(f"select {masks} {is_new}, {own}, {places} {place}")
        none = f"{places} {code.constant(integer, _NO_PLACE)}"
        place = code.value(f"select {masks} {self._is_nan(best)}, {none}, {places} {place}")
        byte = code.value(f"trunc {places} {place} to {code.vector('uint8')}")
        self._store(kind, best, self._window(self._windows, window, self._size), is_whole, self._mask)
        self._store("uint8", byte, self._window(self._places, window, 1), is_whole, self._mask)

    def _spread(self, rows: Values, window: str, is_whole: bool) -> None:
        """Each number to the element that has the place, and products with 0 to the others."""
        code, kind, lanes = self._code, self._kind, self._lanes
        vector, masks = code.vector(kind), code.vector("bool")
        head = self._load(kind, self._window(self._windows, window, self._size), is_whole, self._mask)
        place = self._load("uint8", self._window(self._places, window, 1), is_whole, self._mask)
        one, zero = (f"{vector} {code.constant(kind, number)}" for number in (1, 0))
        found = []
        for number in range(4):
            own = code.constant("uint8", number)
            is_here = code.value(f"icmp eq {code.vector('uint8')} {place}, {own}")
            factor = code.value(f"select {masks} {is_here}, {one}, {zero}")
            found.append(code.value(f"fmul {vector} {head}, {factor}"))
        order = [lane for pair in zip(range(lanes), range(lanes, 2 * lanes), strict=True) for lane in pair]
        for row, pair in zip(rows, (found[:2], found[2:]), strict=True):
            for half, mask in enumerate(self._pair_masks):
                some = code.shuffled(kind, pair[0], pair[1], order[half * lanes : (half + 1) * lanes])
                at = code.address(row, str(half * lanes * self._size))
                self._store(kind, some, at, is_whole, mask)

    def _elements(self, row: str, is_whole: bool) -> Values:
        """The left and the right elements of windows."""
        code, kind, lanes = self._code, self._kind, self._lanes
        pair = [
            self._load(kind, code.address(row, str(half * lanes * self._size)), is_whole, mask)
            for half, mask in enumerate(self._pair_masks)
        ]
        return [code.shuffled(kind, pair[0], pair[1], range(side, 2 * lanes, 2)) for side in (0, 1)]

    def _is_nan(self, vector: str) -> str:
        return self._code.value(f"fcmp uno {self._code.vector(self._kind)} {vector}, {vector}")

    def _window(self, base: str, number: str, size: int) -> str:
        return self._code.address(base, self._code.multiply(number, size))

    def _load(self, kind: str, at: str, is_whole: bool, mask: str) -> str:
        return self._code.load_vector(kind, at) if is_whole else self._code.load_masked(kind, at, mask)

    def _store(self, kind: str, value: str, at: str, is_whole: bool, mask: str) -> None:
        if is_whole:
            self._code.store_vector(kind, value, at)
        else:
            self._code.store_masked(kind, value, at, mask)
