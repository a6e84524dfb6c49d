"""Common parts of kernels of correlations: tables, images and vectors of pixels, as text of LLVM.

A kernel takes one image after another. It copies the image to scratch memory, where windows have room, unless
they need none, and then computes tile after tile, whose sums stay in registers. Where everything lies is said
by a table, so that a kernel serves images of all sizes. A vector holds pixels of one row, or of `runs` rows
or pieces of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, final

from operad_convolution.direct.tables import Image, Part
from operad_sdk.vector import Values, Words, Writer

BYTES: Final = {"float32": 4, "float64": 8}


class Tile(NamedTuple):
    """Sums that are computed at once.

    Attributes:
        filters: Rows of the tile.
        vectors: Vectors of pixels.
        runs: How many runs of neighbouring pixels make a vector.
        used: Pixels of a run that count.
    """

    filters: int
    vectors: int
    runs: int
    used: int


def image_words(code: Writer, count: int, names: Sequence[str]) -> tuple[Image, list[Part], Words]:
    """The first words of a table: of the image, of so many parts, and of a record with these names."""
    image, first, size = code.record(Image), len(Image._fields), len(Part._fields)
    parts = [code.record(Part, first=first + i * size) for i in range(count)]
    image = image._replace(data=code.pointer(image.data))
    return image, parts, Words(code, names, first=first + count * size)


def output(code: Writer, words: Words) -> str:
    """Beginning of the output."""
    address, in_scratch = words("out"), words("is_in_scratch")
    begin = code.multiply(code.value("ptrtoint ptr %scratch to i64"), in_scratch)
    return code.pointer(code.add(begin, address))


def or_zeros(code: Writer, kind: str, vector: str, mask: str) -> str:
    """The lanes of a vector that are not masked out, zeros in the others."""
    kept, zero = f"{code.vector(kind)} {vector}", f"{code.vector(kind)} {code.constant(kind, 0)}"
    return code.value(f"select {code.vector('bool')} {mask}, {kept}, {zero}")


def clear(code: Writer, kind: str, target: str, size_bytes: str) -> None:
    """Zeros in whole vectors."""

    def clear(place: str, _: Values) -> Values:
        code.store_vector(kind, code.constant(kind, 0), code.address(target, place))
        return []

    code.loop("0", size_bytes, code.lanes * BYTES[kind], [], clear)


def copy(code: Writer, kind: str, image: Image, parts: list[Part], number: str, target: str) -> None:
    """The image to where windows have room."""
    source = code.address(image.data, code.multiply(image.stride, number))
    size, apart = BYTES[kind], len(parts)
    runs = [RunCopy(code, kind, part.length, apart) for part in parts]

    def channel(one: str, _: Values) -> Values:
        rows_from = code.address(source, code.multiply(image.channel, one))
        rows_to = code.address(target, code.add(code.multiply(image.copied_channel, one), image.first_row))

        def row(two: str, _: Values) -> Values:
            row_from = code.address(rows_from, code.multiply(image.row, two))
            row_to = code.address(rows_to, code.multiply(image.copied_row, two))
            for run, part in zip(runs, parts, strict=True):
                begin = code.address(row_from, code.multiply(part.column, size))
                run.write(begin, code.address(row_to, code.multiply(part.first, size)))
            return []

        code.loop("0", image.rows, 1, [], row)
        return []

    code.loop("0", image.channels, 1, [], channel)


def image_reader(
    code: Writer, kind: str, image: Image, parts: list[Part], is_copied: bool
) -> Callable[[str], str]:
    """Function that gives the address at which tiles read an image: of its copy, or its own."""
    if not is_copied:
        return lambda number: code.address(image.data, code.multiply(image.stride, number))
    # Borders are cleared once: the copies of all images write between them alone.
    clear(code, kind, "%scratch", image.zeros)

    def copied(number: str) -> str:
        copy(code, kind, image, parts, number, "%scratch")
        return "%scratch"

    return copied


@final
class RunCopy:
    """Copies of every `apart`-th of some elements, side by side.

    What depends on their number alone is computed where this is made: before a loop, for all that it copies.
    """

    def __init__(self, code: Writer, kind: str, length: str, apart: int) -> None:
        """Work out whole vectors, and the masks of the one that is left over."""
        self._code, self._kind, self._apart, lanes = code, kind, apart, code.lanes
        self._whole = code.value(f"and i64 {length}, {-lanes}")
        rest = code.value(f"sub i64 {length}, {self._whole}")
        self._has_rest = code.value(f"zext i1 {code.value(f'icmp ne i64 {rest}, 0')} to i64")
        self._mask = code.mask("0", rest)
        # Those of the two vectors that have every other element.
        end = code.add(code.multiply(rest, 2), -1)
        self._pair = [code.mask(str(i), end) for i in (0, lanes)] if apart == 2 else []

    def write(self, source: str, target: str) -> None:
        """Copy from one place to another."""
        code, size = self._code, BYTES[self._kind]

        def vector(place: str, is_whole: bool) -> Values:
            begin = code.address(source, code.multiply(place, self._apart * size))
            to = code.address(target, code.multiply(place, size))
            found = self._found(begin, is_whole)
            if is_whole:
                code.store_vector(self._kind, found, to)
            else:
                code.store_masked(self._kind, found, to, self._mask)
            return []

        code.loop("0", self._whole, code.lanes, [], lambda place, _: vector(place, True))
        code.loop("0", self._has_rest, 1, [], lambda _, __: vector(self._whole, False))

    def _found(self, begin: str, is_whole: bool) -> str:
        code, kind, lanes, size = self._code, self._kind, self._code.lanes, BYTES[self._kind]
        if self._apart == 1:
            return code.load_vector(kind, begin) if is_whole else code.load_masked(kind, begin, self._mask)
        if self._apart > 2:  # two have a faster way
            steps = f"{code.vector('int64')} {code.numbers(step=self._apart * size)}"
            mask = "splat (i1 true)" if is_whole else self._mask
            return code.gather(kind, code.value(f"getelementptr i8, ptr {begin}, {steps}"), mask)
        if is_whole:  # nothing behind the last element is read
            later = code.address(begin, str((lanes - 1) * size))
            order = [*range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2)]
            return code.shuffled(kind, code.load_vector(kind, begin), code.load_vector(kind, later), order)
        addresses = begin, code.address(begin, str(lanes * size))
        one, other = (
            code.load_masked(kind, each, mask) for each, mask in zip(addresses, self._pair, strict=True)
        )
        return code.shuffled(kind, one, other, range(0, 2 * lanes, 2))


def rounds(code: Writer, together: str, some_images: Callable[[str], str]) -> None:
    """All images of a call, so many together; `some_images` gets the first, and gives that of the next."""
    # `together` is no constant, so rounds are counted, and where one begins is carried.
    length = code.add(code.value("sub i64 %last, %first"), code.value(f"sub i64 {together}, 1"))
    number = code.value(f"sdiv i64 {length}, {together}")
    code.loop("0", number, 1, [("i64", "%first")], lambda _, values: [some_images(values[0])])


def pixels(code: Writer, kind: str, tile: Tile, bases: Values, offset: str) -> str:
    """A vector of pixels, made of its runs."""
    lanes = code.lanes // tile.runs
    used = tile.used if tile.used < lanes else None
    pieces = [code.load_vector(kind, code.address(base, offset), lanes, used) for base in bases]
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [code.shuffled(kind, one, other, range(2 * lanes), lanes) for one, other in pairs]
        lanes *= 2
    return pieces[0]


def store_pixels(code: Writer, kind: str, tile: Tile, vector: str, bases: Values, offset: str) -> None:
    """A vector of pixels back to where its runs are."""
    lanes = code.lanes // tile.runs
    used = tile.used if tile.used < lanes else None
    for number, base in enumerate(bases):
        order = range(number * lanes, (number + 1) * lanes)
        piece = vector if tile.runs == 1 else code.shuffled(kind, vector, "poison", order)
        code.store_vector(kind, piece, code.address(base, offset), lanes, used)
