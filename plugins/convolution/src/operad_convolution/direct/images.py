"""What kernels of correlations have in common: tables, images and vectors of pixels, as text of LLVM.

A kernel takes one image after another. It copies the image to scratch memory, where windows have room, and
then computes tile after tile, whose sums stay in registers. Where everything lies is said by a table, so
that a kernel serves images of all sizes. A vector holds pixels of one row, or of `runs` rows or pieces of
rows.
"""

from __future__ import annotations

from itertools import count
from typing import Final, NamedTuple

from operad_sdk.vector import Values, Writer

BYTES: Final = {"float32": 4, "float64": 8}


class Tile(NamedTuple):
    """What is computed at once.

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


class Image(NamedTuple):
    """Words of the table about the image and its copy."""

    data: str
    stride: str
    channels: str
    channel: str
    rows: str
    row: str
    copied_channel: str
    copied_row: str
    first_row: str
    zeros: str
    parts: list[list[str]]


IMAGE_WORDS: Final = 10
PART_WORDS: Final = 3


def image_words(code: Writer, numbers: count[int], parts: int) -> Image:
    """The first words of a table; `parts` are those of a copied row."""
    words = [code.word("%table", next(numbers)) for _ in range(IMAGE_WORDS)]
    own = [[code.word("%table", next(numbers)) for _ in range(PART_WORDS)] for _ in range(parts)]
    data, *rest = words
    return Image(code.pointer(data), *rest, parts=own)  # type: ignore[arg-type]  # nine of them


def clear(code: Writer, kind: str, image: Image, copies: str) -> None:
    """Zeros wherever windows reach beyond the images."""

    def clear(place: str, _: Values) -> Values:
        code.store(kind, code.constant(kind, 0), code.address("%scratch", place))
        return []

    code.loop("0", code.multiply(image.zeros, copies), code.lanes * BYTES[kind], [], clear)


def copy(code: Writer, kind: str, image: Image, number: str, target: str) -> None:
    """The image to where windows have room."""
    source = code.address(image.data, code.multiply(image.stride, number))
    size, apart = BYTES[kind], len(image.parts)

    def channel(one: str, _: Values) -> Values:
        rows_from = code.address(source, code.multiply(image.channel, one))
        rows_to = code.address(target, code.add(code.multiply(image.copied_channel, one), image.first_row))

        def row(two: str, _: Values) -> Values:
            row_from = code.address(rows_from, code.multiply(image.row, two))
            row_to = code.address(rows_to, code.multiply(image.copied_row, two))
            for first, column, length in image.parts:
                begin = code.address(row_from, code.multiply(column, size))
                copy_run(code, kind, begin, code.address(row_to, code.multiply(first, size)), length, apart)
            return []

        code.loop("0", image.rows, 1, [], row)
        return []

    code.loop("0", image.channels, 1, [], channel)


def copy_run(code: Writer, kind: str, source: str, target: str, length: str, apart: int) -> None:
    """Every `apart`-th of some elements, side by side."""
    vector, lanes = code.vector(kind), code.lanes
    numbers = ", ".join(f"i64 {i}" for i in range(lanes))
    words = f"<{lanes} x i64>"

    def some(place: str, _: Values) -> Values:
        left = code.splat("int64", code.value(f"sub i64 {length}, {place}"))
        mask = (code.vector("bool"), code.value(f"icmp slt {words} <{numbers}>, {left}"))
        begin = code.address(source, code.multiply(place, apart * BYTES[kind]))
        name = f"v{lanes}f{8 * BYTES[kind]}"
        if apart == 1:
            found = code.call(
                vector,
                f"llvm.masked.load.{name}.p0",
                ("ptr", begin),
                ("i32", "1"),
                mask,
                (vector, "zeroinitializer"),
            )
        else:
            steps = ", ".join(f"i64 {i * apart * BYTES[kind]}" for i in range(lanes))
            addresses = code.value(f"getelementptr i8, ptr {begin}, {words} <{steps}>")
            found = code.call(
                vector, f"llvm.masked.gather.{name}.v{lanes}p0", (f"<{lanes} x ptr>", addresses),
                ("i32", "1"), mask, (vector, "zeroinitializer"),
            )  # fmt: skip
        end = code.address(target, code.multiply(place, BYTES[kind]))
        code.call("void", f"llvm.masked.store.{name}.p0", (vector, found), ("ptr", end), ("i32", "1"), mask)
        return []

    begin = "0"
    if apart == 2:  # two vectors at a time, as long as both are inside
        whole = code.value(f"and i64 {length}, {-lanes}")

        def pair(place: str, _: Values) -> Values:
            at = code.address(source, code.multiply(place, 2 * BYTES[kind]))
            later = code.address(at, str((lanes - 1) * BYTES[kind]))
            order = [*range(0, lanes, 2), *range(lanes + 1, 2 * lanes, 2)]
            found = code.shuffled(kind, code.load(kind, at), code.load(kind, later), order)
            code.store(kind, found, code.address(target, code.multiply(place, BYTES[kind])))
            return []

        code.loop("0", whole, lanes, [], pair)
        begin = whole
    code.loop(begin, length, lanes, [], some)


def pixels(code: Writer, kind: str, tile: Tile, bases: Values, offset: str) -> str:
    """A vector of pixels, made of its runs."""
    lanes = code.lanes // tile.runs
    used = tile.used if tile.used < lanes else None
    pieces = [code.load(kind, code.address(base, offset), lanes, used) for base in bases]
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
        code.store(kind, piece, code.address(base, offset), lanes, used)
