"""The kernel of a gradient by images whose windows are several elements apart, as text of LLVM."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, final

from operad_convolution.direct.images import BYTES, RunCopy
from operad_convolution.direct.tables import Place, PlacesCall, PlacesRow, PlacesTable
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Words, Writer


class PlacesPattern(NamedTuple):
    """Gradient, as far as the text of its kernel depends on it.

    Attributes:
        kind: The element type.
        apart: Columns between neighbouring windows.
        runs: Rows of a place that make a whole vector; 0: rows are taken one by one.
        fills: Whether some places see no taps: the gradient is the bias there, or zero.
        has_bias: Whether there is one.
    """

    kind: str
    apart: int
    runs: int
    fills: bool
    has_bias: bool


@final
class PlacesText:
    """Calls the correlations of all places of a stride, image by image, and puts their columns together.

    The correlations write to scratch memory.

    Attributes:
        text: The module.
    """

    def __init__(self, pattern: PlacesPattern) -> None:
        """Write it."""
        self._pattern, self._kind, self._size = pattern, pattern.kind, BYTES[pattern.kind]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, LANES[self._size])
        words = code.record(PlacesTable)
        self._channels, self._columns = words.channels, words.columns
        self._out_channel, self._out_row = words.out_channel, words.out_row
        self._counts = [
            code.value(f"sdiv i64 {code.add(self._columns, pattern.apart - 1 - i)}, {pattern.apart}")
            for i in range(pattern.apart)
        ]
        self._run = RunCopy(code, self._kind, self._columns, 1) if pattern.apart == 1 else None
        if pattern.fills:
            bias, begin = code.pointer(words.bias), code.address("%scratch", words.fill)
            self._fill(bias, begin, words.fill_channel)

        def image(number: str, _: Values) -> Values:
            following = code.add(number, 1)

            def call(_: str, values: Values) -> Values:
                own = Words(code, PlacesCall._fields, values[0])
                own.call_kernel(code.address("%table", own("table")), number, following)
                return [code.address(values[0], str(8 * len(PlacesCall._fields)))]

            begin = [("ptr", code.address("%table", words.calls))]
            code.loop("0", words.call_count, 1, begin, call)
            target = code.address(code.pointer(words.out), code.multiply(words.out_image, number))
            begin = [("ptr", code.address("%table", words.rows))]
            code.loop(
                "0", words.row_count, 1, begin, lambda _, values: [self._row_of_places(values[0], target)]
            )
            return []

        code.loop("%first", "%last", 1, [], image)
        self.text: Final = code.module()

    def _fill(self, bias: str, target: str, channel_bytes: str) -> None:
        """A row for each channel; what vectors write behind it is written over by those of the next."""
        code, kind = self._code, self._kind

        def channel(number: str, _: Values) -> Values:
            found = code.constant(kind, 0)
            if self._pattern.has_bias:
                found = code.broadcast(kind, code.address(bias, code.multiply(number, self._size)))
            row = code.address(target, code.multiply(channel_bytes, number))

            def some(at: str, _: Values) -> Values:
                code.store_vector(kind, found, code.address(row, at))
                return []

            code.loop("0", channel_bytes, self._size * code.lanes, [], some)
            return []

        code.loop("0", self._channels, 1, [], channel)

    def _row_of_places(self, words: str, target: str) -> str:
        """All channels of a row of places; gives where the words of the next are."""
        code, pattern = self._code, self._pattern
        own, behind, size = Words(code, PlacesRow._fields, words), len(PlacesRow._fields), len(Place._fields)
        begin, rows = code.address(target, own("out")), own("rows")
        places = [code.record(Place, words, behind + i * size) for i in range(pattern.apart)]

        def channel(number: str, _: Values) -> Values:
            starts = [code.add(place.begin, code.multiply(place.channel, number)) for place in places]
            to = code.address(begin, code.multiply(self._out_channel, number))

            def row(number: str, _: Values) -> Values:
                sources = [
                    code.address("%scratch", code.add(start, code.multiply(place.row, number)))
                    for start, place in zip(starts, places, strict=True)
                ]
                self._write(sources, code.address(to, code.multiply(self._out_row, number)))
                return []

            code.loop("0", rows, pattern.runs or 1, [], row)
            return []

        code.loop("0", self._channels, 1, [], channel)
        return code.address(words, str(8 * (behind + size * pattern.apart)))

    @property
    def _write(self) -> Callable[[Values, str], None]:
        if self._pattern.runs:
            return self._rows
        return {1: self._copy, 2: self._pairs}.get(self._pattern.apart, self._scatter)

    def _copy(self, sources: Values, target: str) -> None:
        assert self._run is not None
        self._run.write(sources[0], target)

    def _rows(self, sources: Values, target: str) -> None:
        """Rows of which several make a vector."""
        code, kind, pattern = self._code, self._kind, self._pattern
        vectors = [code.load_vector(kind, source) for source in sources]
        if pattern.apart == 2:
            vectors = self._interleaved(vectors)
        # A row of the gradient lies in one vector: it has at most as many elements.
        columns = code.lanes // pattern.runs * pattern.apart
        for row in range(pattern.runs):
            number, first = divmod(row * columns, code.lanes)
            piece = code.shuffled(kind, vectors[number], "poison", range(first, first + columns))
            to = code.address(target, code.multiply(self._out_row, row)) if row else target
            code.store_vector(kind, piece, to, columns)

    def _interleaved(self, vectors: Values) -> Values:
        """Elements of two vectors in turn."""
        lanes = self._code.lanes
        order = [lane for pair in zip(range(lanes), range(lanes, 2 * lanes), strict=True) for lane in pair]
        return [
            self._code.shuffled(self._kind, vectors[0], vectors[1], half)
            for half in (order[:lanes], order[lanes:])
        ]

    def _pairs(self, sources: Values, target: str) -> None:
        """A row of two places."""
        code, kind, size, lanes = self._code, self._kind, self._size, self._code.lanes

        def some(at: str, is_whole: bool) -> Values:
            own = [code.address(source, code.multiply(at, size)) for source in sources]
            to, first = code.address(target, code.multiply(at, 2 * size)), code.multiply(at, 2)
            found = [
                code.load_vector(kind, each)
                if is_whole
                else code.load_masked(kind, each, code.mask(at, count))
                for each, count in zip(own, self._counts, strict=True)
            ]
            for number, vector in enumerate(self._interleaved(found)):
                place = code.address(to, str(number * lanes * size))
                if is_whole:
                    code.store_vector(kind, vector, place)
                else:
                    mask = code.mask(code.add(first, number * lanes), self._columns)
                    code.store_masked(kind, vector, place, mask)
            return []

        whole = code.value(f"and i64 {self._counts[1]}, {-lanes}")
        code.loop("0", whole, lanes, [], lambda at, _: some(at, True))
        code.loop(whole, self._counts[0], lanes, [], lambda at, _: some(at, False))

    def _scatter(self, sources: Values, target: str) -> None:
        """A row of three places or more."""
        code, kind, apart = self._code, self._kind, self._pattern.apart
        steps = f"{code.vector('int64')} {code.numbers(step=apart * self._size)}"
        for number, (source, count) in enumerate(zip(sources, self._counts, strict=True)):
            begin = code.address(target, str(number * self._size))

            def some(
                at: str, _: Values, source: str = source, count: str = count, begin: str = begin
            ) -> Values:
                mask = code.mask(at, count)
                found = code.load_masked(kind, code.address(source, code.multiply(at, self._size)), mask)
                to = code.address(begin, code.multiply(at, apart * self._size))
                code.scatter(kind, found, code.value(f"getelementptr i8, ptr {to}, {steps}"), mask)
                return []

            code.loop("0", count, self._code.lanes, [], some)
