"""Kernels that standardize groups, as text of LLVM.

A group is read from memory once, and once more from a cache.

Arrays are contiguous, of shape (G, K): group `g` has the elements `[g, :]`. Gains and offsets are for groups,
which take them in turn, or for each of the K.

Sums are in double precision, of differences from a number near the mean: `sum(d)` and `sum(d^2)` with
`d = x - s` give mean and variance in one pass. For `s` the first element will do. It is one of n elements, so
`(s - mean)^2` is at most n times the variance, and the difference `sum(d^2) / n - (sum(d) / n)^2` loses
log10(n) of 16 digits, whatever the mean. The gradients have the rounded mean for `s`. Squares of single
precision do not overflow.

What is written is computed in the data's type, from the mean in two parts: the first is the mean rounded to
that type, the second what rounding left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from operad_normalization.group_text import WIDE, GroupText, Place, Variant
from operad_sdk.vector import ELEMENTS, Values


def standardize_text(variant: Variant) -> str:
    """The kernel of the outputs, mean and variance."""
    text = _Text(variant)
    text.each_group(text.standardize)
    return text.code.module()


def gradients_text(variant: Variant) -> str:
    """Kernel of the gradients: of gains and offsets sums for each group, or added to those of elements."""
    text = _Text(variant)
    text.each_group(text.gradients)
    return text.code.module()


class _Parts(NamedTuple):
    """Numbers that make an element, in all lanes: negated quarters of the mean's parts, `r`, and `4 r`."""

    high: str
    low: str
    inverse: str
    of_quarters: str


@final
class _Text(GroupText):
    def standardize(self, number: str) -> None:
        """Mean and variance of a group, and then its elements."""
        code, data = self.code, self.of_group("data", number)
        shift = self.widened(code.value(f"load {ELEMENTS[self.kind]}, ptr {data}, align 1"))
        shifts = code.splat(WIDE, shift)

        def add(place: Place, totals: Values) -> Values:
            d = self.differences(place.vector(0, self.kind), shifts, place.mask)
            return [self.wide("fadd", totals[0], d), code.multiply_add(WIDE, d, d, totals[1])]

        total, squares = self.sums(self.walk([data], 2, add))
        small = "1.0"
        if self.kind == WIDE:
            total, squares, small = self._of_large(data, shift, total, squares)
        rest = self.scalar("fdiv", total, self.count)
        variance = self.scalar(
            "fsub", self.scalar("fdiv", squares, self.count), self.scalar("fmul", rest, rest)
        )
        is_less = code.value(f"fcmp olt double {variance}, 0.0")
        variance = code.value(f"select i1 {is_less}, double 0.0, double {variance}")
        mean = self.scalar("fadd", self.scalar("fmul", shift, small), rest)
        mean = self.scalar("fdiv", mean, small)
        self.store_wide("mean", number, mean)
        self.store_wide("spread", number, self.scalar("fdiv", self.scalar("fdiv", variance, small), small))
        eps = code.value(f"bitcast i64 {self.words['eps']} to double")
        eps = self.scalar("fmul", self.scalar("fmul", eps, small), small)
        root = code.call("double", "llvm.sqrt.f64", ("double", self.scalar("fadd", variance, eps)))
        root = self.scalar("fdiv", root, small)
        is_beyond = code.value(f"fcmp oeq double {root}, 0x7FF0000000000000")  # by rounding alone
        root = code.value(f"select i1 {is_beyond}, double 0x7FEFFFFFFFFFFFFF, double {root}")
        self.store_wide("deviation", number, root)
        inverse = self.in_all_lanes(self.scalar("fdiv", "1.0", root))
        self._write_outputs(number, self._parts(*self.in_parts(mean), inverse))

    def _of_large(self, data: str, shift: str, total: str, squares: str) -> tuple[str, str, str]:
        """The sums, and 1; where a square is beyond the range, those of small multiples, and the factor."""
        code, small = self.code, "0x1A70000000000000"  # 2^-600
        is_beyond = code.value(f"fcmp uno double {self.scalar('fsub', squares, squares)}, 0.0")
        shifts = code.splat(WIDE, self.scalar("fmul", shift, small))
        factors = code.splat(WIDE, small)

        def add(place: Place, totals: Values) -> Values:
            d = self.differences(self.own("fmul", place.vector(0, WIDE), factors), shifts, place.mask)
            return [self.wide("fadd", totals[0], d), code.multiply_add(WIDE, d, d, totals[1])]

        usual = [("double", one) for one in (total, squares, "1.0")]
        first, second, factor = code.when(
            is_beyond, usual, lambda: [*self.sums(self.walk([data], 2, add)), small]
        )
        return first, second, factor

    def _write_outputs(self, number: str, parts: _Parts) -> None:
        """`((x - high) - low) * inverse * gain + offset`."""
        kind = self.kind
        bases = [self.of_group(name, number) for name in ("data", "output")]
        gain, offset = "", ""
        if self.variant.is_by_element:
            bases += [self.code.pointer(self.words[name]) for name in ("gain", "offset")]
        else:
            gain, offset = (self.of_vector(name, self.turn(number)) for name in ("gain", "offset"))

        def write(place: Place, totals: Values) -> Values:
            value = self._less_mean(place.vector(0, kind), parts)
            value = self.own("fmul", value, parts.of_quarters)
            value = self.own("fmul", value, gain or place.vector(2, kind))
            place.store(1, kind, self.own("fadd", value, offset or place.vector(3, kind)))
            return totals

        self.walk(bases, 0, write)

    def gradients(self, number: str) -> None:
        """`(k - mean(k) - h mean(k h)) * inverse` with `h = d * inverse`, and the sums of `g h` and `g`."""
        code, kind, variant = self.code, self.kind, self.variant
        bases = [self.of_group(name, number) for name in ("data", "output_grad")]
        if variant.is_by_element:
            bases.append(code.pointer(self.words["gain"]))
        mean, inverse = (self.wide_element("mean", number), self.wide_element("spread", number))
        # Of double precision the sums are those of `h` and `g h`, as those of differences may overflow.
        is_wide, quarter = kind == WIDE, code.constant(kind, 0.25)
        shifts = code.splat(WIDE, self.scalar("fmul", mean, "0.25") if is_wide else mean)
        fours = code.splat(WIDE, self.scalar("fmul", inverse, "4.0"))

        def add(place: Place, totals: Values) -> Values:
            value = place.vector(0, kind)
            d = self.differences(self.own("fmul", value, quarter) if is_wide else value, shifts, place.mask)
            d = self.wide("fmul", d, fours) if is_wide else d
            g = place.vector(1, kind)
            if variant.is_by_element:
                g = self.own("fmul", g, place.vector(2, kind))
            g = self.wide_of(g)
            found = [self.wide("fadd", totals[0], g), code.multiply_add(WIDE, g, d, totals[1])]
            return [*found, self.wide("fadd", totals[2], d)]

        total, product, rest = self.sums(self.walk(bases, 3, add))
        rest = self.scalar("fdiv", rest, self.count)
        product = self.scalar("fsub", product, self.scalar("fmul", rest, total))
        lost = self.scalar("fdiv", rest, inverse) if is_wide else rest
        high, low = self.in_parts(self.scalar("fadd", mean, lost))
        product = product if is_wide else self.scalar("fmul", product, inverse)
        offset = self.in_all_lanes(self.scalar("fdiv", total, self.count))
        of_quarters = self.scalar("fmul", self.scalar("fmul", product, inverse), "4.0")
        slope = self.in_all_lanes(self.scalar("fdiv", of_quarters, self.count))
        parts = self._parts(high, low, self.of_vector("spread", number))
        if variant.is_by_element:
            self._add_to_sums(number, bases, parts)
        else:
            self.store_wide("gain_sums", number, product)
            self.store_wide("offset_sums", number, total)
        self._write_gradients(number, bases, parts, offset, slope)

    def _add_to_sums(self, number: str, bases: Sequence[str], parts: _Parts) -> None:
        """Add `g h` and `g` to the sums of each element, in a walk of its own, which is faster."""
        code, first = self.code, len(bases)
        # Part p begins with group floor(groups * p / parts).
        behind = code.multiply(code.add(number, 1), self.words["parts"])
        part = code.value(f"sdiv i64 {code.value(f'sub i64 {behind}, 1')}, {self.words['groups']}")
        moved = code.multiply(code.multiply(part, self.columns), 16)
        sums = [code.address(code.pointer(self.words[name]), moved) for name in ("gain_sums", "offset_sums")]

        def add(place: Place, totals: Values) -> Values:
            g, d = place.vector(1, self.kind), self._less_mean(place.vector(0, self.kind), parts)
            product = self.own("fmul", g, self.own("fmul", d, parts.of_quarters))
            for i, term in enumerate((product, g), first):
                place.store(i, WIDE, self.wide("fadd", place.vector(i, WIDE), self.wide_of(term)))
            return totals

        self.walk([*bases, *sums], 0, add)

    def _write_gradients(
        self, number: str, bases: Sequence[str], parts: _Parts, offset: str, slope: str
    ) -> None:
        variant, kind, target = self.variant, self.kind, len(bases)
        if not variant.has_data_grad:
            return
        gain = "" if variant.is_by_element else self.of_vector("gain", self.turn(number))

        def write(place: Place, totals: Values) -> Values:
            g = place.vector(1, kind)
            if variant.is_by_element:
                g = self.own("fmul", g, place.vector(2, kind))
            d = self._less_mean(place.vector(0, kind), parts)
            g = self.own("fsub", self.own("fsub", g, offset), self.own("fmul", d, slope))
            g = self.own("fmul", g, parts.inverse)
            place.store(target, kind, self.own("fmul", g, gain) if gain else g)
            return totals

        self.walk([*bases, self.of_group("data_grad", number)], 0, write)

    def _parts(self, high: str, low: str, inverse: str) -> _Parts:
        quarter, four = (self.code.constant(self.kind, number) for number in (-0.25, 4))
        first, second = (self.own("fmul", part, quarter) for part in (high, low))
        return _Parts(first, second, inverse, self.own("fmul", inverse, four))

    def _less_mean(self, value: str, parts: _Parts) -> str:
        """A quarter of the difference, which the type holds."""
        quarter = self.code.constant(self.kind, 0.25)
        return self.own("fadd", self.code.multiply_add(self.kind, value, quarter, parts.high), parts.low)
