"""Kernels of products of matrices, as text of LLVM.

A *panel* is some vectors of columns side by side. The right matrix is copied panel by panel to where the
numbers of a row of a panel follow each other, turned if need be; then tiles of rows are computed, whose sums
stay in registers, from numbers of the left matrix, which are read where they stand, in whatever order.

A sum adds its products one after another, each rounded once together with the sum; of more than
`MOST_IN_A_SUM` products, sums of `BLOCK` are added up. That is said by shapes alone: not by tiles, nor by how
many panels or rows a call computes.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Final, Literal, NamedTuple, final

from operad_sdk.vector.writer import BITS, KERNEL_PARAMETERS, LANES, NAME, Values, Writer

MOST_IN_A_SUM: Final = 1024
"""Products of a sum that is not divided: a panel of so many rows stays in the second cache."""
BLOCK: Final = 512
"""Products of a sum that is added to others. Where columns of the left matrix are in one piece each, a tile
reads half of so many lines of memory, and the next tile the other half. The second cache still holds 512 such
lines, which lie in few of its sets, but not 1,024."""
_UNROLLED: Final = 4
"""Products of each sum in a round of the innermost loop."""
ALIGNED: Final = 64
"""Bytes of a vector, and of a line of a cache."""

Right = Literal["rows", "columns", "packed"]
"""Order of the right matrix: rows or columns in one piece each, or panels."""


class ProductTile(NamedTuple):
    """Sums that are computed at once.

    Attributes:
        rows: Of the left matrix.
        vectors: Of columns of the right one.
    """

    rows: int
    vectors: int


class ProductPattern(NamedTuple):
    """Product, as far as the text of its kernel depends on it.

    Attributes:
        kind: The element type.
        tile: Sums that are computed at once.
        rest: Rows of the last tile; 0: as many as of the others.
        last: Vectors of the last panel; 0: as many as of the others.
        right: Order of the right matrix.
        has_bias: Whether a row is added to each row of the product.
        adds: Whether the product is added to what is there.
        is_long: Whether sums have more than `MOST_IN_A_SUM` products.
        is_stack: Whether there are several matrices, which are then the units of calls, in place of panels.
    """

    kind: str
    tile: ProductTile
    rest: int
    last: int
    right: Right
    has_bias: bool = False
    adds: bool = False
    is_long: bool = False
    is_stack: bool = False


ProductTable = namedtuple(
    "ProductTable",
    "left left_row left_inner right right_step bias out out_row tiles inner columns panels every"
    " left_matrix right_matrix out_matrix",
)
"""Addresses of the arrays; bytes from a row to the next of the left matrix and of the product, from a column
to the next of the left matrix, and from a piece to the next of the right one; whole tiles of rows; how many
products a sum has; columns; whole panels, and all of them; bytes from a matrix of a stack to the next."""


@final
class ProductText:
    """The text of a kernel, whose units are panels, or the matrices of a stack.

    Attributes:
        text: The module.
    """

    def __init__(self, pattern: ProductPattern) -> None:
        """Write it."""
        self._pattern = pattern
        self._kind = pattern.kind
        self._size, self._lanes = BITS[pattern.kind] // 8, LANES[BITS[pattern.kind] // 8]
        self._code = code = Writer(NAME, KERNEL_PARAMETERS, self._lanes)
        self._words = words = code.record(ProductTable)
        arrays = ("left", "right", "bias", "out")
        self._pointers = {name: code.pointer(getattr(words, name)) for name in arrays}
        scratch = code.value("ptrtoint ptr %scratch to i64")
        # Vectors of a panel begin at a line of the cache each, so that none is loaded from two.
        self._scratch = code.pointer(code.value(f"and i64 {code.add(scratch, ALIGNED - 1)}, -{ALIGNED}"))
        rows = range(pattern.tile.rows)
        self._left_rows = [code.multiply(self._words.left_row, i) if i else "0" for i in rows]
        self._out_rows = [code.multiply(self._words.out_row, i) if i else "0" for i in rows]
        self._left_inner = [code.multiply(self._words.left_inner, i) if i else "0" for i in range(_UNROLLED)]
        if pattern.is_stack:
            code.loop("%first", "%last", 1, [], self._matrix)
        else:
            self._every_panel("%first", "%last")
        self.text: Final = code.module()

    def _matrix(self, number: str, _: Values) -> Values:
        first = dict(self._pointers)
        for name in ("left", "right", "out"):
            before = self._code.multiply(number, getattr(self._words, f"{name}_matrix"))
            self._pointers[name] = self._code.address(first[name], before)
        self._every_panel("0", self._words.every)
        return []

    def _every_panel(self, first: str, last: str) -> None:
        code, words, pattern = self._code, self._words, self._pattern
        self._panels = _Panels(code, pattern.kind, self._pointers["right"], words.right_step, words.columns)
        each_panel(code, words.panels, pattern.tile.vectors, pattern.last, self._panel, first, last)

    def _panel(self, number: str, vectors: int) -> Values:
        code, words, lanes = self._code, self._words, self._lanes
        column = code.multiply(number, self._pattern.tile.vectors * lanes)
        self._masks = [code.mask(code.add(column, v * lanes), words.columns) for v in range(vectors)]
        self._column = column
        if not self._pattern.is_long:
            self._block("0", words.inner, self._masks, self._masks)
            return []

        def block(begin: str, _: Values) -> Values:
            left = code.value(f"sub i64 {words.inner}, {begin}")
            length = code.call("i64", "llvm.smin.i64", ("i64", left), ("i64", str(BLOCK)))
            is_later = code.value(f"icmp sgt i64 {begin}, 0")
            is_last = code.value(f"icmp sle i64 {left}, {BLOCK}")
            self._block(begin, length, self._where(is_later), self._where(is_last))
            return []

        code.loop("0", words.inner, BLOCK, [], block)
        return []

    def _where(self, condition: str) -> Values:
        """The masks of the columns where a condition holds, else masks of none."""
        code = self._code
        vector, every = code.vector("bool"), code.splat("bool", condition)
        return [code.value(f"and {vector} {mask}, {every}") for mask in self._masks]

    def _block(self, begin: str, length: str, later: Values, last: Values) -> None:
        """The products of some columns of the left matrix.

        Args:
            later: Masks of what is there already, `last` of where the bias is added.
        """
        code, words, pattern = self._code, self._words, self._pattern
        vectors, width = len(self._masks), len(self._masks) * ALIGNED
        if pattern.right == "packed":
            before = code.multiply(words.inner, self._size)
            panel = code.address(self._pointers["right"], code.multiply(self._column, before))
            panel = code.address(panel, code.multiply(begin, width))
        else:
            panel = self._scratch
            self._panels.copy(pattern.right, begin, length, self._column, self._masks, panel)
        bias = code.address(self._pointers["bias"], code.multiply(self._column, self._size))
        self._bias = [
            code.load_masked(self._kind, code.address(bias, str(v * ALIGNED)), last[v])
            for v in range(vectors if pattern.has_bias else 0)
        ]
        self._later = self._masks if pattern.adds else later
        left = code.address(self._pointers["left"], code.multiply(begin, words.left_inner))
        out = code.address(self._pointers["out"], code.multiply(self._column, self._size))

        def tile(rows: int, left: str, out: str) -> Values:
            self._tile(rows, left, out, panel, length)
            return [
                code.address(left, code.multiply(words.left_row, rows)),
                code.address(out, code.multiply(words.out_row, rows)),
            ]

        start = [("ptr", left), ("ptr", out)]
        found = code.loop("0", words.tiles, 1, start, lambda _, values: tile(pattern.tile.rows, *values))
        if pattern.rest:
            tile(pattern.rest, *found)

    def _tile(self, rows: int, left: str, out: str, panel: str, length: str) -> None:
        code, kind, vectors = self._code, self._kind, len(self._masks)
        # An address for each row: numbers are read where they stand, so the left matrix has any order.
        bases = [code.address(left, self._left_rows[i]) for i in range(rows)]
        inner = self._words.left_inner
        if self._pattern.adds or self._pattern.is_long:
            # What sums are added to has come when they are done: else each tile would wait for it.
            for i in range(rows):
                for v in range(vectors):
                    at = code.address(code.address(out, self._out_rows[i]), str(v * ALIGNED))
                    code.prefetch(at)

        def add(steps: int) -> Callable[[str, Values], Values]:
            def body(_: str, values: Values) -> Values:
                *totals, at, row = values
                for step in range(steps):
                    place = code.add(at, self._left_inner[step]) if step else at
                    own = [
                        code.load_vector(kind, code.address(row, str((step * vectors + v) * ALIGNED)))
                        for v in range(vectors)
                    ]
                    for i, base in enumerate(bases):
                        number = code.broadcast(kind, code.address(base, place))
                        for v, factor in enumerate(own, i * vectors):
                            totals[v] = code.multiply_add(kind, number, factor, totals[v])
                further = code.add(at, code.multiply(inner, steps))
                return [*totals, further, code.address(row, str(steps * vectors * ALIGNED))]

            return body

        vector = code.vector(kind)
        zeros = [(vector, code.constant(kind, 0))] * (rows * vectors)
        whole = code.value(f"sub i64 {length}, {code.value(f'srem i64 {length}, {_UNROLLED}')}")
        found = code.loop("0", whole, _UNROLLED, [*zeros, ("i64", "0"), ("ptr", panel)], add(_UNROLLED))
        kinds = [*[vector] * len(zeros), "i64", "ptr"]
        found = code.loop(whole, length, 1, list(zip(kinds, found, strict=True)), add(1))
        self._store(rows, found[:-2], out)

    def _store(self, rows: int, totals: Values, out: str) -> None:
        code, kind, vector = self._code, self._kind, self._code.vector(self._kind)
        for number, total in enumerate(totals):
            i, v = divmod(number, len(self._masks))
            address = code.address(code.address(out, self._out_rows[i]), str(v * ALIGNED))
            if self._pattern.adds or self._pattern.is_long:
                before = code.load_masked(kind, address, self._later[v])
                total = code.value(f"fadd {vector} {before}, {total}")
            if self._pattern.has_bias:
                total = code.value(f"fadd {vector} {total}, {self._bias[v]}")
            code.store_masked(kind, total, address, self._masks[v])


PackTable = namedtuple("PackTable", "right right_step out inner columns panels")
"""As `ProductTable`; the panels are written."""


@final
class PackText:
    """The text of a kernel that copies panels, which are its units, to where products read them.

    Attributes:
        text: The module.
    """

    def __init__(self, kind: str, right: Right, vectors: int, last: int) -> None:
        """Write it; `vectors` are those of a panel, and `last` those of the last one, 0: as many."""
        code = Writer(NAME, KERNEL_PARAMETERS, LANES[BITS[kind] // 8])
        words = code.record(PackTable)
        begin = code.pointer(words.out)
        panels = _Panels(code, kind, code.pointer(words.right), words.right_step, words.columns)

        def panel(number: str, vectors_here: int) -> Values:
            column = code.multiply(number, vectors * code.lanes)
            masks = [code.mask(code.add(column, v * code.lanes), words.columns) for v in range(vectors_here)]
            before = code.multiply(code.multiply(column, words.inner), BITS[kind] // 8)
            panels.copy(right, "0", words.inner, column, masks, code.address(begin, before))
            return []

        each_panel(code, words.panels, vectors, last, panel)
        self.text: Final = code.module()


def each_panel(
    code: Writer, whole: str, vectors: int, last: int, panel: Callable[[str, int], Values],
    first: str = "%first", end: str = "%last",
) -> None:  # fmt: skip
    """Write loops over some panels; `panel` gets the number of each and how many vectors it has."""
    middle = code.call("i64", "llvm.smin.i64", ("i64", end), ("i64", whole)) if last else end
    code.loop(first, middle, 1, [], lambda number, _: panel(number, vectors))
    if last:
        begin = code.call("i64", "llvm.smax.i64", ("i64", first), ("i64", whole))
        code.loop(begin, end, 1, [], lambda number, _: panel(number, last))


@final
class _Panels:
    """The right matrix of a product: writes how panels of it are copied."""

    def __init__(self, code: Writer, kind: str, begin: str, step: str, columns: str) -> None:
        self._code, self._kind, self._size = code, kind, BITS[kind] // 8
        self._begin, self._step, self._columns = begin, step, columns

    def copy(self, right: Right, begin: str, length: str, column: str, masks: Values, target: str) -> None:
        """Copy the rows of a panel from `begin` on; it begins at a column, and has a mask for each vector."""
        (self._copy_rows if right == "rows" else self._turn_columns)(begin, length, column, masks, target)

    def _copy_rows(self, begin: str, length: str, column: str, masks: Values, target: str) -> None:
        code, step = self._code, self._step
        source = code.address(self._begin, code.multiply(column, self._size))
        source = code.address(source, code.multiply(begin, step))

        def row(_: str, values: Values) -> Values:
            source, target = values
            for v, mask in enumerate(masks):
                found = code.load_masked(self._kind, code.address(source, str(v * ALIGNED)), mask)
                code.store_vector(self._kind, found, code.address(target, str(v * ALIGNED)))
            return [code.address(source, step), code.address(target, str(len(masks) * ALIGNED))]

        code.loop("0", length, 1, [("ptr", source), ("ptr", target)], row)

    def _turn_columns(self, begin: str, length: str, column: str, masks: Values, target: str) -> None:
        """Copy rows that stand in columns.

        Behind the last column stands that one again, and nobody stores what comes of it.
        """
        code, lanes, width = self._code, self._code.lanes, len(masks) * ALIGNED
        final = code.value(f"sub i64 {self._columns}, 1")
        start = code.address(self._begin, code.multiply(begin, self._size))
        for v in range(len(masks)):
            sources = []
            for lane in range(lanes):
                number = code.add(column, v * lanes + lane)
                number = code.call("i64", "llvm.smin.i64", ("i64", number), ("i64", final))
                sources.append(code.address(start, code.multiply(self._step, number)))

            def turn(row: str, _: Values, sources: Values = sources, v: int = v) -> Values:
                mask, at = code.mask(row, length), code.multiply(row, self._size)
                read = [code.load_masked(self._kind, code.address(each, at), mask) for each in sources]
                first = code.address(target, code.multiply(row, width))
                for lane, vector in enumerate(code.transposed(self._kind, read)):
                    place = code.address(first, str(lane * width + v * ALIGNED))
                    code.store_vector(self._kind, vector, place)
                return []

            code.loop("0", length, lanes, [], turn)
