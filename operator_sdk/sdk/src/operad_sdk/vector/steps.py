"""Kernels one after another, again and again on other arrays: loops over steps without the interpreter.

The steps of a recurrent layer are short, and each needs the one before. Between two calls of kernels Python
takes as long as a small kernel, and holds the lock that other threads wait for. So the loop itself is machine
code: it puts the addresses of a step's arrays into the tables of the kernels, and calls them. Threads that
compute rows of their own share nothing, and wait for each other only at the end.
"""

from __future__ import annotations

import ctypes
from collections import namedtuple
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import OpContext, ScalarForm
from operad_sdk.vector import bounds
from operad_sdk.vector.addresses import data_address, span
from operad_sdk.vector.compiled import compiled
from operad_sdk.vector.layout import TableLayout
from operad_sdk.vector.machine import address_of, function_at
from operad_sdk.vector.settings import is_checked
from operad_sdk.vector.team import has_team, team
from operad_sdk.vector.tiles import PackedMatrix
from operad_sdk.vector.words import Words
from operad_sdk.vector.writer import KERNEL_PARAMETERS, NAME, Writer

Addresses = NDArray[np.int64]

_Head = namedtuple("_Head", "steps calls moves calls_at places_at addresses_at")
"""The table: how many steps there are, calls and addresses of each, and where they stand."""
_Call = namedtuple("_Call", "kernel table units")
"""The words of a call."""
_WORD_BYTES: Final = 8
_MOST_KEPT: Final = 64
"""Kinds of loops that are kept."""


@final
class StepArray(NamedTuple):
    """An array of every step: they lie alike, each somewhere else.

    Attributes:
        sample: One of them.
        addresses: Of each step's, (steps,).
    """

    sample: NDArray[Any]
    addresses: Addresses

    @classmethod
    def of(cls, arrays: NDArray[Any], order: Addresses) -> Self:
        """`arrays[t]` for each `t` of `order`."""
        return cls(arrays[0], data_address(arrays) + order * arrays.strides[0])

    @classmethod
    def before(cls, first: NDArray[Any], arrays: NDArray[Any], order: Addresses) -> Self:
        """`first`, and then `arrays[t]` for each `t` of `order` but the last: what the step before gave."""
        alike = first
        if first.strides != arrays.strides[1:] or first.dtype != arrays.dtype:
            rows = np.empty((len(first), arrays.strides[1] // arrays.itemsize), arrays.dtype)
            alike = rows[:, : first.shape[1]]
            alike[...] = first
        every = cls.of(arrays, order).addresses
        every[1:] = every[:-1]
        every[:1] = data_address(alike)
        return cls(alike, every)

    @classmethod
    def same(cls, array: NDArray[Any], order: Addresses) -> Self:
        """One array in all steps, which carries something from each to the next, or is read alone."""
        return cls(array, np.full(len(order), data_address(array)))

    def split(self, count: int) -> list[StepArray]:
        """Columns of each, divided equally."""
        width = self.sample.shape[1] // count
        apart = width * self.sample.strides[1]
        return [
            StepArray(self.sample[:, i * width : (i + 1) * width], self.addresses + i * apart)
            for i in range(count)
        ]

    def backwards(self) -> StepArray:
        """The steps from the last."""
        return self._replace(addresses=self.addresses[::-1])


@final
class StepCall(NamedTuple):
    """A kernel that every step calls.

    Attributes:
        layout: Of the arrays.
        arrays: In the layout's order.
    """

    layout: TableLayout
    arrays: Sequence[StepArray]


def form_call(form: ScalarForm, inputs: Sequence[StepArray], results: Sequence[StepArray]) -> StepCall:
    """A call that computes a form. A result may be one of the inputs, if the form reads it before.

    Raises:
        NoVectorCodeError: There is no kernel for such arrays.
    """
    arrays = [*inputs, *results]
    samples = [array.sample for array in arrays]
    layout = compiled(form, samples[-1].dtype).layout(samples)
    for i, given in enumerate(inputs):
        for j, result in enumerate(results):
            assert given is not result or (i, j) in layout.shares, "a result lies where the form still reads"
    return StepCall(layout, arrays)


def product_call(
    left: StepArray,
    matrix: PackedMatrix,
    out: StepArray,
    bias: NDArray[Any] | None = None,
    *,
    adds: bool = False,
) -> StepCall:
    """A call of `PackedMatrix.multiply`."""
    layout = matrix.layout(left.sample, out.sample, bias, adds=adds)
    steps = np.zeros(len(out.addresses), np.int64)
    fixed = [StepArray.same(array, steps) for array in (matrix.memory, bias) if array is not None]
    return StepCall(layout, [left, fixed[0], out, *fixed[1:]])


@final
class StepLoop:
    """The steps of one part, ready to be run.

    Attributes:
        table: Where the table that the loop reads lies.
        scratch_bytes: Scratch memory that it needs.

    Args:
        calls: In the order in which a step makes them, one or more.
    """

    def __init__(self, calls: Sequence[StepCall]) -> None:
        self._kept = calls  # and with them the arrays
        self._tables = [call.layout.copy_table() for call in calls]
        words, places = list[_Call](), list[int]()
        self._tags = list[bounds.Tags]()
        for call, table in zip(calls, self._tables, strict=True):
            begin = self._table_address(call.layout.kernel.name, table)
            words.append(_Call(kernel=call.layout.kernel.address, table=begin, units=call.layout.units))
            places += (begin + _WORD_BYTES * position for position in call.layout.positions)
        every = [array.addresses for call in calls for array in call.arrays]
        if is_checked():
            own = [
                bounds.Tags.of_steps(call.layout.kernel.name, *array)
                for call in calls
                for array in call.arrays
            ]
            every = [np.array(tags.addresses) for tags in own]
            self._tags += own
        addresses = np.stack(every, axis=1)
        self._parts = (np.array(words), np.array(places), addresses)
        calls_at, places_at, addresses_at = map(bounds.words_address, self._parts)
        head = _Head(
            steps=len(addresses), calls=len(calls), moves=len(places),
            calls_at=calls_at, places_at=places_at, addresses_at=addresses_at,
        )  # fmt: skip
        self._table = (ctypes.c_longlong * len(head))(*head)
        self.table: Final = self._table_address("of a loop", self._table)
        self.scratch_bytes: Final = max(call.layout.scratch_bytes for call in calls)
        self._every, self._within = addresses, (addresses, addresses)

    def release(self, arrays: Sequence[NDArray[Any]]) -> bool:
        """Forget the arrays, which are parts of these; False if one is of none, or of several of them.

        Addresses of checked kernels have tags, so that they are of none.
        """
        spans = np.array([span(array) for array in arrays])[:, :, None, None]
        is_within = (spans[:, 0] <= self._every) & (self._every < spans[:, 1])
        if not (is_within.sum(0) == 1).all():
            return False
        which = is_within.argmax(0)
        self._within = which, self._every - np.array([*map(data_address, arrays)])[which]
        self._kept = [call._replace(arrays=()) for call in self._kept]
        return True

    def bind(self, bases: Addresses) -> None:
        """Take other arrays in the place of those that were forgotten, whose addresses these are."""
        which, offsets = self._within
        np.add(bases[which], offsets, out=self._every)

    def _table_address(self, name: str, table: ctypes.Array[ctypes.c_longlong]) -> int:
        if not is_checked():
            return ctypes.addressof(table)
        self._tags.append(bounds.Tags.of_table(name, table))
        return self._tags[-1].addresses[0]


@final
class KeptLoops:
    """Loops that have run, for further runs over arrays that lie alike: only addresses are others.

    Making the calls of a step, and their tables, takes as long as a small network's steps.
    """

    def __init__(self) -> None:
        # invariant: a loop is in no list while it runs, so that threads never share one.
        self._free: dict[Hashable, list[Sequence[StepLoop]]] = {}

    def run(
        self,
        key: Hashable,
        arrays: Sequence[NDArray[Any]],
        make: Callable[[], Sequence[StepLoop]],
        op_ctx: OpContext | None,
    ) -> None:
        """Run loops as `run_steps` does.

        Args:
            key: Determines, with how the arrays lie, all that `make` does.
            arrays: All that the loops use. Where two share memory, the loops are not kept.
            make: Makes the loops.
        """
        key = (key, *[(array.shape, array.strides, array.dtype.char) for array in arrays])
        try:
            loops = self._free[key].pop()
        except (KeyError, IndexError):
            loops = make()
            is_kept = not is_checked() and all(loop.release(arrays) for loop in loops)
        else:
            is_kept, bases = True, np.array([*map(data_address, arrays)])
            for loop in loops:
                loop.bind(bases)
        run_steps(loops, op_ctx)
        if is_kept:
            if len(self._free) > _MOST_KEPT:
                self._free.clear()
            self._free.setdefault(key, []).append(loops)


def run_steps(loops: Sequence[StepLoop], op_ctx: OpContext | None = None) -> None:
    """Run one or more loops, which write no memory that another one uses.

    Args:
        op_ctx: Whose threads run the loops side by side; None: the calling thread runs all.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    address = _loop_address()
    threads = 1 if op_ctx is None else min(op_ctx.num_threads, len(loops))
    scratch = np.empty((threads, max(loop.scratch_bytes for loop in loops) + 63 & -64), np.uint8)
    if has_team():
        team.divide(address, [loop.table for loop in loops], len(loops), scratch)
        return
    call = function_at(address)
    tags = bounds.Tags.of_scratch("of a loop", scratch) if is_checked() else None
    rows = list(map(data_address, scratch)) if tags is None else tags.addresses

    def run(number: int, worker: int) -> None:
        call(loops[number].table, 0, 0, rows[worker])

    if op_ctx is None:
        for number in range(len(loops)):
            run(number, 0)
    else:
        op_ctx.parallel(run, len(loops), threads)
    if is_checked():
        bounds.expect_in_bounds()


@cache
def _loop_address() -> int:
    return address_of(_loop_text(), NAME)


def _loop_text() -> str:
    """A kernel without units: it makes all steps of its table."""
    code = Writer(NAME, KERNEL_PARAMETERS, 8)
    words = code.record(_Head)
    calls, places, begin = map(code.pointer, (words.calls_at, words.places_at, words.addresses_at))

    def move(number: str, values: list[str]) -> list[str]:
        at = code.multiply(number, _WORD_BYTES)
        place = code.pointer(code.word(code.address(places, at)))
        code.store_word(code.word(code.address(values[0], at)), place)
        return values

    def call(number: str, _: list[str]) -> list[str]:
        at = code.address(calls, code.multiply(number, _WORD_BYTES * len(_Call._fields)))
        own = Words(code, _Call._fields, at)
        own.call_kernel(own.pointer("table"), "0", own("units"))
        return []

    def step(_: str, values: list[str]) -> list[str]:
        code.loop("0", words.moves, 1, [("ptr", values[0])], move)
        code.loop("0", words.calls, 1, [], call)
        return [code.address(values[0], code.multiply(words.moves, _WORD_BYTES))]

    code.loop("0", words.steps, 1, [("ptr", begin)], step)
    return code.module()
