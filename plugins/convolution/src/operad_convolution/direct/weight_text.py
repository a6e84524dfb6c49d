"""The kernel of a correlation's gradient by its weights, as text of LLVM."""

from __future__ import annotations

from typing import Final, final

from operad_convolution.direct.images import BYTES, RunCopy, Tile, clear, copy, image_words, pixels, rounds
from operad_convolution.direct.tables import WeightTable
from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer


@final
class WeightText:
    """Tiles of filters by positions of weights (channels and taps): sums over the images of a call.

    Each product has a vector of sums, one for each lane, that stays in a register while the pixels of some
    images go by; the lanes are added up then. The sums are those of a block of filters and of a block of
    positions.

    Attributes:
        text: The module.
    """

    def __init__(
        self, kind: str, tile: Tile, rest: tuple[int, int], parts: int, tail: int, copies_gradient: bool
    ) -> None:
        """Write it.

        Args:
            tile: Its `vectors` are positions.
            rest: Filters and positions that are left over.
            parts: Columns between neighbouring windows.
            tail: Pixels of vectors that hold fewer than the others; 0: there are none.
            copies_gradient: Whether the gradient is copied, too, to where a filter's pixels of all images
                lie side by side: images are apart by a power of two as a rule, and few lines of a cache
                hold such addresses.
        """
        self._kind, self._tile, self._rest = kind, tile, rest
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, LANES[BYTES[kind]])
        self._image, self._parts, words = image_words(code, parts, WeightTable._fields)
        self._gradient, self._sums = words.pointer("gradient"), words.pointer("sums")
        self._gradient_image, self._gradient_channel = words("gradient_image"), words("gradient_channel")
        self._copied_gradient = words("copied_gradient")
        self._filters, self._pixels = words("filters"), words("pixels")
        self._together, self._groups = words("together"), words("groups")
        self._filter_blocks, self._blocks = words("filter_blocks"), words("position_blocks")
        self._group_bytes, self._positions = words("group"), words.pointer("positions")
        whole = words("vectors"), words.pointer("vector_offsets")
        fewer = words("fewer"), words.pointer("fewer_offsets")
        self._vectors = [(*whole, tile), *([(*fewer, tile._replace(runs=1, used=tail))] if tail else [])]
        self._copies_gradient = copies_gradient
        self._between_images, self._between_filters = self._gradient_image, self._gradient_channel
        if copies_gradient:
            self._between_images = code.multiply(self._pixels, BYTES[kind])
            self._between_filters = code.multiply(self._together, self._between_images)
        clear(code, kind, "%scratch", code.multiply(self._image.zeros, self._together))
        clear(code, kind, self._sums, words("sums_bytes"))
        rounds(code, self._together, self._some_images)
        self.text: Final = code.module()

    def _some_images(self, first: str) -> str:
        """The images that are copied together; gives the first of the next."""
        code = self._code
        left = code.value(f"sub i64 %last, {first}")
        images = code.call("i64", "llvm.smin.i64", ("i64", left), ("i64", self._together))

        def copied(number: str, _: Values) -> Values:
            target = code.address("%scratch", code.multiply(self._image.zeros, number))
            copy(code, self._kind, self._image, self._parts, code.add(first, number), target)
            return []

        code.loop("0", images, 1, [], copied)
        gradient = code.address(self._gradient, code.multiply(self._gradient_image, first))
        if self._copies_gradient:
            gradient = self._copy_gradient(gradient, images)
        begin = [("ptr", each) for each in ("%scratch", gradient, self._sums)]
        code.loop("0", self._groups, 1, begin, lambda _, values: self._group(images, *values))
        return code.add(first, self._together)

    def _copy_gradient(self, gradient: str, images: str) -> str:
        code = self._code
        begin = code.address("%scratch", self._copied_gradient)
        run = RunCopy(code, self._kind, self._pixels, 1)

        def of_filter(number: str, _: Values) -> Values:
            source = code.address(gradient, code.multiply(self._gradient_channel, number))
            target = code.address(begin, code.multiply(self._between_filters, number))

            def of_image(image: str, _: Values) -> Values:
                at = code.address(source, code.multiply(self._gradient_image, image))
                to = code.address(target, code.multiply(self._between_images, image))
                run.write(at, to)
                return []

            code.loop("0", images, 1, [], of_image)
            return []

        code.loop("0", self._filters, 1, [], of_filter)
        return begin

    def _group(self, images: str, source: str, gradient: str, target: str) -> Values:
        """The filters of a group; gives where the next group's image, gradient and sums are."""
        code = self._code

        def of_filters(filters: int, gradient: str, target: str) -> Values:
            target = self._row_of_blocks(filters, source, gradient, target, images)
            return [code.address(gradient, code.multiply(self._between_filters, filters)), target]

        begin = [("ptr", gradient), ("ptr", target)]
        found = code.loop(
            "0", self._filter_blocks, 1, begin, lambda _, values: of_filters(self._tile.filters, *values)
        )
        if self._rest[0]:
            found = of_filters(self._rest[0], *found)
        return [code.address(source, self._group_bytes), *found]

    def _row_of_blocks(self, filters: int, source: str, gradient: str, target: str, images: str) -> str:
        code = self._code

        def one(_: str, values: Values) -> Values:
            target, places = values
            target = self._block(filters, self._tile.vectors, source, places, gradient, target, images)
            return [target, code.address(places, str(8 * self._tile.vectors))]

        begin = [("ptr", target), ("ptr", self._positions)]
        target, places = code.loop("0", self._blocks, 1, begin, one)
        if self._rest[1]:
            target = self._block(filters, self._rest[1], source, places, gradient, target, images)
        return target

    def _block(
        self, filters: int, positions: int, source: str, places: str, gradient: str, target: str, images: str
    ) -> str:
        """One tile over all images; gives where the next sums are."""
        code, vector = self._code, self._code.vector(self._kind)
        sources = [code.address(source, code.word(places, i)) for i in range(positions)]
        heads = [code.address(gradient, code.multiply(self._between_filters, i)) for i in range(filters)]
        totals = [code.constant(self._kind, 0)] * (filters * positions)
        for vectors, words, shape in self._vectors:

            def one_image(
                number: str, values: Values, vectors: str = vectors, words: str = words, shape: Tile = shape
            ) -> Values:
                copied = code.multiply(self._image.zeros, number)
                given = code.multiply(self._between_images, number)
                begin = [*((vector, value) for value in values), ("ptr", words)]
                *found, _ = code.loop(
                    "0",
                    vectors,
                    1,
                    begin,
                    lambda _, values: self._add(shape, sources, heads, copied, given, values),
                )
                return found

            totals = code.loop("0", images, 1, [(vector, value) for value in totals], one_image)
        return _add_lanes(code, self._kind, totals, target)

    def _add(
        self, shape: Tile, sources: Values, heads: Values, copied: str, given: str, values: Values
    ) -> Values:
        """The products of a vector of pixels with those of the gradient."""
        code, kind, (*totals, row) = self._code, self._kind, values
        at = [code.add(code.word(row, i), copied) for i in range(shape.runs)]
        # The runs of a vector follow each other in the gradient.
        head_at = code.add(code.word(row, shape.runs), given)
        used = shape.used if shape.runs == 1 else None

        def head(i: int) -> str:
            return code.load_vector(kind, code.address(heads[i], head_at), used=used)

        def pixel(q: int) -> str:
            return pixels(code, kind, shape, [code.address(sources[q], each) for each in at], "0")

        # The fewer of the two stay in registers.
        filters, positions = range(len(heads)), range(len(sources))
        if len(sources) <= len(heads):
            kept = [pixel(q) for q in positions]
            pairs = ((i, q, (factor, kept[q])) for i in filters for factor in [head(i)] for q in positions)
        else:
            kept = [head(i) for i in filters]
            pairs = ((i, q, (kept[i], factor)) for q in positions for factor in [pixel(q)] for i in filters)
        for i, q, factors in pairs:
            k = i * len(sources) + q
            totals[k] = code.multiply_add(kind, *factors, totals[k])
        return [*totals, code.address(row, str(8 * (shape.runs + 1)))]


def _add_lanes(code: Writer, kind: str, totals: Values, target: str) -> str:
    """Add the lanes of each vector, and that to the sums; gives where the next sums are."""
    lanes, vector = code.lanes, code.vector(kind)
    for begin in range(0, len(totals), lanes):
        group = totals[begin : begin + lanes]
        vectors, width = group + [code.constant(kind, 0)] * (lanes - len(group)), lanes
        while len(vectors) > 1:
            # Halves of the pieces of two vectors are added, side by side, until a piece is one lane.
            half = width // 2
            pieces = [piece for base in (0, lanes) for piece in range(base, base + lanes, width)]
            low = [lane for piece in pieces for lane in range(piece, piece + half)]
            high = [lane for piece in pieces for lane in range(piece + half, piece + width)]
            pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
            sides = [[code.shuffled(kind, *pair, order) for order in (low, high)] for pair in pairs]
            vectors, width = [code.value(f"fadd {vector} {one}, {two}") for one, two in sides], half
        address = code.address(target, str(begin * BYTES[kind]))
        code.store_vector(
            kind, code.value(f"fadd {vector} {code.load_vector(kind, address)}, {vectors[0]}"), address
        )
    return code.address(target, str(-(-len(totals) // lanes) * lanes * BYTES[kind]))
