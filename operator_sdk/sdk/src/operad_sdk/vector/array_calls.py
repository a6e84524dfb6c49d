"""Calls of kernels with arrays, whole and in one thread: machine code finds out where they lie.

Asking NumPy for the address of an array takes longer than a kernel on a thousand elements. So a call hands
over the arrays themselves, as Python's `id` names them, and a few instructions read the addresses out of
them (`operad_sdk.addresses`).

A call keeps the interpreter's lock, which small arrays are not worth giving back, unless it is told not to.
Scratch memory lies on the stack where it is little, else in memory that the thread keeps for such calls.

Checked kernels are not called so, since their arrays have tags. Why nothing lies outside here: `_kept`
writes the words, and with them their own number; the table on the stack has as many words as are copied, and
a position that it has not is an `IndexError` where the words are written.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad_sdk.addresses import DATA, data_address, is_possible
from operad_sdk.vector.layout import BoundKernel, TableLayout
from operad_sdk.vector.machine import address_of
from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.writer import Writer

_NAME: Final = "call_with_arrays"
_MOST_SCRATCH_BYTES: Final = 1 << 14
"""Scratch memory that a call may have on its stack."""
_HEAD: Final = 4
"""Words before the positions: the kernel, the table's length, the units, the bytes of scratch memory."""

ArrayCall = Callable[..., None]


@final
class _ThreadMemory(threading.local):
    """Scratch memory of each thread."""

    memory: NDArray[Any] = np.empty(0, np.uint8)

    def of(self, size_bytes: int) -> NDArray[Any]:
        """At least so many bytes, which no other thread has."""
        if len(self.memory) < size_bytes:
            self.memory = np.empty(size_bytes, np.uint8)
        return self.memory


_thread_memory: Final = _ThreadMemory()


def thread_memory(size_bytes: int) -> NDArray[Any]:
    """Scratch memory that the calling thread keeps, until it wants more; what is in it is undefined."""
    return _thread_memory.of(size_bytes)


def _is_possible() -> bool:
    """Return whether machine code may find the arrays: checked kernels need tags in their addresses."""
    return is_possible() and not is_checked()


def array_call(
    layout: TableLayout,
    num_inputs: int,
    *,
    sources: Sequence[int] = (),
    offsets: Sequence[int] = (),
    keeps_lock: bool = True,
) -> ArrayCall:
    """A function of the arrays that the layout was made for, which are contiguous.

    It does not look at shapes and types, and neither whether arrays share memory. Arrays that are not
    contiguous are copied; nothing is ever compiled in a call, for it may hold the engine's lock.

    Args:
        num_inputs: How many of the arrays are read alone.
        sources: For each of the layout's arrays which of the function's it is; none: the one of its number.
        offsets: Bytes from the beginning of each array to where the layout's begins; none: 0.
        keeps_lock: Whether the interpreter's lock is kept meanwhile.
    """
    count, size_bytes = len(layout.positions), layout.scratch_bytes
    sources, offsets = tuple(sources or range(count)), offsets or (0,) * count
    compute = strided_call(layout, sources=sources, offsets=offsets, keeps_lock=keeps_lock)

    def by_copies(*arrays: Any) -> None:
        copies = [array if array.flags.c_contiguous else np.ascontiguousarray(array) for array in arrays]
        compute(*copies)
        for array, copy in zip(arrays[num_inputs:], copies[num_inputs:], strict=True):
            if copy is not array:
                array[...] = copy

    if not _is_possible():
        return by_copies
    kept, on_stack = _kept(layout, offsets), size_bytes <= _MOST_SCRATCH_BYTES
    native, address = _native(sources, keeps_lock, on_stack), ctypes.addressof(kept)
    # As text, since a loop over few arrays takes as long as the call. The words live as long as the function.
    names = [f"a{i}" for i in range(max(sources) + 1)]
    handed = [*names, *([] if on_stack else [f"memory({size_bytes})"])]
    text = f"""def call({", ".join(names)}, kept=kept):
    if {" and ".join(f"{name}.flags.c_contiguous" for name in names)}:
        native(address, {", ".join(f"id({name})" for name in handed)})
    else:
        by_copies({", ".join(names)})"""
    call: ArrayCall = _defined(
        text, "call", kept=kept, native=native, address=address, by_copies=by_copies, memory=_thread_memory.of
    )
    return call


def strided_call(
    layout: TableLayout,
    *,
    sources: Sequence[int] = (),
    offsets: Sequence[int] = (),
    keeps_lock: bool = True,
) -> ArrayCall:
    """A function of arrays that lie as those that the layout was made for; it does not look whether they do.

    Args:
        sources: For each of the layout's arrays which of the function's it is; none: the one of its number.
        offsets: Bytes from the beginning of that to where the layout's begins; none: 0.
        keeps_lock: Whether the interpreter's lock is kept meanwhile.
    """
    count = len(layout.positions)
    sources, offsets = tuple(sources or range(count)), offsets or (0,) * count
    if not _is_possible():
        return lambda *arrays: bound_to(layout, arrays, sources, offsets).run()
    kept, size_bytes = _kept(layout, offsets), layout.scratch_bytes
    on_stack = not size_bytes
    native, address = _native(sources, keeps_lock, on_stack), ctypes.addressof(kept)

    def call_alone(*arrays: Any, kept: object = kept) -> None:
        native(address, *map(id, arrays))

    def call(*arrays: Any, kept: object = kept) -> None:
        native(address, *map(id, arrays), id(_thread_memory.of(size_bytes)))

    return call_alone if on_stack else call


def counted_call(layout: TableLayout, is_array: tuple[bool, ...]) -> Callable[..., Callable[[], None]]:
    """A function that binds a number of columns, and contiguous arrays of as many elements, to a call.

    It does not look at them. The layout is that of a kernel without rows and scratch memory; the
    interpreter's lock is given back meanwhile.

    Args:
        is_array: Whether what is bound is an array, or a number of NumPy's.
    """
    if not _is_possible():

        def bind_slowly(count: int, *given: Any) -> Callable[[], None]:
            return BoundKernel(layout.of_columns(count), [np.asarray(each) for each in given]).run

        return bind_slowly
    kept, names = _kept(layout, ()), [f"a{i}" for i in range(len(is_array))]
    native = _native(tuple(range(len(names))), keeps_lock=False, is_array=is_array)
    # As text, since a loop over few arrays takes as long as the call. What is bound, and the words, live as
    # long as the function.
    text = f"""def bind(count, {", ".join(names)}):
    return lambda kept=kept: native(address, {", ".join(f"id({name})" for name in names)}, count)"""
    bind: Callable[..., Callable[[], None]]
    bind = _defined(text, "bind", kept=kept, native=native, address=ctypes.addressof(kept))
    return bind


def _defined(text: str, name: str, **known: Any) -> Any:
    exec(text, known)  # noqa: S102 - our own text
    return known[name]


def bound_to(
    layout: TableLayout, arrays: Sequence[NDArray[Any]], sources: Sequence[int], offsets: Sequence[int]
) -> BoundKernel:
    """The kernel with arrays of which the layout's are parts; arguments as those of `strided_call`."""
    if not any(offsets) and tuple(sources) == tuple(range(len(arrays))):
        return BoundKernel(layout, arrays)  # each checked within its own bounds
    begins = [data_address(array) for array in arrays]
    addresses = [begins[source] + offset for source, offset in zip(sources, offsets, strict=True)]
    return BoundKernel(layout, arrays, addresses)


def _kept(layout: TableLayout, offsets: Sequence[int]) -> Any:
    """The words of a call, which its function keeps."""
    count, table = len(layout.positions), list(layout.table)
    for position, offset in zip(layout.positions, offsets or (0,) * count, strict=True):
        table[position] = offset
    numbers = (layout.kernel.address, len(table), layout.units, layout.scratch_bytes)
    return (ctypes.c_longlong * (_HEAD + count + len(table)))(*numbers, *layout.positions, *table)


@cache
def _native(
    sources: tuple[int, ...], keeps_lock: bool, on_stack: bool = True, is_array: tuple[bool, ...] = ()
) -> Callable[..., None]:
    """The function in machine code: the words of a call, and then arrays."""
    # Pointers: `ctypes` takes half the time to convert a number to one that it takes for `c_longlong`.
    signature = (ctypes.PYFUNCTYPE if keeps_lock else ctypes.CFUNCTYPE)(
        None, *[ctypes.c_void_p] * (2 + max(sources) + (not on_stack) + bool(is_array))
    )
    native: Callable[..., None] = signature(address_of(call_text(sources, on_stack, is_array), _NAME))
    return native


def call_text(sources: Sequence[int], on_stack: bool = True, is_array: Sequence[bool] = ()) -> str:
    """The text: copy the table, put the arrays' addresses into it, and call the kernel.

    Scratch memory is on the stack, or in one more array.

    Args:
        is_array: Given for a call whose last argument is the number of columns: for each source whether it is
            an array, or a number of NumPy's, which stands where an array has its address.
    """
    arrays = [f"i64 %array{i}" for i in range(max(sources) + 1)]
    given = ["i64 %call", *arrays, *([] if on_stack else ["i64 %memory"]), *["i64 %count"] * bool(is_array)]
    code = Writer(_NAME, given, 8)
    words = code.pointer("%call")
    kernel, length, units, scratch_bytes = (code.word(words, i) for i in range(_HEAD))
    table = code.value(f"alloca i64, i64 {length}, align 64")
    if on_stack:
        scratch = code.value(f"alloca i8, i64 {scratch_bytes}, align 64")
    else:
        scratch = code.pointer(code.word(code.pointer(code.add("%memory", DATA))))
    original = code.address(words, str(8 * (_HEAD + len(sources))))

    def copy(number: str, carried: Sequence[str]) -> list[str]:
        word = code.value(f"load i64, ptr {code.value(f'getelementptr i64, ptr {original}, i64 {number}')}")
        code.line(f"store i64 {word}, ptr {code.value(f'getelementptr i64, ptr {table}, i64 {number}')}")
        return []

    code.loop("0", length, 1, [], copy)
    for i, source in enumerate(sources):
        data = code.add(f"%array{source}", DATA)
        if not is_array or is_array[source]:
            data = code.word(code.pointer(data))
        position = code.word(words, _HEAD + i)
        place = code.value(f"getelementptr i64, ptr {table}, i64 {position}")
        code.line(f"store i64 {code.add(data, code.word(place))}, ptr {place}")
    if is_array:
        units = "%count"
        code.line(f"store i64 {units}, ptr {table}")  # the first word is the number of columns
    function = code.pointer(kernel)
    code.line(f"call void {function}(ptr {table}, i64 0, i64 {units}, ptr {scratch})")
    return code.module()
