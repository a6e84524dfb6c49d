"""Kernels that standardize groups, as text of LLVM.

A group is read from memory once, and once more from a cache.

Arrays are contiguous, of shape (N, G, K): group `g` has the elements `[:, g, :]`. Gains and offsets are for
groups, which take them in turn, or, where N is 1, for each of the K.

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
    """The kernel of the outputs; it finds mean and variance, or `is_given` them."""
    text = _Text(variant)
    text.each_group(text.apply if variant.is_given else text.standardize)
    return text.code.module()


def gradients_text(variant: Variant) -> str:
    """Kernel of the gradients: of gains and offsets sums for each group, or added to those of elements."""
    text = _Text(variant)
    text.each_group(text.gradients)
    return text.code.module()


class _Parts(NamedTuple):
    """Numbers that make an element of the output, in all lanes."""

    high: str
    low: str
    inverse: str


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
        rest = self.scalar("fdiv", total, self.count)
        variance = self.scalar(
            "fsub", self.scalar("fdiv", squares, self.count), self.scalar("fmul", rest, rest)
        )
        is_less = code.value(f"fcmp olt double {variance}, 0.0")
        variance = code.value(f"select i1 {is_less}, double 0.0, double {variance}")
        mean = self.scalar("fadd", shift, rest)
        self.store_wide("mean", number, mean)
        self.store_wide("spread", number, variance)
        eps = code.value(f"bitcast i64 {self.words['eps']} to double")
        root = code.call("double", "llvm.sqrt.f64", ("double", self.scalar("fadd", variance, eps)))
        inverse = self.in_all_lanes(self.scalar("fdiv", "1.0", root))
        self._write_outputs(number, _Parts(*self.in_parts(mean), inverse))

    def apply(self, number: str) -> None:
        """Elements of a group whose mean and inverse deviation are given."""
        mean, inverse = (self.of_vector(name, number) for name in ("mean", "spread"))
        self._write_outputs(number, _Parts(mean, self.code.constant(self.kind, 0), inverse))

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
            value = self.own("fmul", value, parts.inverse)
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
        shifts = code.splat(WIDE, mean)

        def add(place: Place, totals: Values) -> Values:
            d = self.differences(place.vector(0, kind), shifts, place.mask)
            g = place.vector(1, kind)
            if variant.is_by_element:
                g = self.own("fmul", g, place.vector(2, kind))
            g = self.wide_of(g)
            found = [self.wide("fadd", totals[0], g), code.multiply_add(WIDE, g, d, totals[1])]
            return found if variant.is_given else [*found, self.wide("fadd", totals[2], d)]

        total, product, *rests = self.sums(self.walk(bases, 2 if variant.is_given else 3, add))
        high, low, offset, slope = self.of_vector("mean", number), code.constant(kind, 0), "", ""
        if not variant.is_given:
            rest = self.scalar("fdiv", rests[0], self.count)
            product = self.scalar("fsub", product, self.scalar("fmul", rest, total))
            high, low = self.in_parts(self.scalar("fadd", mean, rest))
            offset = self.in_all_lanes(self.scalar("fdiv", total, self.count))
            by_inverse = self.scalar("fmul", self.scalar("fmul", product, inverse), inverse)
            slope = self.in_all_lanes(self.scalar("fdiv", by_inverse, self.count))
        parts = _Parts(high, low, self.of_vector("spread", number))
        if variant.is_by_element:
            self._add_to_sums(number, bases, parts)
        else:
            self.store_wide("gain_sums", number, self.scalar("fmul", product, inverse))
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
            product = self.own("fmul", g, self.own("fmul", d, parts.inverse))
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
            if not variant.is_given:
                d = self._less_mean(place.vector(0, kind), parts)
                g = self.own("fsub", self.own("fsub", g, offset), self.own("fmul", d, slope))
            g = self.own("fmul", g, parts.inverse)
            place.store(target, kind, self.own("fmul", g, gain) if gain else g)
            return totals

        self.walk([*bases, self.of_group("data_grad", number)], 0, write)

    def _less_mean(self, value: str, parts: _Parts) -> str:
        return self.own("fsub", self.own("fsub", value, parts.high), parts.low)
