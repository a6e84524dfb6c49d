"""Calls of kernels with arrays, whole and in one thread: machine code finds out where they lie.

Asking NumPy for the address of an array takes longer than a kernel on a thousand elements. So a call hands
over the arrays themselves, as Python's `id` names them, and a few instructions read the addresses out of
them (`operad_sdk.addresses`). One call runs one kernel, or several after another, with memory between them.

A call keeps the interpreter's lock, which small arrays are not worth giving back, unless it is told not to.
Memory between kernels and scratch memory lie on the stack where they are little, else in memory that the
thread keeps for such calls.

Checked kernels are not called so, since their arrays have tags. Why nothing lies outside here: `_kept`
writes the words, and with them their own number; the table on the stack has as many words as the longest
that is copied, and a position that a table has not is an `IndexError` where the words are written, as is a
source that is none of the arrays.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad_sdk.addresses import DATA, data_address, is_possible
from operad_sdk.vector.layout import BoundKernel, TableLayout
from operad_sdk.vector.machine import address_of
from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.writer import Writer

_NAME: Final = "call_with_arrays"
MOST_STACK_BYTES: Final = 1 << 14
"""Memory that a call may have on its stack."""
_HEAD: Final = 4
"""Words before the first kernel's: the number of kernels, the length of the longest table, the bytes of all
memory, and those of the memory between kernels, behind which scratch memory begins."""
_HEAD_OF_PART: Final = 4
"""Words before a kernel's table: its address, the table's length, the units, how many arrays; then for each
of these its position in the table and its source."""

ArrayCall = Callable[..., None]


class CallPart(NamedTuple):
    """A kernel of a call.

    Attributes:
        layout: Of its arrays.
        sources: For each of them which of the call's it is a part of. The number behind their last one is the
            memory between kernels.
        offsets: Bytes from the beginning of that to its own.
    """

    layout: TableLayout
    sources: Sequence[int]
    offsets: Sequence[int]

    @staticmethod
    def of(layout: TableLayout, sources: Sequence[int], offsets: Sequence[int]) -> CallPart:
        """The same; without sources each array is that of its number, and without offsets all of it."""
        count = len(layout.positions)
        return CallPart(layout, tuple(sources or range(count)), tuple(offsets or (0,) * count))


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
    part = CallPart.of(layout, sources, offsets)
    return chained_call([part], max(part.sources) + 1, num_inputs, keeps_lock=keeps_lock)


def chained_call(
    parts: Sequence[CallPart],
    num_arrays: int,
    num_inputs: int,
    *,
    constants: Sequence[NDArray[Any]] = (),
    memory_bytes: int = 0,
    keeps_lock: bool = True,
) -> ArrayCall:
    """As `array_call`, a function that runs several kernels one after another.

    Args:
        num_arrays: How many arrays it takes.
        constants: Arrays that stand behind these, for the sources of parts.
        memory_bytes: Of the memory between kernels.
    """

    def by_copies(*arrays: Any) -> None:
        copies = [array if array.flags.c_contiguous else np.ascontiguousarray(array) for array in arrays]
        compute(*copies, *constants)
        for array, copy in zip(arrays[num_inputs:], copies[num_inputs:], strict=True):
            if copy is not array:
                array[...] = copy

    compute: ArrayCall
    if not _is_possible():
        compute = partial(_run_one_by_one, parts, memory_bytes)
        return by_copies
    count, size_bytes = num_arrays + len(constants), _memory_bytes(parts, memory_bytes)
    kept, on_stack = _kept(parts, count, memory_bytes), size_bytes <= MOST_STACK_BYTES
    native, address = _native(count, keeps_lock, on_stack), ctypes.addressof(kept)

    def compute_copies(*arrays: Any) -> None:
        native(address, *map(id, arrays), *([] if on_stack else [id(_thread_memory.of(size_bytes))]))

    compute = compute_copies
    # As text, since a loop over few arrays takes as long as the call. The words, and the constants, live as
    # long as the function.
    names = [f"a{i}" for i in range(num_arrays)]
    ids = [f"id({name})" for name in names] + [str(id(one)) for one in constants]
    ids += [] if on_stack else [f"id(memory({size_bytes}))"]
    text = f"""def call({", ".join(names)}, kept=kept):
    if {" and ".join(f"{name}.flags.c_contiguous" for name in names)}:
        native(address, {", ".join(ids)})
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
    part = CallPart.of(layout, sources, offsets)
    if not _is_possible():
        return lambda *arrays: bound_to(layout, arrays, part.sources, part.offsets).run()
    count, size_bytes = max(part.sources) + 1, layout.scratch_bytes
    kept, on_stack = _kept([part], count), not size_bytes
    native, address = _native(count, keeps_lock, on_stack), ctypes.addressof(kept)

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
    names = [f"a{i}" for i in range(len(is_array))]
    kept = _kept([CallPart.of(layout, (), ())], len(names))
    native = _native(len(names), keeps_lock=False, is_array=is_array)
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


def _run_one_by_one(parts: Sequence[CallPart], memory_bytes: int, *arrays: Any) -> None:
    every = [*arrays, np.empty(memory_bytes, np.uint8)]
    for part in parts:
        bound_to(part.layout, every, part.sources, part.offsets).run()


def _memory_bytes(parts: Sequence[CallPart], memory_bytes: int) -> int:
    """All memory of a call: that between kernels, and behind it the scratch memory of each."""
    return memory_bytes + max(part.layout.scratch_bytes for part in parts)


def _kept(parts: Sequence[CallPart], num_arrays: int, memory_bytes: int = 0) -> Any:
    """The words of a call, which its function keeps."""
    numbers = range(num_arrays + 1)
    longest = max(len(part.layout.table) for part in parts)
    words = [len(parts), longest, _memory_bytes(parts, memory_bytes), memory_bytes]
    for layout, sources, offsets in parts:
        table = list(layout.table)
        for position, offset in zip(layout.positions, offsets, strict=True):
            table[position] = offset
        words += [layout.kernel.address, len(table), layout.units, len(layout.positions)]
        for position, source in zip(layout.positions, sources, strict=True):
            words += [position, numbers[source]]
        words += table
    return (ctypes.c_longlong * len(words))(*words)


@cache
def _native(
    num_arrays: int, keeps_lock: bool, on_stack: bool = True, is_array: tuple[bool, ...] = ()
) -> Callable[..., None]:
    """The function in machine code: the words of a call, and then arrays."""
    # Pointers: `ctypes` takes half the time to convert a number to one that it takes for `c_longlong`.
    signature = (ctypes.PYFUNCTYPE if keeps_lock else ctypes.CFUNCTYPE)(
        None, *[ctypes.c_void_p] * (1 + num_arrays + (not on_stack) + bool(is_array))
    )
    native: Callable[..., None] = signature(address_of(call_text(num_arrays, on_stack, is_array), _NAME))
    return native


def call_text(num_arrays: int, on_stack: bool = True, is_array: Sequence[bool] = ()) -> str:
    """The text: for each kernel copy the table, put the arrays' addresses into it, and call the kernel.

    Memory is on the stack, or in one more array.

    Args:
        is_array: Given for a call whose last argument is the number of columns: for each source whether it is
            an array, or a number of NumPy's, which stands where an array has its address.
    """
    arrays = [f"i64 %array{i}" for i in range(num_arrays)]
    given = ["i64 %call", *arrays, *([] if on_stack else ["i64 %memory"]), *["i64 %count"] * bool(is_array)]
    code = Writer(_NAME, given, 8)

    def at(words: str, number: str) -> str:
        return code.value(f"getelementptr i64, ptr {words}, i64 {number}")

    words = code.pointer("%call")
    num_parts, longest, size_bytes, between_bytes = (code.word(words, i) for i in range(_HEAD))
    begins = code.value(f"alloca i64, i64 {num_arrays + 1}, align 64")
    table = code.value(f"alloca i64, i64 {longest}, align 64")
    for i in range(num_arrays):
        data = code.add(f"%array{i}", DATA)
        if not is_array or is_array[i]:
            data = code.word(code.pointer(data))
        code.store_word(data, at(begins, str(i)))
    if on_stack:
        memory = code.value(f"alloca i8, i64 {size_bytes}, align 64")
    else:
        memory = code.pointer(code.word(code.pointer(code.add("%memory", DATA))))
    code.store_word(code.value(f"ptrtoint ptr {memory} to i64"), at(begins, str(num_arrays)))
    scratch = code.address(memory, between_bytes)

    def run(_: str, carried: Sequence[str]) -> list[str]:
        (part,) = carried
        kernel, length, units, count = (code.word(part, i) for i in range(_HEAD_OF_PART))
        arrays_of_part = at(part, str(_HEAD_OF_PART))
        original = at(arrays_of_part, code.multiply(count, 2))

        def copy(number: str, _: Sequence[str]) -> list[str]:
            code.store_word(code.word(at(original, number)), at(table, number))
            return []

        def place(number: str, _: Sequence[str]) -> list[str]:
            pair = at(arrays_of_part, code.multiply(number, 2))
            begin = code.word(at(begins, code.word(pair, 1)))
            own = at(table, code.word(pair))
            code.store_word(code.add(begin, code.word(own)), own)
            return []

        code.loop("0", length, 1, [], copy)
        code.loop("0", count, 1, [], place)
        if is_array:
            units = "%count"
            code.store_word(units, table)  # the first word is the number of columns
        code.line(f"call void {code.pointer(kernel)}(ptr {table}, i64 0, i64 {units}, ptr {scratch})")
        return [at(original, length)]

    code.loop("0", num_parts, 1, [("ptr", at(words, str(_HEAD)))], run)
    return code.module()
