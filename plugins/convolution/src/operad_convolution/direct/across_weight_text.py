"""The kernel of gradients by weights whose filters are lanes of vectors, as text of LLVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, final

from operad_convolution.direct.across_text import AcrossTile
from operad_convolution.direct.images import BYTES, clear, copy, image_words, or_zeros, rounds
from operad_convolution.direct.tables import AcrossWeightTable
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer


@final
class AcrossWeightText:
    """The gradient of a correlation by its weights: sums over the images of a call.

    Several images are copied together, and their output's gradients are turned, to scratch memory, where
    the filters of a pixel lie side by side, zeros behind the last. The sums are those of a block of filters
    and of a block of positions, filter by filter side by side.

    Attributes:
        text: The module.
    """

    def __init__(
        self, kind: str, tile: AcrossTile, rest: int, parts: int, seen: Sequence[Sequence[int]] | None = None
    ) -> None:
        """Write it.

        Args:
            rest: Positions that are left over by whole blocks.
            parts: Those of a copied row.
            seen: For each pixel of an image the positions of any block that see more than zeros.
        """
        self._kind, self._tile, self._rest, self._seen = kind, tile, rest, seen
        self._size, self._lanes = BYTES[kind], LANES[BYTES[kind]]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, self._lanes)
        image, parts_of_row, words = image_words(code, parts, AcrossWeightTable._fields)
        gradient, sums = words.pointer("gradient"), words.pointer("sums")
        gradient_image, self._gradient_channel = words("gradient_image"), words("gradient_channel")
        groups, self._filters, self._padded = words("groups"), words("filters"), words("padded")
        turned, self._turned_pixel = words("turned"), words("turned_pixel")
        self._turned_group, group_channels = words("turned_group"), words("group")
        self._blocks, self._positions = words("position_blocks"), words.pointer("positions")
        self._places, self._pixels = words.pointer("pixel_offsets"), words("pixels")
        together = words("together")
        clear(code, kind, "%scratch", code.multiply(image.zeros, together))
        clear(code, kind, sums, words("sums_bytes"))
        heads = code.address("%scratch", turned)
        turned_image = code.multiply(self._turned_pixel, self._pixels)

        def some_images(first: str) -> str:
            left = code.value(f"sub i64 %last, {first}")
            images = code.call("i64", "llvm.smin.i64", ("i64", left), ("i64", together))

            def one_image(number: str, _: Values) -> Values:
                own = code.add(first, number)
                target = code.address("%scratch", code.multiply(image.zeros, number))
                copy(code, kind, image, parts_of_row, own, target)
                begin = code.address(gradient, code.multiply(gradient_image, own))
                head = code.address(heads, code.multiply(turned_image, number))
                start = [("ptr", begin), ("ptr", head)]
                code.loop("0", groups, 1, start, lambda _, values: self._turn(*values))
                return []

            code.loop("0", images, 1, [], one_image)
            # An image at a time, where each of its pixels is written out.
            counted = images if self._seen else code.multiply(images, self._pixels)

            def group(_: str, values: Values) -> Values:
                source, head, target = values
                target = self._group(counted, source, head, target)
                return [code.address(source, group_channels), code.address(head, self._turned_group), target]

            code.loop("0", groups, 1, [("ptr", each) for each in ("%scratch", heads, sums)], group)
            return code.add(first, together)

        rounds(code, together, some_images)
        self.text: Final = code.module()

    def _turn(self, gradient: str, target: str) -> Values:
        """The filters of a group; gives where the next group's gradient is, and where that goes."""
        code, kind, lanes = self._code, self._kind, self._lanes
        last = code.add(self._filters, -1)

        def filters(first: str, _: Values) -> Values:
            inside = code.mask(first, self._filters)
            rows = []
            for i in range(lanes):
                number = code.call("i64", "llvm.smin.i64", ("i64", code.add(first, i)), ("i64", last))
                rows.append(code.address(gradient, code.multiply(self._gradient_channel, number)))
            to = code.address(target, code.multiply(first, self._size))

            def some(pixel: str, _: Values) -> Values:
                mask, at = code.mask(pixel, self._pixels), code.multiply(pixel, self._size)
                read = [code.load_masked(kind, code.address(row, at), mask) for row in rows]
                own = code.address(to, code.multiply(self._turned_pixel, pixel))
                for found in code.transposed(kind, read):
                    code.store_vector(kind, or_zeros(code, kind, found, inside), own)
                    own = code.address(own, self._turned_pixel)
                return []

            code.loop("0", self._pixels, lanes, [], some)
            return []

        code.loop("0", self._padded, lanes, [], filters)
        return [
            code.address(gradient, code.multiply(self._gradient_channel, self._filters)),
            code.address(target, self._turned_group),
        ]

    def _group(self, pixels: str, source: str, head: str, target: str) -> str:
        code, per = self._code, self._tile.vectors * self._lanes

        def of_filters(first: str, values: Values) -> Values:
            (target,) = values
            own = code.address(head, code.multiply(first, self._size))

            def of_positions(_: str, values: Values) -> Values:
                target, places = values
                target = self._block(self._tile.numbers, pixels, source, own, target, places)
                return [target, code.address(places, str(8 * self._tile.numbers))]

            begin = [("ptr", target), ("ptr", self._positions)]
            target, places = code.loop("0", self._blocks, 1, begin, of_positions)
            if self._rest:
                target = self._block(self._rest, pixels, source, own, target, places)
            return [target]

        (target,) = code.loop("0", self._padded, per, [("ptr", target)], of_filters)
        return target

    def _block(self, positions: int, pixels: str, source: str, head: str, target: str, places: str) -> str:
        """One tile over all pixels; gives where the next sums are."""
        code, kind, vectors = self._code, self._kind, self._tile.vectors
        sources = [code.address(source, code.word(places, i)) for i in range(positions)]
        step = self._size * self._lanes
        ends = [code.address(target, str(step * k)) for k in range(positions * vectors)]
        before = [(code.vector(kind), code.load_vector(kind, end)) for end in ends]

        seen = self._seen or [range(positions)]

        def add(number: str, values: Values) -> Values:
            *totals, own = values
            row = code.address(self._places, code.multiply(number, 8 * len(seen)))
            for pixel, inside in enumerate(seen):
                at = code.word(row, pixel)
                factors = [code.load_vector(kind, code.address(own, str(step * v))) for v in range(vectors)]
                for q in inside:
                    element = code.broadcast(kind, code.address(sources[q], at))
                    for v, factor in enumerate(factors):
                        k = q * vectors + v
                        totals[k] = code.multiply_add(kind, factor, element, totals[k])
                own = code.address(own, self._turned_pixel)
            return [*totals, own]

        *totals, _ = code.loop("0", pixels, 1, [*before, ("ptr", head)], add)
        for end, total in zip(ends, totals, strict=True):
            code.store_vector(kind, total, end)
        return code.address(target, str(step * positions * vectors))
