"""Calls of kernels with arrays, whole and in one thread: machine code finds out where they lie.

Asking NumPy for the address of an array takes longer than a kernel on a thousand elements. So a call hands
over the arrays themselves, as Python's `id` names them, and a few instructions read the addresses out of
them, where NumPy's C interface has them: directly behind the head of the object. `is_possible` compares one
such address with what NumPy says.

A call keeps the interpreter's lock, which small arrays are not worth giving back, unless it is told not to.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from operad_sdk.vector.layout import TableLayout
from operad_sdk.vector.machine import address_of
from operad_sdk.vector.writer import Writer

_DATA: Final = object.__basicsize__
"""Offset of the address in an array: `PyArrayObject_fields` has it first, behind `PyObject_HEAD`."""
_WORD_BYTES: Final = 8
_NAME: Final = "call_with_arrays"
_MOST_SCRATCH_BYTES: Final = 1 << 14
"""Scratch memory that a call may have on its stack."""
_FEW: Final = 2
"""Arrays up to which a call is written out."""
_HEAD: Final = 4
"""Words before the positions: the kernel, the table's length, the units, the bytes of scratch memory."""

ArrayCall = Callable[..., None]


@cache
def is_possible() -> bool:
    """Return whether arrays have their addresses where NumPy's C interface says."""
    sample, size = np.zeros(3), ctypes.sizeof(ctypes.c_void_p)
    if size != _WORD_BYTES or type(sample).__basicsize__ < _DATA + size:
        return False
    found = ctypes.c_void_p.from_address(id(sample) + _DATA).value
    return found == sample.ctypes.data


def array_call(
    layout: TableLayout, num_inputs: int, *, offsets: Sequence[int] = (), keeps_lock: bool = True
) -> ArrayCall | None:
    """A function of the arrays that the layout was made for, which are contiguous; None if there can be none.

    It does not look at shapes and types, and neither whether arrays share memory. Arrays that are not
    contiguous are copied; nothing is ever compiled in a call, for it may hold the engine's lock.

    Args:
        num_inputs: How many of the arrays are read; the others are written.
        offsets: Bytes from the beginning of each array to where the layout's begins; none: 0.
        keeps_lock: Whether the interpreter's lock is kept meanwhile.
    """
    if layout.scratch_bytes > _MOST_SCRATCH_BYTES or not is_possible():
        return None
    count = len(layout.positions)
    table = list(layout.table)
    for position, offset in zip(layout.positions, offsets or (0,) * count, strict=True):
        table[position] = offset
    numbers = (layout.kernel.address, len(layout.table), layout.units, layout.scratch_bytes)
    kept = (ctypes.c_longlong * (_HEAD + count + len(table)))(*numbers, *layout.positions, *table)
    native, address = _native(count, keeps_lock), ctypes.addressof(kept)

    def by_copies(*arrays: Any) -> None:
        copies = [
            array if array.flags.c_contiguous else np.empty(array.shape, array.dtype)
            for array in arrays[num_inputs:]
        ]
        copies[:0] = [np.ascontiguousarray(array) for array in arrays[:num_inputs]]
        native(address, *map(id, copies))
        for array, copy in zip(arrays[num_inputs:], copies[num_inputs:], strict=True):
            if copy is not array:
                array[...] = copy

    def call_one(a: Any, kept: object = kept) -> None:
        if a.flags.c_contiguous:
            native(address, id(a))
        else:
            by_copies(a)

    def call_two(a: Any, b: Any, kept: object = kept) -> None:
        if a.flags.c_contiguous and b.flags.c_contiguous:
            native(address, id(a), id(b))
        else:
            by_copies(a, b)

    def call(*arrays: Any, kept: object = kept) -> None:
        for array in arrays:
            if not array.flags.c_contiguous:
                by_copies(*arrays)
                return
        native(address, *map(id, arrays))

    if count <= _FEW:
        return call_one if count == 1 else call_two
    return call


@cache
def _native(count: int, keeps_lock: bool) -> Callable[..., None]:
    """The function in machine code: the words of a call, and then arrays."""
    signature = (ctypes.PYFUNCTYPE if keeps_lock else ctypes.CFUNCTYPE)(
        None, *[ctypes.c_longlong] * (1 + count)
    )
    native: Callable[..., None] = signature(address_of(call_text(count), _NAME))
    return native


def call_text(count: int) -> str:
    """The text: copy the table, put the arrays' addresses into it, and call the kernel."""
    code = Writer(_NAME, ["i64 %call", *(f"i64 %array{i}" for i in range(count))], 8)
    words = code.pointer("%call")
    kernel, length, units, scratch_bytes = (code.word(words, i) for i in range(_HEAD))
    table = code.value(f"alloca i64, i64 {length}, align 64")
    scratch = code.value(f"alloca i8, i64 {scratch_bytes}, align 64")
    original = code.address(words, str(8 * (_HEAD + count)))

    def copy(number: str, carried: Sequence[str]) -> list[str]:
        word = code.value(f"load i64, ptr {code.value(f'getelementptr i64, ptr {original}, i64 {number}')}")
        code.line(f"store i64 {word}, ptr {code.value(f'getelementptr i64, ptr {table}, i64 {number}')}")
        return []

    code.loop("0", length, 1, [], copy)
    for i in range(count):
        data = code.word(code.pointer(code.add(f"%array{i}", _DATA)))
        position = code.word(words, _HEAD + i)
        place = code.value(f"getelementptr i64, ptr {table}, i64 {position}")
        code.line(f"store i64 {code.add(data, code.word(place))}, ptr {place}")
    function = code.pointer(kernel)
    code.line(f"call void {function}(ptr {table}, i64 0, i64 {units}, ptr {scratch})")
    return code.module()
