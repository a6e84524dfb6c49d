"""A kernel, the table that it reads, and its call with arrays: kernels of forms and those by hand."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from operad.first_use import cached_property
from operad_sdk.addresses import data_address
from operad_sdk.vector import bounds
from operad_sdk.vector.machine import address_of, function_at
from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.writer import NAME


@final
class Kernel:
    """A kernel in this process.

    Attributes:
        text: The module that has it.
        name: What messages call it.
        address: Where it begins.
        call: `call(table, first, last, scratch)`, without the interpreter's lock; all are numbers.
    """

    def __init__(self, text: str, name: str = "without a name") -> None:
        self.text: Final = text
        self.name: Final = name
        self.address: Final = address_of(text, NAME)
        self.call: Final = function_at(self.address)


@final
@dataclass(frozen=True)
class TableLayout:
    """Positions of the arrays' elements in memory, without the addresses.

    Attributes:
        kernel: The kernel for arrays that lie so.
        units: Number of rows, or of columns if the kernel divides columns.
        table: Contents of the kernel's table; addresses are 0.
        positions: Position of each array's address in the table.
        scratch_bytes: Scratch memory of each call.
        shares: The pairs of an input and a result that may lie at one address, of kernels of forms.
    """

    kernel: Kernel
    units: int
    table: tuple[int, ...]
    positions: tuple[int, ...]
    scratch_bytes: int = 0
    shares: frozenset[tuple[int, int]] = frozenset()

    @staticmethod
    def of(
        kernel: Kernel, units: int, table: Any, arrays: Sequence[str], scratch_bytes: int = 0
    ) -> TableLayout:
        """The layout of a table that is a named tuple; `arrays` are the fields for their addresses."""
        return TableLayout(kernel, units, table, tuple(map(table._fields.index, arrays)), scratch_bytes)

    def of_columns(self, count: int) -> TableLayout:
        """The layout of a kernel without rows, for so many columns."""
        return replace(self, units=count, table=(count, *self.table[1:]))

    @cached_property
    def copy_table(self) -> Callable[[], ctypes.Array[ctypes.c_longlong]]:
        """The function that gives a new table, faster than number by number."""
        words = (ctypes.c_longlong * len(self.table))(*self.table)
        return partial(type(words).from_buffer_copy, bytes(words))


@final
class BoundKernel:
    """A kernel with its arrays.

    Args:
        layout: Of the arrays.
        arrays: Those of the layout, or, with addresses, what has their memory.
        addresses: Where the layout's arrays begin; None: where the arrays do.

    Attributes:
        units: How many rows, or columns, calls may divide.
        scratch_bytes: Scratch memory of each call.
        address: Where the kernel begins.
        table: Address of the table that it reads.
    """

    __slots__ = ("_arrays", "_call", "_name", "_table", "_tags", "address", "scratch_bytes", "table", "units")

    def __init__(
        self,
        layout: TableLayout,
        arrays: Sequence[NDArray[Any]],
        addresses: Sequence[int] | None = None,
    ) -> None:
        table = layout.copy_table()
        self._name = layout.kernel.name
        self.address, self.table = layout.kernel.address, ctypes.addressof(table)
        if is_checked():
            own = bounds.Tags.of_table(self._name, table)
            self._tags = bounds.Tags.of_arrays(self._name, arrays, addresses), own
            addresses, self.table = self._tags[0].addresses, own.addresses[0]
        elif addresses is None:
            addresses = [data_address(array) for array in arrays]
        for entry, address in zip(layout.positions, addresses, strict=True):
            table[entry] = address
        self._table = table
        self._arrays = arrays
        self._call = layout.kernel.call
        self.units = layout.units
        self.scratch_bytes = layout.scratch_bytes

    def release(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Hold nothing of these arrays any more, nor views of them: the caller does."""
        ids = {*map(id, arrays)}
        held = [one for one in self._arrays if id(one) not in ids]
        self._arrays = [one for one in held if not any(np.may_share_memory(one, each) for each in arrays)]

    def run(self, first: int = 0, last: int | None = None, scratch: NDArray[Any] | None = None) -> None:
        """Compute the rows, or columns, from `first` to `last`.

        Args:
            scratch: `scratch_bytes` of memory that no other thread uses meanwhile; None: new.
        """
        if scratch is None:
            scratch = np.empty(self.scratch_bytes, np.uint8)
        last = self.units if last is None else last
        if is_checked():
            rows = scratch.reshape(1, -1).view(np.uint8)
            tags = bounds.Tags.of_scratch(self._name, rows)
            self._call(self.table, first, last, tags.addresses[0])
            bounds.expect_in_bounds()
        else:
            self._call(self.table, first, last, data_address(scratch))
