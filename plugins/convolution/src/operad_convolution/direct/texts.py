"""Kernels of correlations in vector code, as text of LLVM.

A kernel takes one image after another. It copies the image to scratch memory, where windows have room, and then
computes tile after tile: so many filters by so many vectors of pixels, whose sums stay in registers while all channels
and taps go by. Where everything lies is said by a table, so a kernel serves all sizes of images.

A vector holds pixels of one output row, or of `runs` rows or pieces of rows, of which the first `used` count.
"""

from __future__ import annotations

from itertools import count
from typing import Final, NamedTuple

from operad_sdk.vector import KERNEL_PARAMETERS, LANES, NAME, Values, Writer

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


class _Image(NamedTuple):
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


def _image(code: Writer, numbers: count[int], parts: int) -> _Image:
    words = [code.word("%table", next(numbers)) for _ in range(IMAGE_WORDS)]
    own = [[code.word("%table", next(numbers)) for _ in range(PART_WORDS)] for _ in range(parts)]
    return _Image(code.pointer(words[0]), *words[1:], own)


def _clear(code: Writer, kind: str, image: _Image, copies: str) -> None:
    """Zeros wherever windows reach beyond the images."""

    def clear(place: str, _: Values) -> Values:
        code.store(kind, code.constant(kind, 0), code.address("%scratch", place))
        return []

    code.loop("0", code.multiply(image.zeros, copies), code.lanes * BYTES[kind], [], clear)


def _copy(code: Writer, kind: str, image: _Image, number: str, target: str) -> None:
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
                _copy_run(code, kind, begin, code.address(row_to, code.multiply(first, size)), length, apart)
            return []

        code.loop("0", image.rows, 1, [], row)
        return []

    code.loop("0", image.channels, 1, [], channel)


def _copy_run(code: Writer, kind: str, source: str, target: str, length: str, apart: int) -> None:
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
                vector, f"llvm.masked.gather.{name}.v{lanes}p0", (f"<{lanes} x ptr>", addresses), ("i32", "1"), mask,
                (vector, "zeroinitializer"),
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


def _pixels(code: Writer, kind: str, tile: Tile, bases: Values, offset: str) -> str:
    """A vector of pixels, made of its runs."""
    lanes = code.lanes // tile.runs
    used = tile.used if tile.used < lanes else None
    pieces = [code.load(kind, code.address(base, offset), lanes, used) for base in bases]
    while len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        pieces = [code.shuffled(kind, one, other, range(2 * lanes), lanes) for one, other in pairs]
        lanes *= 2
    return pieces[0]


def _store_pixels(code: Writer, kind: str, tile: Tile, vector: str, bases: Values, offset: str) -> None:
    lanes = code.lanes // tile.runs
    used = tile.used if tile.used < lanes else None
    for number, base in enumerate(bases):
        order = range(number * lanes, (number + 1) * lanes)
        piece = vector if tile.runs == 1 else code.shuffled(kind, vector, "poison", order)
        code.store(kind, piece, code.address(base, offset), lanes, used)


def forward_text(kind: str, tile: Tile, rest: int, taps: int, parts: int, has_bias: bool) -> str:
    """A correlation.

    Args:
        tile: See there.
        rest: Filters of a group that are left over when the others have gone into tiles.
        taps: Elements of a filter in one channel.
        parts: Columns between neighbouring windows.

    The table: the image's words; addresses of the weights, of the bias, and of the output; the output's bytes for
    an image and for a channel; groups; whole blocks of filters in a group; channels in a group; how many tiles;
    the addresses of the taps' offsets and of the tiles', for each tile those of its runs in the copied image and
    then in the output. The weights are those of a block, channel by channel and tap by tap.
    """
    code = Writer(NAME, KERNEL_PARAMETERS, LANES[BYTES[kind]])
    numbers = count()
    image = _image(code, numbers, parts)
    weights, bias, out = (code.pointer(code.word("%table", next(numbers))) for _ in range(3))
    out_image, out_channel, groups, blocks, channels, tiles = (
        code.word("%table", next(numbers)) for _ in range(6)
    )
    tap_words, tile_words = (code.pointer(code.word("%table", next(numbers))) for _ in range(2))
    offsets = [code.word(tap_words, i) for i in range(taps)]
    size, runs = BYTES[kind], tile.vectors * tile.runs

    def block(filters: int, source: str, weight: str, own_bias: str, target: str) -> None:
        channel_outs = [code.multiply(out_channel, i) if i else "0" for i in range(filters)]

        def compute(number: str, _: Values) -> Values:
            row = code.address(tile_words, code.multiply(number, 16 * runs))
            bases = [code.address(source, code.word(row, i)) for i in range(runs)]
            targets = [code.address(target, code.word(row, runs + i)) for i in range(runs)]
            zero = code.constant(kind, 0)
            first = [
                code.broadcast(kind, code.address(own_bias, str(size * i))) if has_bias else zero
                for i in range(filters)
            ]
            sums = [(code.vector(kind), value) for value in first for _ in range(tile.vectors)]

            def add(channel: str, values: Values) -> Values:
                *totals, place, weight = values
                for tap, offset in enumerate(offsets):
                    at = code.add(place, offset)
                    pixels = [
                        _pixels(code, kind, tile, bases[v * tile.runs : (v + 1) * tile.runs], at)
                        for v in range(tile.vectors)
                    ]
                    for i in range(filters):
                        factor = code.broadcast(kind, code.address(weight, str(size * (tap * filters + i))))
                        for v, pixel in enumerate(pixels):
                            k = i * tile.vectors + v
                            totals[k] = code.multiply_add(kind, factor, pixel, totals[k])
                return [
                    *totals,
                    code.add(place, image.copied_channel),
                    code.address(weight, str(size * taps * filters)),
                ]

            totals = code.loop("0", channels, 1, [*sums, ("i64", "0"), ("ptr", weight)], add)
            for i in range(filters):
                for v in range(tile.vectors):
                    ends = targets[v * tile.runs : (v + 1) * tile.runs]
                    _store_pixels(code, kind, tile, totals[i * tile.vectors + v], ends, channel_outs[i])
            return []

        code.loop("0", tiles, 1, [], compute)

    def one_image(number: str, _: Values) -> Values:
        _copy(code, kind, image, number, "%scratch")
        whole = code.address(out, code.multiply(out_image, number))

        def group(_: str, values: Values) -> Values:
            source, weight, own_bias, target = values
            weight_bytes = code.multiply(channels, size * taps)

            def blocked(_: str, values: Values) -> Values:
                weight, own_bias, target = values
                block(tile.filters, source, weight, own_bias, target)
                return [
                    code.address(weight, code.multiply(weight_bytes, tile.filters)),
                    code.address(own_bias, str(size * tile.filters)) if has_bias else own_bias,
                    code.address(target, code.multiply(out_channel, tile.filters)),
                ]

            begin = [("ptr", weight), ("ptr", own_bias), ("ptr", target)]
            weight, own_bias, target = code.loop("0", blocks, 1, begin, blocked)
            if rest:
                block(rest, source, weight, own_bias, target)
                weight = code.address(weight, code.multiply(weight_bytes, rest))
                own_bias = code.address(own_bias, str(size * rest)) if has_bias else own_bias
                target = code.address(target, code.multiply(out_channel, rest))
            return [
                code.address(source, code.multiply(channels, image.copied_channel)),
                weight,
                own_bias,
                target,
            ]

        code.loop("0", groups, 1, [("ptr", each) for each in ("%scratch", weights, bias, whole)], group)
        return []

    _clear(code, kind, image, "1")
    code.loop("%first", "%last", 1, [], one_image)
    return code.module()


def weight_text(kind: str, tile: Tile, rest: tuple[int, int], parts: int, tail: int) -> str:
    """The gradient of a correlation by its weights, added to sums.

    Args:
        tile: Its `vectors` are positions of weights, channels and taps, and its `filters` filters; each product has
            a vector of sums, one for each lane, which are added up at the end.
        rest: Filters and positions that are left over.
        parts: Columns between neighbouring windows.
        tail: Pixels of vectors that hold fewer than the others; 0: there are none.

    The table: the image's words; addresses of the output's gradient and of the sums; the gradient's bytes for an
    image and for a channel; images that are copied together; groups; whole blocks of filters in a group; whole
    blocks of positions; bytes of the positions' offsets in a group; the address of those; for whole vectors how
    many an image has, and the address of their offsets, in the copied image and in the gradient; the same for
    vectors that hold fewer. The sums are those of a block of filters and of a block of positions.
    """
    code = Writer(NAME, KERNEL_PARAMETERS, LANES[BYTES[kind]])
    numbers = count()
    image = _image(code, numbers, parts)
    grads, sums = (code.pointer(code.word("%table", next(numbers))) for _ in range(2))
    grad_image, grad_channel, together, groups, filter_blocks, blocks, group_bytes = (
        code.word("%table", next(numbers)) for _ in range(7)
    )
    position_words = code.pointer(code.word("%table", next(numbers)))
    whole = code.word("%table", next(numbers)), code.pointer(code.word("%table", next(numbers)))
    fewer = code.word("%table", next(numbers)), code.pointer(code.word("%table", next(numbers)))
    size = BYTES[kind]
    loops = [(whole, tile), *([(fewer, tile._replace(runs=1, used=tail))] if tail else [])]

    def block(
        filters: int, positions: int, source: str, places: str, grad: str, target: str, images: str
    ) -> str:
        bases = [code.address(source, code.word(places, i)) for i in range(positions)]
        heads = [code.address(grad, code.multiply(grad_channel, i)) for i in range(filters)]
        totals = [code.constant(kind, 0)] * (filters * positions)
        for (vectors, words), shape in loops:

            def one_image(
                number: str, values: Values, shape: Tile = shape, vectors: str = vectors, words: str = words
            ) -> Values:
                copied, given = code.multiply(image.zeros, number), code.multiply(grad_image, number)

                def add(_: str, values: Values) -> Values:
                    *totals, row = values
                    at = [code.add(code.word(row, i), copied) for i in range(shape.runs)]
                    head_at = [code.add(code.word(row, shape.runs + i), given) for i in range(shape.runs)]
                    # The fewer of the two stay in registers.
                    kept = (
                        [_runs(code, kind, shape, base, at) for base in bases]
                        if positions <= filters
                        else None
                    )
                    pixels = (
                        [_runs(code, kind, shape, head, head_at) for head in heads] if kept is None else None
                    )
                    for i in range(filters):
                        if kept is not None:
                            pixel = _runs(code, kind, shape, heads[i], head_at)
                            for q in range(positions):
                                k = i * positions + q
                                totals[k] = code.multiply_add(kind, pixel, kept[q], totals[k])
                    if pixels is not None:
                        for q in range(positions):
                            factor = _runs(code, kind, shape, bases[q], at)
                            for i in range(filters):
                                k = i * positions + q
                                totals[k] = code.multiply_add(kind, pixels[i], factor, totals[k])
                    return [*totals, code.address(row, str(16 * shape.runs))]

                *found, _ = code.loop(
                    "0", vectors, 1, [*((code.vector(kind), value) for value in values), ("ptr", words)], add
                )
                return found

            totals = code.loop("0", images, 1, [(code.vector(kind), value) for value in totals], one_image)
        return _add_lanes(code, kind, totals, target)

    def some_images(first: str, _: Values) -> Values:
        left = code.value(f"sub i64 %last, {first}")
        images = code.call("i64", "llvm.smin.i64", ("i64", left), ("i64", together))

        def copied(number: str, _: Values) -> Values:
            target = code.address("%scratch", code.multiply(image.zeros, number))
            _copy(code, kind, image, code.add(first, number), target)
            return []

        code.loop("0", images, 1, [], copied)
        begin = code.address(grads, code.multiply(grad_image, first))

        def group(_: str, values: Values) -> Values:
            source, grad, target = values

            def row_of_blocks(filters: int, grad: str, target: str) -> str:
                def one(_: str, values: Values) -> Values:
                    target, places = values
                    target = block(filters, tile.vectors, source, places, grad, target, images)
                    return [target, code.address(places, str(8 * tile.vectors))]

                target, places = code.loop("0", blocks, 1, [("ptr", target), ("ptr", position_words)], one)
                if rest[1]:
                    target = block(filters, rest[1], source, places, grad, target, images)
                return target

            def of_filters(_: str, values: Values) -> Values:
                grad, target = values
                target = row_of_blocks(tile.filters, grad, target)
                return [code.address(grad, code.multiply(grad_channel, tile.filters)), target]

            grad, target = code.loop("0", filter_blocks, 1, [("ptr", grad), ("ptr", target)], of_filters)
            if rest[0]:
                target = row_of_blocks(rest[0], grad, target)
                grad = code.address(grad, code.multiply(grad_channel, rest[0]))
            return [code.address(source, group_bytes), grad, target]

        code.loop("0", groups, 1, [("ptr", "%scratch"), ("ptr", begin), ("ptr", sums)], group)
        return [code.add(first, together)]

    _clear(code, kind, image, together)
    # `together` is no constant, so rounds are counted, and where one begins is carried.
    length = code.add(code.value("sub i64 %last, %first"), code.value(f"sub i64 {together}, 1"))
    rounds = code.value(f"sdiv i64 {length}, {together}")
    code.loop("0", rounds, 1, [("i64", "%first")], lambda _, values: some_images(values[0], values))
    return code.module()


def _runs(code: Writer, kind: str, tile: Tile, base: str, offsets: Values) -> str:
    return _pixels(code, kind, tile, [code.address(base, offset) for offset in offsets], "0")


def _add_lanes(code: Writer, kind: str, totals: Values, target: str) -> str:
    """Add the lanes of each vector, and that to the sums; gives where the next sums are."""
    lanes = code.lanes
    for begin in range(0, len(totals), lanes):
        group = totals[begin : begin + lanes]
        vectors = group + [code.constant(kind, 0)] * (lanes - len(group))
        width = lanes
        while len(vectors) > 1:
            half = width // 2
            low, high = [], []
            for base in (0, lanes):
                for segment in range(base, base + lanes, width):
                    low += range(segment, segment + half)
                    high += range(segment + half, segment + width)
            pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
            vectors = [
                code.value(
                    f"fadd {code.vector(kind)} {code.shuffled(kind, a, b, low)}, {code.shuffled(kind, a, b, high)}"
                )
                for a, b in pairs
            ]
            width = half
        address = code.address(target, str(begin * BYTES[kind]))
        before = code.load(kind, address)
        code.store(kind, code.value(f"fadd {code.vector(kind)} {before}, {vectors[0]}"), address)
    return code.address(target, str(-(-len(totals) // lanes) * lanes * BYTES[kind]))
