"""Text of kernels over groups: walks over their segments, sums of them, and numbers of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, final

import numpy as np

from operad_sdk.vector import ELEMENTS, KERNEL_PARAMETERS, LANES, NAME, Values, Writer


class Table(NamedTuple):
    """The numbers that a kernel reads: addresses, where nothing else is said."""

    columns: int
    groups: int
    parts: int
    """Into how many parts groups are divided, each of which has sums of elements of its own."""
    gains: int
    """Number of gains, which groups take in turn; without meaning where gains are for elements."""
    eps: int = 0
    """Bits of the number that is added to the variance."""
    data: int = 0
    gain: int = 0
    offset: int = 0
    output: int = 0
    mean: int = 0
    """Of double precision where it is found, and in the data's type for gradients."""
    spread: int = 0
    """Likewise: the variance, or the inverse deviation."""
    deviation: int = 0
    """Of double precision."""
    output_grad: int = 0
    data_grad: int = 0
    gain_sums: int = 0
    """Of double precision, as `offset_sums`; those of elements stand in pairs of rows."""
    offset_sums: int = 0


class Variant(NamedTuple):
    """Properties for which a kernel is made.

    Attributes:
        dtype: The elements' type.
        is_by_element: Whether gains are for each element of a group.
        has_data_grad: Whether the gradient of the data is wanted.
    """

    dtype: str
    is_by_element: bool = False
    has_data_grad: bool = True


@final
class Place:
    """Some vectors of the arrays of a walk, at one column.

    Args:
        bases: Where each array's group begins.
        mask: The lanes that count; None: all.
    """

    def __init__(self, code: Writer, bases: Sequence[str], column: str, mask: str | None) -> None:
        self._code, self._bases, self._column, self.mask = code, bases, column, mask

    def vector(self, number: int, kind: str) -> str:
        """Load the vector of an array."""
        address = self._address(number, kind)
        if self.mask is None:
            return self._code.load_vector(kind, address)
        return self._code.load_masked(kind, address, self.mask)

    def store(self, number: int, kind: str, value: str) -> None:
        """Store a vector into an array."""
        address = self._address(number, kind)
        if self.mask is None:
            self._code.store_vector(kind, value, address)
        else:
            self._code.store_masked(kind, value, address, self.mask)

    def _address(self, number: int, kind: str) -> str:
        return self._code.value(
            f"getelementptr {ELEMENTS[kind]}, ptr {self._bases[number]}, i64 {self._column}"
        )


WIDE: Final = "float64"
Body = Callable[[Place, Values], Values]


class GroupText:
    """A kernel while it is written: what all kernels have in common.

    Attributes:
        variant: What it is for.
        kind: The data's type.
        code: The text so far.
        words: The numbers of its table, by name.
        columns: One of them.
        count: Number of elements of a group, in double precision.
    """

    def __init__(self, variant: Variant) -> None:
        self.variant = variant
        self.kind = variant.dtype
        self._size = np.dtype(variant.dtype).itemsize
        self.code = code = Writer(NAME, KERNEL_PARAMETERS, LANES[self._size])
        self.words = {name: code.word("%table", i) for i, name in enumerate(Table._fields)}
        self.columns = self.words["columns"]
        rest = code.value(f"srem i64 {self.columns}, {code.lanes}")
        self._whole = code.value(f"sub i64 {self.columns}, {rest}")
        self.count = code.value(f"sitofp i64 {self.columns} to double")

    def each_group(self, body: Callable[[str], None]) -> None:
        """Write the loop over groups; the body gets the number of one."""

        def group(number: str, _: Values) -> Values:
            body(number)
            return []

        self.code.loop("%first", "%last", 1, [], group)

    def walk(self, starts: Sequence[str], num_sums: int, body: Body) -> Values:
        """Walk over a group, vector by vector; the last may be masked.

        Args:
            starts: Where each array begins.
            num_sums: How many sums the body carries along.
        Returns:
            The sums, lane by lane.
        """
        code, lanes, kind = self.code, self.code.lanes, self.code.vector(WIDE)

        def whole(column: str, totals: Values) -> Values:
            return body(Place(code, starts, column, None), totals)

        def rest(column: str, totals: Values) -> Values:
            return body(Place(code, starts, column, code.mask(column, self.columns)), totals)

        totals = code.loop("0", self._whole, lanes, [(kind, "zeroinitializer")] * num_sums, whole)
        return code.loop(self._whole, self.columns, lanes, [(kind, total) for total in totals], rest)

    def sums(self, totals: Values) -> Values:
        """The sums of a walk as numbers: halves of lanes are added until one is left, in one order."""
        code, found = self.code, []
        for total in totals:
            width = code.lanes
            while width > 1:
                half = width // 2
                halves = [
                    code.shuffled(WIDE, total, "poison", range(begin, begin + half), width)
                    for begin in (0, half)
                ]
                total, width = code.value(f"fadd <{half} x double> {halves[0]}, {halves[1]}"), half
            found.append(code.value(f"extractelement <1 x double> {total}, i32 0"))
        return found

    # values

    def of_group(self, name: str, number: str) -> str:
        """Address of the first segment of a group."""
        code = self.code
        elements = code.multiply(number, self.columns)
        return code.address(code.pointer(self.words[name]), code.multiply(elements, self._size))

    def element(self, name: str, number: str) -> str:
        """The number of a group, out of an array of one for each."""
        code, element = self.code, ELEMENTS[self.kind]
        address = code.address(code.pointer(self.words[name]), code.multiply(number, self._size))
        return code.value(f"load {element}, ptr {address}, align 1")

    def turn(self, number: str) -> str:
        """Number of a group's gain."""
        return self.code.value(f"urem i64 {number}, {self.words['gains']}")

    def of_vector(self, name: str, number: str) -> str:
        """The same in all lanes."""
        return self.code.splat(self.kind, self.element(name, number))

    def wide_element(self, name: str, number: str) -> str:
        """The same in double precision."""
        return self.widened(self.element(name, number))

    def store_wide(self, name: str, number: str, value: str) -> None:
        """Store a number of a group, in double precision."""
        code = self.code
        address = code.address(code.pointer(self.words[name]), code.multiply(number, 8))
        code.line(f"store double {value}, ptr {address}, align 1")

    def widened(self, scalar: str) -> str:
        """A number of the data's type in double precision."""
        return scalar if self.kind == WIDE else self.code.value(f"fpext float {scalar} to double")

    def narrowed(self, scalar: str) -> str:
        """A number in double precision, rounded to the data's type."""
        return scalar if self.kind == WIDE else self.code.value(f"fptrunc double {scalar} to float")

    def in_all_lanes(self, scalar: str) -> str:
        """A number in double precision, rounded to the data's type, in all lanes."""
        return self.code.splat(self.kind, self.narrowed(scalar))

    def in_parts(self, mean: str) -> tuple[str, str]:
        """A number in two parts of the data's type, in all lanes."""
        high = self.narrowed(mean)
        low = self.scalar("fsub", mean, self.widened(high))
        return self.code.splat(self.kind, high), self.in_all_lanes(low)

    def differences(self, value: str, shifts: str, mask: str | None) -> str:
        """Differences in double precision, 0 where lanes do not count."""
        found = self.wide("fsub", self.wide_of(value), shifts)
        if mask is None:
            return found
        vector = self.code.vector(WIDE)
        return self.code.value(
            f"select {self.code.vector('bool')} {mask}, {vector} {found}, {vector} zeroinitializer"
        )

    def wide_of(self, value: str) -> str:
        """A vector in double precision."""
        if self.kind == WIDE:
            return value
        return self.code.value(f"fpext {self.code.vector(self.kind)} {value} to {self.code.vector(WIDE)}")

    def own(self, word: str, one: str, other: str) -> str:
        """An instruction on vectors of the data's type."""
        return self.code.value(f"{word} {self.code.vector(self.kind)} {one}, {other}")

    def wide(self, word: str, one: str, other: str) -> str:
        """The same in double precision."""
        return self.code.value(f"{word} {self.code.vector(WIDE)} {one}, {other}")

    def scalar(self, word: str, one: str, other: str) -> str:
        """The same on single numbers in double precision."""
        return self.code.value(f"{word} double {one}, {other}")
