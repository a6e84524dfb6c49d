"""Prefix sums of float32: added in double precision, each rounded once.

An addition takes four cycles, and a loop over the elements of a row waits for each. Here a vector's own
prefixes are found by doubling, three additions for eight elements, and one more adds what came before the
vector: so a row waits once for each vector. Where prefixes run along another axis than the last, lanes are
columns, and sums of a strip of columns stay in the first cache.

Sums are in another order than NumPy's, the same for all strips and rows, so bits do not depend on threads.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import numpy as np

from operad.operator import Array, OpContext
from operad_sdk.vector.form_calls import run_bound
from operad_sdk.vector.layout import BoundKernel, Kernel, TableLayout
from operad_sdk.vector.writer import KERNEL_PARAMETERS, NAME, Values, Writer

_Table = namedtuple("_Table", "x out steps columns strips")
"""The table: addresses, elements of a run, and what follows from one step to the next."""
_LANES: Final = 16
_HALF: Final = 8
_STRIP: Final = 512
"""Columns that are added up together: 4 KiB of sums."""
_SIZE: Final = 4
_NEUTRAL: Final = "splat (double -0.0)"
"""Neutral element of sums: 0.0 would make -0.0 positive."""


def fill_prefixes(
    x: Array, axis: int, out: Array, *, is_backwards: bool = False, op_ctx: OpContext | None = None
) -> None:
    """Write the prefix sums of an array.

    Args:
        x: float32, contiguous, of one element or more.
        axis: From 0 on.
        out: As x; may be x.
        is_backwards: Whether sums begin at the last element.
        op_ctx: Whose threads compute parts; None: the calling thread alone.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    bound = BoundKernel(_layout(x.shape, axis, is_backwards), (x, out))
    if op_ctx is None:
        bound.run()
    else:
        run_bound(op_ctx, bound, x.size)


@lru_cache(maxsize=1024)
def _layout(shape: tuple[int, ...], axis: int, is_backwards: bool) -> TableLayout:
    columns = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    outer = int(np.prod(shape[:axis], dtype=np.int64))
    strips = 1 if columns == 1 else -(-columns // _STRIP)
    table = _Table(x=0, out=0, steps=shape[axis], columns=columns, strips=strips)
    kernel = _kernel(columns == 1, is_backwards)
    return TableLayout.of(kernel, outer * strips, table, ("x", "out"), 0 if columns == 1 else 8 * _STRIP)


@lru_cache(maxsize=4)
def _kernel(is_of_rows: bool, is_backwards: bool) -> Kernel:
    code = Writer(NAME, KERNEL_PARAMETERS, _LANES)
    (_write_rows if is_of_rows else _write_columns)(code, is_backwards)
    return Kernel(code.module(), "prefix sums")


def _write_rows(code: Writer, is_backwards: bool) -> None:
    """Each unit is a row; a vector's sums begin with those of the vectors before it."""
    words = code.record(_Table)
    x, out = code.pointer(words.x), code.pointer(words.out)
    rest = code.value(f"urem i64 {words.steps}, {_LANES}")
    whole = code.value(f"sub i64 {words.steps}, {rest}")

    def row(number: str, _: Values) -> Values:
        begin = code.multiply(code.multiply(number, words.steps), _SIZE)
        own, into = code.address(x, begin), code.address(out, begin)

        def vector(element: str, carried: Values, mask: str | None = None) -> Values:
            place = code.multiply(element, _SIZE)
            at, target = code.address(own, place), code.address(into, place)
            parts, before = _halves(code, _loaded(code, at, mask), mask), carried[0]
            for i in reversed(range(2)) if is_backwards else range(2):
                with code.of_lanes(_HALF):
                    found = _prefixes(code, parts[i], is_backwards)
                    parts[i] = _added(code, found, before)
                    last = code.shuffled("float64", found, "poison", [0 if is_backwards else 7] * _HALF)
                    before = _added(code, last, before)
            _store(code, parts, target, mask)
            return [before]

        def end(carried: Values) -> Values:
            is_part = code.value(f"icmp ne i64 {rest}, 0")
            mask = code.mask("0", rest)
            return code.when(is_part, [_of_sums(carried[0])], lambda: vector(whole, carried, mask))

        def turned(element: str, carried: Values) -> Values:
            return vector(code.value(f"sub i64 {whole}, {code.add(element, _LANES)}"), carried)

        first = [_NEUTRAL]
        if is_backwards:
            code.loop("0", whole, _LANES, [_of_sums(end(first)[0])], turned)
        else:
            end(code.loop("0", whole, _LANES, [_of_sums(first[0])], vector))
        return []

    code.loop("%first", "%last", 1, [], row)


def _write_columns(code: Writer, is_backwards: bool) -> None:
    """Each unit is a strip of columns, whose sums are in scratch memory."""
    words = code.record(_Table)
    x, out = code.pointer(words.x), code.pointer(words.out)
    row_bytes = code.multiply(words.columns, _SIZE)
    block_bytes = code.multiply(row_bytes, words.steps)
    step_bytes = code.value(f"sub i64 0, {row_bytes}") if is_backwards else row_bytes
    skipped = code.value(f"sub i64 {block_bytes}, {row_bytes}") if is_backwards else "0"

    def strip(number: str, _: Values) -> Values:
        block, column = code.counters(number, [words.strips, words.strips])
        column = code.multiply(column, _STRIP)
        left = code.value(f"sub i64 {words.columns}, {column}")
        width = code.call("i64", "llvm.smin.i64", ("i64", left), ("i64", str(_STRIP)))
        rest = code.value(f"urem i64 {width}, {_LANES}")
        whole, is_part = code.value(f"sub i64 {width}, {rest}"), code.value(f"icmp ne i64 {rest}, 0")
        begin = code.add(code.multiply(block, block_bytes), code.multiply(column, _SIZE))
        begin, mask = code.add(begin, skipped), code.mask("0", rest)

        def each_vector(body: Callable[[str, str | None], None]) -> None:
            def one(element: str, _: Values) -> Values:
                body(element, None)
                return []

            code.loop("0", whole, _LANES, [], one)

            def last() -> Values:
                body(whole, mask)
                return []

            code.when(is_part, [], last)

        def clear(element: str, _: str | None) -> None:
            for place in _sums(code, element):
                code.store_vector("float64", _NEUTRAL, place, _HALF)

        def step(_: str, carried: Values) -> Values:
            own, into = code.address(x, carried[0]), code.address(out, carried[0])

            def add(element: str, mask: str | None) -> None:
                place = code.multiply(element, _SIZE)
                at, target = code.address(own, place), code.address(into, place)
                parts = _halves(code, _loaded(code, at, mask), None)
                for i, memory in enumerate(_sums(code, element)):
                    parts[i] = _added(code, code.load_vector("float64", memory, _HALF), parts[i])
                    code.store_vector("float64", parts[i], memory, _HALF)
                _store(code, parts, target, mask)

            each_vector(add)
            return [code.add(carried[0], step_bytes)]

        each_vector(clear)
        code.loop("0", words.steps, 1, [("i64", begin)], step)
        return []

    code.loop("%first", "%last", 1, [], strip)


def _of_sums(value: str) -> tuple[str, str]:
    return f"<{_HALF} x double>", value


def _sums(code: Writer, element: str) -> list[str]:
    """Places of the sums of a vector of columns."""
    begin = code.address("%scratch", code.multiply(element, 8))
    return [begin, code.address(begin, str(8 * _HALF))]


def _loaded(code: Writer, at: str, mask: str | None) -> str:
    return code.load_vector("float32", at) if mask is None else code.load_masked("float32", at, mask)


def _halves(code: Writer, value: str, mask: str | None) -> list[str]:
    """A vector as two of double precision; what is masked changes no sum."""
    wide = code.value(f"fpext <{_LANES} x float> {value} to <{_LANES} x double>")
    if mask is not None:
        kind = f"<{_LANES} x double>"
        wide = code.value(f"select <{_LANES} x i1> {mask}, {kind} {wide}, {kind} {_NEUTRAL}")
    return [code.shuffled("float64", wide, "poison", range(i, i + _HALF), _LANES) for i in (0, _HALF)]


def _prefixes(code: Writer, value: str, is_backwards: bool) -> str:
    """The prefixes of one vector, by doubling."""
    for step in (1, 2, 4):
        lanes = range(_HALF)
        order = [i + step if is_backwards else i - step for i in lanes]
        order = [i if i in lanes else _HALF for i in order]
        value = _added(code, value, code.shuffled("float64", value, _NEUTRAL, order))
    return value


def _added(code: Writer, one: str, other: str) -> str:
    return code.value(f"fadd <{_HALF} x double> {one}, {other}")


def _store(code: Writer, parts: Values, target: str, mask: str | None) -> None:
    with code.of_lanes(_HALF):
        both = code.shuffled("float64", parts[0], parts[1], range(_LANES))
    found = code.value(f"fptrunc <{_LANES} x double> {both} to <{_LANES} x float>")
    if mask is None:
        code.store_vector("float32", found, target)
    else:
        code.store_masked("float32", found, target, mask)
