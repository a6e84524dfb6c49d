"""The kernel of a correlation, as text of LLVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from operad_convolution.direct.images import (
    BYTES,
    Tile,
    image_reader,
    image_words,
    output,
    pixels,
    store_pixels,
)
from operad_convolution.direct.tables import ForwardTable, TapRows
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer


@final
class ForwardText:
    """Tiles of filters by vectors of pixels, whose sums stay in registers while all channels and taps go by.

    The offsets of a tile are those of its runs in the copied image, and then in the output. The weights are
    those of a block, channel by channel and tap by tap; with `tap_rows` row by row of taps, each channel by
    channel.

    Attributes:
        text: The module.
    """

    def __init__(
        self,
        kind: str,
        tile: Tile,
        rest: int,
        taps: int,
        tap_rows: int,
        parts: int,
        has_bias: bool,
        is_copied: bool,
    ) -> None:
        """Write it.

        Args:
            rest: Filters of a group that are left over when the others have gone into tiles.
            taps: Elements of a filter in one channel.
            tap_rows: In so many rows, of which tiles pass some over; 0: every tile goes through all taps.
            parts: Columns between neighbouring windows.
            is_copied: Whether windows need the room of a copy; else tiles read the image itself.
        """
        self._kind, self._tile, self._taps, self._has_bias = kind, tile, taps, has_bias
        self._tap_rows = tap_rows
        self._size = BYTES[kind]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, LANES[self._size])
        self._image, self._parts, words = image_words(code, parts, ForwardTable._fields)
        weights, bias, out = words.pointer("weight"), words.pointer("bias"), output(code, words)
        out_image, self._out_channel = words("out_image"), words("out_channel")
        groups, blocks, rests = words("groups"), words("filters"), words("rests")
        self._channels, self._tiles = words("channels"), words("tiles")
        self._tap_words, self._tile_words = words.pointer("tap_offsets"), words.pointer("tile_offsets")
        self._offsets = [code.word(self._tap_words, i) for i in range(taps // (tap_rows or 1))]
        if tap_rows:  # of a row, from its first
            self._offsets = [code.value(f"sub i64 {each}, {self._offsets[0]}") for each in self._offsets]

        read_image = image_reader(code, kind, self._image, self._parts, is_copied)

        def one_image(number: str, _: Values) -> Values:
            source = read_image(number)
            target = code.address(out, code.multiply(out_image, number))
            begin = [("ptr", each) for each in (source, weights, bias, target)]
            code.loop("0", groups, 1, begin, lambda _, values: self._group(values, blocks, rest, rests))
            return []

        code.loop("%first", "%last", 1, [], one_image)
        self.text: Final = code.module()

    def _group(self, values: Values, blocks: str, rest: int, rests: str) -> Values:
        """The filters of a group, block by block; gives where the next group's image, weights, ... are."""
        code, (source, *others) = self._code, values
        for count, filters in ((blocks, self._tile.filters), *([(rests, rest)] if rest else [])):
            others = self._blocks(count, filters, source, others)
        return [code.address(source, code.multiply(self._channels, self._image.copied_channel)), *others]

    def _blocks(self, count: str, filters: int, source: str, others: Values) -> Values:
        """So many blocks of some filters."""
        begin = [("ptr", each) for each in others]
        return self._code.loop("0", count, 1, begin, lambda _, values: self._block(filters, source, *values))

    def _block(self, filters: int, source: str, weight: str, bias: str, target: str) -> Values:
        """Some filters; gives where the next ones' weights, bias and output are."""
        code, size = self._code, self._size
        code.loop(
            "0",
            self._tiles,
            1,
            [],
            lambda number, _: self._compute(filters, number, source, weight, bias, target),
        )
        return [
            code.address(weight, code.multiply(self._channels, size * self._taps * filters)),
            code.address(bias, str(size * filters)) if self._has_bias else bias,
            code.address(target, code.multiply(self._out_channel, filters)),
        ]

    def _compute(self, filters: int, number: str, source: str, weight: str, bias: str, target: str) -> Values:
        """One tile."""
        code, kind, tile = self._code, self._kind, self._tile
        runs, ends = tile.vectors * tile.runs, len(TapRows._fields) if self._tap_rows else 0
        row = code.address(self._tile_words, code.multiply(number, 16 * runs + 8 * ends))
        seen = code.record(TapRows, row) if ends else TapRows(first="0", end="1")
        row = code.address(row, str(8 * ends))
        sources = [code.address(source, code.word(row, i)) for i in range(runs)]
        targets = [code.address(target, code.word(row, runs + i)) for i in range(runs)]
        vectors = [slice(v * tile.runs, (v + 1) * tile.runs) for v in range(tile.vectors)]
        zero = code.constant(kind, 0)
        first = [
            code.broadcast(kind, code.address(bias, str(self._size * i))) if self._has_bias else zero
            for i in range(filters)
        ]
        sums = [(code.vector(kind), value) for value in first for _ in vectors]

        # Channels are the loop and taps are written out: each sum has its own register all the way, and the
        # weights of a block are read one after another.
        def add(_: str, values: Values) -> Values:
            *totals, place, weight = values
            for tap, offset in enumerate(self._offsets):
                at = code.add(place, offset)
                inside = [pixels(code, kind, tile, sources[each], at) for each in vectors]
                for i in range(filters):
                    address = code.address(weight, str(self._size * (tap * filters + i)))
                    factor = code.broadcast(kind, address)
                    for k, pixel in enumerate(inside, i * tile.vectors):
                        totals[k] = code.multiply_add(kind, factor, pixel, totals[k])
            following = code.address(weight, str(self._size * len(self._offsets) * filters))
            return [*totals, code.add(place, self._image.copied_channel), following]

        def channels(totals: Sequence[tuple[str, str]], place: str, weight: str) -> Values:
            return code.loop("0", self._channels, 1, [*totals, ("i64", place), ("ptr", weight)], add)[:-2]

        def tap_row(number: str, values: Values) -> Values:
            columns = len(self._offsets)
            place = code.word(code.address(self._tap_words, code.multiply(number, 8 * columns)))
            begin = code.multiply(code.multiply(number, self._channels), self._size * columns * filters)
            totals = [(kind, value) for (kind, _), value in zip(sums, values, strict=True)]
            return channels(totals, place, code.address(weight, begin))

        if self._tap_rows:
            totals = code.loop(seen.first, seen.end, 1, sums, tap_row)
        else:
            totals = channels(sums, "0", weight)
        for i in range(filters):
            offset = code.multiply(self._out_channel, i) if i else "0"
            for v, each in enumerate(vectors):
                store_pixels(code, kind, tile, totals[i * tile.vectors + v], targets[each], offset)
        return []
