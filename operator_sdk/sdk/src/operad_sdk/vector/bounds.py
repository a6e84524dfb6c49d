"""Bounds of the arrays that kernels read and write, checked in emitted code: `OPERAD_VECTOR=checked`.

An address in a kernel's table carries a *tag* in its upper 16 bits, which no address of a program has: the
number of a pair of bounds. Arithmetic on addresses leaves tags alone, so what a kernel reads or writes says
of which array it is, through loops, tables in tables and calls of other kernels. Each load and store of an
element, a vector or a word of a table first calls `operad_in_bounds`, which takes the tag off and compares;
lanes that are masked out are not compared. What lies outside, or has no tag, is noted and goes to memory of
nobody, which loads find zero, so that the kernel ends; who ran it then raises `OperadError`.

Refused: bounds as words of the tables, since kernels call others whose tables lie within their own; and the
interpreter's own check of each element, since it is not of emitted code.

Values on the stack are checked where text is written (`checked_addresses`). Not checked: the function that
finds the addresses of arrays (`array_calls`, which says why), in whose place tables are filled here, and the
records of helpers (`team`), whose text has a model that the tests explore.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from string import Template
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad.errors import OperadError
from operad.locks import new_lock
from operad_sdk.addresses import data_address, span
from operad_sdk.vector.checked_addresses import IN_BOUNDS
from operad_sdk.vector.machine import define_symbol, reason_against
from operad_sdk.vector.settings import is_checked

_SHIFT: Final = 48
_NUM_TAGS: Final = 1 << 15
NEXT_TAG: Final = 1 << _SHIFT
"""Difference of two addresses that are alike but for tags that follow each other."""
_MOST_NOTED: Final = 20
_VERBS: Final = ("reads", "writes")
_NOWHERE_BYTES: Final = 4096

_TEXT: Final = Template("""
define ptr @$name(ptr %at, i64 %low, i64 %high, i64 %writes) {
  %word = ptrtoint ptr %at to i64
  %tag = lshr i64 %word, $shift
  %real = and i64 %word, $mask
  %is_nothing = icmp sle i64 %high, %low
  br i1 %is_nothing, label %fine, label %look
look:
  %offset = shl i64 %tag, 4
  %begin_word = add i64 %offset, $bounds
  %begin_at = inttoptr i64 %begin_word to ptr
  %end_at = getelementptr i64, ptr %begin_at, i64 1
  %begin = load i64, ptr %begin_at
  %end = load i64, ptr %end_at
  %first = add i64 %real, %low
  %behind = add i64 %real, %high
  %is_behind_begin = icmp sge i64 %first, %begin
  %is_before_end = icmp sle i64 %behind, %end
  %is_inside = and i1 %is_behind_begin, %is_before_end
  br i1 %is_inside, label %fine, label %outside
outside:
  %report = inttoptr i64 $report to ptr
  call void %report(i64 %word, i64 %low, i64 %high, i64 %writes)
  %of_stores = mul i64 %writes, $nowhere_bytes
  %nowhere_word = add i64 %of_stores, $nowhere
  %nowhere = inttoptr i64 %nowhere_word to ptr
  ret ptr %nowhere
fine:
  %found = inttoptr i64 %real to ptr
  ret ptr %found
}
""")


class _Owner(NamedTuple):
    """Array of a tag: its kernel, the array in words, and bytes of its elements."""

    kernel: str
    array: str
    itemsize: int


_lock: Final = new_lock()
_bounds: Final = (ctypes.c_longlong * (2 * _NUM_TAGS))()
_is_used: Final = bytearray(b"\1") + bytes(_NUM_TAGS - 1)
_owners: Final[dict[int, _Owner]] = {}
_lasting: Final[dict[tuple[int, int], Tags]] = {}
_noted: Final[list[str]] = []
_nowhere: Final = ctypes.create_string_buffer(3 * _NOWHERE_BYTES)


@final
class Tags:
    """Tags that follow each other, for spans of memory; they are free again when this object goes.

    Attributes:
        addresses: Where the spans' owners begin, with tags.
    """

    def __init__(self, kernel: str, spans: Sequence[tuple[int, int, int, str, int]]) -> None:
        """Take tags; a span is an address, the bounds around it, and its array in words with its itemsize."""
        count = len(spans)
        with _lock:
            self._first = _is_used.find(bytes(count))
            if self._first < 0:
                raise OperadError(f"kernels with more than {_NUM_TAGS} arrays at once cannot be checked")
            self._count = count
            _is_used[self._first : self._first + count] = b"\1" * count
        self.addresses: Final = []
        for tag, (address, begin, end, text, itemsize) in enumerate(spans, self._first):
            _bounds[2 * tag], _bounds[2 * tag + 1] = begin, end
            _owners[tag] = _Owner(kernel, text, itemsize)
            self.addresses.append(address | tag << _SHIFT)

    def __del__(self) -> None:
        if getattr(self, "_count", 0):
            for tag in range(self._first, self._first + self._count):
                _bounds[2 * tag] = _bounds[2 * tag + 1] = 0  # of memory that is gone
            _is_used[self._first : self._first + self._count] = bytes(self._count)

    @classmethod
    def of_arrays(
        cls, kernel: str, arrays: Sequence[NDArray[Any]], addresses: Sequence[int] | None = None
    ) -> Tags:
        """Tags of a call's arrays, or of addresses, whose bounds are those of the array that has them."""
        own = [(*span(array), f"array {i}, {_described(array)}", array.itemsize)
               for i, array in enumerate(arrays)]  # fmt: skip
        if addresses is None:
            return cls(kernel, [(data_address(a), *each) for a, each in zip(arrays, own, strict=True)])
        return cls(kernel, [(at, *_around(at, own)) for at in addresses])

    @classmethod
    def of_scratch(cls, kernel: str, rows: NDArray[Any]) -> Tags:
        """Tags of rows of scratch memory."""
        begins = [data_address(rows) + i * rows.strides[0] for i in range(len(rows))]
        size = rows.strides[0]
        return cls(kernel, [(at, at, at + size, f"{size} bytes of scratch memory", 1) for at in begins])

    @classmethod
    def of_table(cls, kernel: str, words: ctypes.Array[ctypes.c_longlong]) -> Tags:
        """The tag of a kernel's table."""
        begin = ctypes.addressof(words)
        return cls(kernel, [(begin, begin, begin + ctypes.sizeof(words), f"its table of {len(words)}", 8)])

    @classmethod
    def of_steps(cls, kernel: str, sample: NDArray[Any], addresses: NDArray[np.int64]) -> Tags:
        """Tags of arrays that lie as a sample does, one for each step."""
        begin, end = (edge - data_address(sample) for edge in span(sample))
        text = f"a step's array, {_described(sample)}"
        return cls(kernel, [(at, at + begin, at + end, text, sample.itemsize) for at in addresses.tolist()])


def words_address(array: NDArray[Any]) -> int:
    """Address of words to which a table points; under checks with a tag, which lasts as their memory does."""
    if not is_checked():
        return data_address(array)
    edges = span(array)
    tags = Tags("with a table", [(edges[0], *edges, _described(array), array.itemsize)])
    found = _lasting.setdefault(edges, tags)
    if found is tags:
        weakref.finalize(array if array.base is None else array.base, _lasting.pop, edges, None)
    return found.addresses[0]


def _described(array: NDArray[Any]) -> str:
    return f"{array.dtype}{array.shape} with strides {array.strides}"


def _around(address: int, own: Sequence[tuple[int, int, str, int]]) -> tuple[int, int, str, int]:
    """The widest of the arrays in which an address lies; where there is none, nothing may be touched."""
    found = [each for each in own if each[0] <= address < each[1]]
    return max(found, key=lambda each: each[1] - each[0], default=(address, address, "no array", 1))


def _report(word: int, low: int, high: int, writes: int) -> None:
    """Note an access; called by kernels, in any thread."""
    tag, address = (word >> _SHIFT) % _NUM_TAGS, word & NEXT_TAG - 1
    if tag not in _owners:
        what = f"a kernel {_VERBS[writes]} {high - low} bytes at {address:#x}, which no array has"
        _noted[_MOST_NOTED - 1 :] = [what]
        return
    owner, begin, end = _owners[tag], _bounds[2 * tag], _bounds[2 * tag + 1]
    first, last = ((address + edge - begin) / owner.itemsize for edge in (low, high))
    if len(_noted) < _MOST_NOTED:
        _noted.append(
            f"kernel {owner.kernel!r} {_VERBS[writes]} elements {first:g} to {last:g} of "
            f"{owner.array}, which has memory for {(end - begin) / owner.itemsize:g}"
        )


_REPORT: Final = ctypes.CFUNCTYPE(None, *[ctypes.c_longlong] * 4)(_report)


def expect_in_bounds() -> None:
    """Raise what kernels have noted since the last call.

    Raises:
        OperadError: A kernel read or wrote outside of an array.
    """
    if _noted:
        found, _noted[:] = list(_noted), []
        raise OperadError(f"{'; '.join(dict.fromkeys(found))}; please report it")


def _define_check() -> None:
    """Let modules that are loaded from now on find the check."""
    text = _TEXT.substitute(
        name=IN_BOUNDS, shift=_SHIFT, mask=NEXT_TAG - 1, bounds=ctypes.addressof(_bounds),
        report=ctypes.cast(_REPORT, ctypes.c_void_p).value,
        nowhere=ctypes.addressof(_nowhere) + _NOWHERE_BYTES // 2, nowhere_bytes=3 * _NOWHERE_BYTES // 2,
    )  # fmt: skip
    define_symbol(text, IN_BOUNDS)


if is_checked() and reason_against() is None:
    _define_check()
