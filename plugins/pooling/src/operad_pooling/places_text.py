"""Kernels of maxima of windows, as text of LLVM.

A vector has windows of one row, or elements of one row by blocks of a stride: every second element is found
by shuffles of two vectors, others are gathered. Vectors that reach beyond a row of data or of windows are
masked; which these are the table says. The gradient goes by elements: each adds up what its windows, at most
a few, give it, so nothing is cleared or read again, and an element is the same sum in any part.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple, final

from operad_pooling.places import NO_PLACE
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer

BYTES: Final = {"float32": 4, "float64": 8}
_TRUE: Final = "splat (i1 true)"
_Masks = Sequence[str | None]
_AHEAD_BYTES: Final = 2048
"""Distance from what is read with a mask to what is prefetched, as processors then do not."""

PlacesTable = namedtuple(
    "PlacesTable",
    "data windows places plane row height width rows columns above before begin inner outer end",
)
"""Addresses of data, or its gradient, of the windows' numbers and places; bytes from a plane of data to the
next, and from a row; its rows and columns, and those of windows; padding `above` a plane and `before` a row;
and the first windows of vectors, or blocks of elements: those from `inner` to `outer` lie inside a row."""


class Windows(NamedTuple):
    """Windows along one axis, and whether all of them lie inside the data."""

    kernel: int
    stride: int
    are_whole: bool


@final
class PlacesText:
    """A kernel whose units are planes.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, down: Windows, along: Windows, by_strips: bool, is_gradient: bool) -> None:
        """Write the maxima and their places, or where `is_gradient` the adjoint.

        Args:
            by_strips: Whether vectors follow each other down, so that all rows share masks, and else along
                rows, which reads memory in order.
        """
        self._kind, self._size, self._lanes = kind, BYTES[kind], LANES[BYTES[kind]]
        self._down, self._along = down, along
        self._kernel, self._stride = along.kernel, along.stride
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, self._lanes)
        self._words = words = code.record(PlacesTable)
        # Of places while they are compared.
        self._integer = f"int{8 * self._size}"
        self._numbers = code.vector(self._integer)
        data, self._windows, self._places = map(code.pointer, (words.data, words.windows, words.places))
        write = self._spread if is_gradient else self._pool

        def rows(body: Callable[[str], None]) -> None:
            code.loop("0", words.height if is_gradient else words.rows, 1, [], _each(body))

        def strips(body: Callable[[str, bool], None]) -> None:
            loop = partial(code.loop, step=self._lanes, carried=[])
            loop(words.begin, words.inner, body=_each(lambda at: body(at, False)))
            loop(words.inner, words.outer, body=_each(lambda at: body(at, True)))
            loop(words.outer, words.end, body=_each(lambda at: body(at, False)))

        def plane(number: str, _: Values) -> Values:
            begin = code.address(data, code.multiply(words.plane, number))
            first = code.multiply(code.multiply(words.rows, words.columns), number)
            if by_strips:
                strips(lambda at, is_inner: rows(write(begin, first, at, is_inner)))
            else:
                rows(lambda y: strips(lambda at, is_inner: write(begin, first, at, is_inner)(y)))
            return []

        code.loop("%first", "%last", 1, [], plane)
        self.text: Final = code.module()

    def _pool(self, begin: str, first: str, x: str, is_inner: bool) -> Callable[[str], None]:
        """The first of the largest elements, one that is larger than those before; NaN where there is any."""
        code, words, down = self._code, self._words, self._down
        vector, masks = code.vector(self._kind), code.vector("bool")
        column = self._less(code.multiply(x, self._stride), words.before)
        read, is_whole = self._reader(column, is_inner), is_inner or self._along.are_whole
        inside = [
            None if is_whole else self._inside(code.add(column, j), words.width, self._stride)
            for j in range(self._kernel)
        ]
        stored = None if is_inner else self._inside(x, words.columns)
        lowest, earliest = code.constant(self._kind, float("-inf")), self._earliest(inside)

        def row(y: str) -> None:
            top = self._less(code.multiply(y, down.stride), words.above)

            def taps(number: str, values: Values) -> Values:
                others = read(code.address(begin, code.multiply(words.row, code.add(top, number))))
                return self._larger(self._number(number), others, inside, values)

            if down.are_whole:
                found = [lowest, earliest, "zeroinitializer"]
                for number in range(down.kernel):
                    found = taps(str(number), found)
            else:
                low = self._largest("0", self._less("0", top))
                high = code.smallest(str(down.kernel), self._less(words.height, top))
                start = code.value(f"add {self._numbers} {self._number(low)}, {earliest}")
                carried = [(vector, lowest), (self._numbers, start), (masks, "zeroinitializer")]
                found = code.loop(low, high, 1, carried, taps)
            self._finish(code.add(code.add(first, code.multiply(words.columns, y)), x), found, stored)

        return row

    def _number(self, tap_row: str) -> str:
        """Number of the first element of a row in a window."""
        return self._code.converted(self._integer, self._code.multiply(tap_row, self._kernel))

    def _earliest(self, inside: _Masks) -> str:
        """The first element of a row inside the data: the largest if all are infinitely small."""
        code, found = self._code, ""
        for j, mask in reversed([*enumerate(inside)]):
            own = code.constant(self._integer, j)
            if found and mask is not None:
                own = self._selected(mask, self._numbers, own, found)
            found = own
        return found

    def _larger(self, before: str, others: Values, inside: _Masks, values: Values) -> Values:
        """The largest so far, its place, and where there is a NaN, after one row of windows' elements."""
        code, (best, place, has_nan) = self._code, values
        vector, masks = code.vector(self._kind), code.vector("bool")
        for one, other in zip(others[::2], [*others[1::2], others[-1]], strict=False):
            is_nan = code.value(f"fcmp uno {vector} {one}, {other}")
            has_nan = code.value(f"or {masks} {has_nan}, {is_nan}")
        for j, (given, mask) in enumerate(zip(others, inside, strict=True)):
            other = given
            if mask is not None:
                other = self._selected(mask, vector, given, code.constant(self._kind, float("-inf")))
            is_new = code.value(f"fcmp ogt {vector} {other}, {best}")
            own = code.value(f"add {self._numbers} {before}, {code.constant(self._integer, j)}")
            best = self._selected(is_new, vector, other, best)
            place = self._selected(is_new, self._numbers, own, place)
        return [best, place, has_nan]

    def _finish(self, window: str, values: Values, mask: str | None) -> None:
        """Store the largest elements and their places."""
        code, kind, (best, place, has_nan) = self._code, self._kind, values
        nan, none = code.constant(kind, float("nan")), code.constant(self._integer, NO_PLACE)
        best = self._selected(has_nan, code.vector(kind), nan, best)
        place = self._selected(has_nan, self._numbers, none, place)
        byte = code.value(f"trunc {self._numbers} {place} to {code.vector('uint8')}")
        self._store(kind, best, self._element(self._windows, window, self._size), mask)
        self._store("uint8", byte, self._element(self._places, window, 1), mask)

    def _reader(self, column: str, is_inner: bool) -> Callable[[str], Values]:
        """Function from a row to the elements of windows, of which the first begins at `column`."""
        code, kind, lanes, width = self._code, self._kind, self._lanes, self._words.width
        firsts: Sequence[int] = range(self._kernel)
        if self._stride == 2:  # two vectors have the elements of two places in windows
            firsts = [2 * pair + half * lanes for pair in range(-(-self._kernel // 2)) for half in (0, 1)]
        apart = self._stride if self._stride > 2 else 1
        begins = [code.add(column, first) for first in firsts]
        masks = [None if is_inner else self._inside(begin, width, apart) for begin in begins]

        def read(row: str) -> Values:
            found = [
                self._load(kind, self._element(row, begin, self._size), mask, apart)
                for begin, mask in zip(begins, masks, strict=True)
            ]
            if self._stride == 2:
                pairs = [*zip(found[::2], found[1::2], strict=True)]
                sides = [range(side, 2 * lanes, 2) for side in (0, 1)]
                found = [code.shuffled(kind, *pairs[j // 2], sides[j % 2]) for j in range(self._kernel)]
            return found

        return read

    def _spread(self, begin: str, first: str, block: str, is_inner: bool) -> Callable[[str], None]:
        """For each element the sum of the numbers that have its place, and of products with 0."""
        code, kind, words, down = self._code, self._kind, self._words, self._down
        before = [code.add(block, -m) for m in range(-(-self._kernel // self._stride))]
        inside = [None if is_inner else self._inside(each, words.columns) for each in before]
        store = self._spread_store(block, is_inner)

        def row(r: str) -> None:
            below = code.add(r, words.above)
            last = code.value(f"sdiv i64 {below}, {down.stride}")
            last = code.smallest(last, code.add(words.rows, -1))
            early = code.value(f"sdiv i64 {code.add(below, down.stride - down.kernel)}, {down.stride}")
            count = code.add(self._less(last, self._largest("0", early)), 1)

            # From the last row of windows to the first: the order of the elements in windows.
            def add(number: str, totals: Values) -> Values:
                y = self._less(last, number)
                place = code.multiply(self._less(below, code.multiply(y, down.stride)), self._kernel)
                own = code.splat("uint8", code.value(f"trunc i64 {place} to i8"))
                windows = code.add(first, code.multiply(words.columns, y))
                for m, (each, mask) in enumerate(zip(before, inside, strict=True)):
                    totals = self._added(code.add(windows, each), mask, own, m * self._stride, totals)
                return totals

            zeros = [(code.vector(kind), code.constant(kind, 0))] * self._stride
            totals = code.loop("0", count, 1, zeros, add)
            store(code.address(begin, code.multiply(words.row, r)), totals)

        return row

    def _added(self, window: str, mask: str | None, before: str, first: int, totals: Values) -> Values:
        """Sums of elements with what some windows give those which have the places from `first` on."""
        code, kind, bytes_ = self._code, self._kind, self._code.vector("uint8")
        vector, found = code.vector(kind), [*totals]
        head = self._load(kind, self._element(self._windows, window, self._size), mask)
        place = self._load("uint8", self._element(self._places, window, 1), mask)
        for phase, j in enumerate(range(first, min(first + self._stride, self._kernel))):
            own = code.value(f"add {bytes_} {before}, {code.constant('uint8', j)}")
            is_here = code.value(f"icmp eq {bytes_} {place}, {own}")
            factor = self._selected(is_here, vector, code.constant(kind, 1), code.constant(kind, 0))
            product = code.value(f"fmul {vector} {head}, {factor}")
            found[phase] = code.value(f"fadd {vector} {found[phase]}, {product}")
        return found

    def _spread_store(self, block: str, is_inner: bool) -> Callable[[str, Values], None]:
        """Function that stores blocks of a row, given the first elements of all, the second, and so on."""
        code, kind, lanes, width = self._code, self._kind, self._lanes, self._words.width
        column = self._less(code.multiply(block, self._stride), self._words.before)
        apart = self._stride if self._stride > 2 else 1
        steps = [0, lanes] if self._stride == 2 else range(self._stride)
        ends = [code.add(column, step) for step in steps]
        masks = [None if is_inner else self._inside(end, width, apart) for end in ends]
        order = [half + lane for lane in range(lanes) for half in (0, lanes)]

        def store(row: str, totals: Values) -> None:
            if self._stride == 2:
                one, other = totals
                totals = [code.shuffled(kind, one, other, order[half : half + lanes]) for half in steps]
            for end, mask, total in zip(ends, masks, totals, strict=True):
                self._store(kind, total, self._element(row, end, self._size), mask, apart)

        return store

    def _inside(self, first: str, length: str, step: int = 1) -> str:
        """Mask of the lanes, `step` elements apart, that lie in a row of some length; none before it does."""
        code, vector = self._code, self._code.vector("int32")
        begin, end = (code.splat("int32", code.value(f"trunc i64 {each} to i32")) for each in (first, length))
        lanes = code.value(f"add {vector} {begin}, {code.numbers(step=step, kind='int32')}")
        return code.value(f"icmp ult {vector} {lanes}, {end}")

    def _apart(self, place: str) -> str:
        """Addresses of elements that are a stride apart."""
        steps = self._code.numbers(step=self._stride * self._size)
        return self._code.value(f"getelementptr i8, ptr {place}, {self._code.vector('int64')} {steps}")

    def _selected(self, mask: str, vector: str, one: str, other: str) -> str:
        masks = self._code.vector("bool")
        return self._code.value(f"select {masks} {mask}, {vector} {one}, {vector} {other}")

    def _less(self, one: str, other: str) -> str:
        return self._code.value(f"sub i64 {one}, {other}")

    def _largest(self, one: str, other: str) -> str:
        return self._code.call("i64", "llvm.smax.i64", ("i64", one), ("i64", other))

    def _element(self, base: str, number: str, size: int) -> str:
        return self._code.address(base, self._code.multiply(number, size))

    def _load(self, kind: str, at: str, mask: str | None, apart: int = 1) -> str:
        if apart > 1:
            return self._code.gather(kind, self._apart(at), mask or _TRUE)
        if mask is None:
            return self._code.load_vector(kind, at)
        if kind == self._kind:
            self._code.prefetch(self._code.address(at, str(_AHEAD_BYTES)))
        return self._code.load_masked(kind, at, mask)

    def _store(self, kind: str, value: str, at: str, mask: str | None, apart: int = 1) -> None:
        if apart > 1:
            self._code.scatter(kind, value, self._apart(at), mask or _TRUE)
        elif mask is None:
            self._code.store_vector(kind, value, at)
        else:
            self._code.store_masked(kind, value, at, mask)


def _each(body: Callable[[str], None]) -> Callable[[str, Values], Values]:
    """The body of a loop that carries nothing."""

    def run(number: str, _: Values) -> Values:
        body(number)
        return []

    return run
