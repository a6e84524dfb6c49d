"""Kernels of correlations with few pixels and many filters: the lanes of a vector are filters.

Where rows of the output are short, vectors of pixels are half empty or come in pieces. Here a pixel is one
number, multiplied with a vector of weights, so no lane is lost but those behind the last filter, and it
does not matter how far apart windows are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, final

from operad_convolution.direct.images import BYTES, image_reader, image_words, output
from operad_convolution.direct.tables import ForwardTable, TileOutput
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Words, Writer


class AcrossTile(NamedTuple):
    """Sums that are computed at once.

    Attributes:
        vectors: Vectors of filters.
        numbers: Pixels, or positions of weights.
    """

    vectors: int
    numbers: int


@final
class AcrossText:
    """A correlation.

    The offsets of a tile are those of its pixels in the copied image. The weights are those of a block of
    vectors, channel by channel and tap by tap, and zeros behind the last filter.

    Attributes:
        text: The module.
    """

    def __init__(
        self,
        kind: str,
        tile: AcrossTile,
        taps: int,
        parts: int,
        has_bias: bool,
        is_copied: bool,
        seen: Sequence[Sequence[int]] | None = None,
    ) -> None:
        """Write it.

        Args:
            taps: Elements of a filter in one channel.
            parts: Those of a copied row.
            is_copied: As `ForwardText` has it.
            seen: For each pixel the taps that see more than zeros, if one tile has all pixels.
        """
        self._kind, self._tile, self._taps, self._has_bias = kind, tile, taps, has_bias
        self._seen = seen or [range(taps)] * tile.numbers
        self._size, self._lanes = BYTES[kind], LANES[BYTES[kind]]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, self._lanes)
        self._image, self._parts, words = image_words(code, parts, ForwardTable._fields)
        weights, bias, out = words.pointer("weight"), words.pointer("bias"), output(code, words)
        out_image, self._out_channel = words("out_image"), words("out_channel")
        groups, self._filters = words("groups"), words("filters")
        self._channels, self._tiles = words("channels"), words("tiles")
        tap_words, self._tile_words = words.pointer("tap_offsets"), words.pointer("tile_offsets")
        self._offsets = [code.word(tap_words, i) for i in range(taps)]
        read_image = image_reader(code, kind, self._image, self._parts, is_copied)

        def one_image(number: str, _: Values) -> Values:
            source = read_image(number)
            target = code.address(out, code.multiply(out_image, number))
            begin = [("ptr", each) for each in (source, weights, bias, target)]
            code.loop("0", groups, 1, begin, lambda _, values: self._group(*values))
            return []

        code.loop("%first", "%last", 1, [], one_image)
        self.text: Final = code.module()

    def _group(self, source: str, weight: str, bias: str, target: str) -> Values:
        code, per = self._code, self._tile.vectors * self._lanes
        weight_bytes = code.multiply(self._channels, per * self._taps * self._size)

        def block(first: str, values: Values) -> Values:
            weight, bias, target = values
            masks = [
                code.mask(code.add(first, v * self._lanes), self._filters) for v in range(self._tile.vectors)
            ]
            last = code.value(f"sub i64 {code.add(self._filters, -1)}, {first}")
            # Filters behind the last are written to its place, before it: no store depends on their number.
            rows = [
                code.multiply(
                    code.call("i64", "llvm.smin.i64", ("i64", str(i)), ("i64", last)), self._out_channel
                )
                for i in range(per)
            ]
            zero = code.constant(self._kind, 0)
            begin = [
                code.load_masked(self._kind, code.address(bias, str(v * self._lanes * self._size)), mask)
                if self._has_bias
                else zero
                for v, mask in enumerate(masks)
            ]
            code.loop(
                "0",
                self._tiles,
                1,
                [],
                lambda number, _: self._compute(number, source, weight, begin, rows, target),
            )
            return [
                code.address(weight, weight_bytes),
                code.address(bias, str(per * self._size)) if self._has_bias else bias,
                code.address(target, code.multiply(self._out_channel, per)),
            ]

        start = [("ptr", each) for each in (weight, bias, target)]
        weight, *_ = code.loop("0", self._filters, per, start, block)
        return [
            code.address(source, code.multiply(self._channels, self._image.copied_channel)),
            weight,
            code.address(bias, code.multiply(self._filters, self._size)) if self._has_bias else bias,
            code.address(target, code.multiply(self._out_channel, self._filters)),
        ]

    def _compute(
        self, number: str, source: str, weight: str, begin: Values, rows: Values, target: str
    ) -> Values:
        """One tile."""
        code, kind, size, (vectors, pixels) = self._code, self._kind, self._size, self._tile
        row = code.address(self._tile_words, code.multiply(number, 8 * (pixels + len(TileOutput._fields))))
        sources = [code.address(source, code.word(row, i)) for i in range(pixels)]
        sums = [(code.vector(kind), value) for value in begin for _ in range(pixels)]

        def add(_: str, values: Values) -> Values:
            *totals, place, weight = values
            for tap, offset in enumerate(self._offsets):
                at = code.add(place, offset)
                first = size * self._lanes * tap * vectors
                own = [code.address(weight, str(first + size * self._lanes * v)) for v in range(vectors)]
                factors = [code.load_vector(kind, address) for address in own]
                for i, base in enumerate(sources):
                    if tap not in self._seen[i]:
                        continue
                    pixel = code.broadcast(kind, code.address(base, at))
                    for v, factor in enumerate(factors):
                        k = v * pixels + i
                        totals[k] = code.multiply_add(kind, factor, pixel, totals[k])
            following = code.address(weight, str(size * self._lanes * self._taps * vectors))
            return [*totals, code.add(place, self._image.copied_channel), following]

        totals = code.loop("0", self._channels, 1, [*sums, ("i64", "0"), ("ptr", weight)], add)
        out = Words(code, TileOutput._fields, row, pixels)
        self._store(totals[:-2], rows, code.address(target, out("first")), out("pixels"))
        return []

    def _store(self, totals: Values, rows: Values, target: str, count: str) -> None:
        """Sums turned to where the pixels of a filter lie side by side.

        Args:
            rows: Bytes from the first filter of the block to each; those behind the last are the last one's,
                where they are written first and then over.
        """
        code, kind, lanes, (vectors, pixels) = self._code, self._kind, self._lanes, self._tile
        for first in range(0, pixels, lanes):
            mask, begin = code.mask(str(first), count), code.address(target, str(first * self._size))
            for v in reversed(range(vectors)):
                some = totals[v * pixels + first : v * pixels + min(first + lanes, pixels)]
                turned = code.transposed(kind, some + ["poison"] * (lanes - len(some)))
                for i in reversed(range(lanes)):
                    code.store_masked(kind, turned[i], code.address(begin, rows[v * lanes + i]), mask)
