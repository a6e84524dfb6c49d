"""Kernels one after another, again and again on other arrays: loops over steps without the interpreter.

The steps of a recurrent layer are short, and each needs the one before. Between two calls of kernels Python
takes as long as a small kernel, and holds the lock that other threads wait for. So the loop itself is machine
code: it puts the addresses of a step's arrays into the tables of the kernels, and calls them. Threads that
compute rows of their own share nothing, and wait for each other only at the end.
"""

from __future__ import annotations

import ctypes
from collections import namedtuple
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import OpContext, ScalarForm
from operad_sdk.addresses import data_address
from operad_sdk.vector import bounds
from operad_sdk.vector.compiled import compiled
from operad_sdk.vector.layout import Kernel, TableLayout
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
_ONCE: Final = np.zeros(1, np.int64)


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

    @classmethod
    def single(cls, array: NDArray[Any]) -> Self:
        """One array of a loop of one step."""
        return cls.same(array, _ONCE)

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


def single_call(layout: TableLayout, *arrays: NDArray[Any]) -> StepCall:
    """A call of a loop of one step."""
    return StepCall(layout, [*map(StepArray.single, arrays)])


@final
class StepLoop:
    """The steps of one part, ready to be run.

    Attributes:
        table: Where the table that the loop reads lies.
        scratch_bytes: Scratch memory that it needs.
        addresses: (steps, arrays of all calls), with tags where kernels are checked.

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
        self.addresses = np.stack(every, axis=1)
        self._parts = (np.array(words), np.array(places))
        calls_at, places_at, addresses_at = map(bounds.words_address, (*self._parts, self.addresses))
        head = _Head(
            steps=len(self.addresses), calls=len(calls), moves=len(places),
            calls_at=calls_at, places_at=places_at, addresses_at=addresses_at,
        )  # fmt: skip
        self._table = (ctypes.c_longlong * len(head))(*head)
        self.table: Final = self._table_address("of a loop", self._table)
        self.scratch_bytes: Final = max(call.layout.scratch_bytes for call in calls)

    def release(self) -> None:
        """Forget the arrays; then the loop runs on what `addresses` say."""
        self._kept = [call._replace(arrays=()) for call in self._kept]

    def move(self, addresses: Addresses) -> None:
        """Read addresses from other memory, which has as many."""
        self.addresses = addresses
        self._table[_Head._fields.index("addresses_at")] = bounds.words_address(addresses)

    def _table_address(self, name: str, table: ctypes.Array[ctypes.c_longlong]) -> int:
        if not is_checked():
            return ctypes.addressof(table)
        self._tags.append(bounds.Tags.of_table(name, table))
        return self._tags[-1].addresses[0]


@final
class LoopPhases(NamedTuple):
    """Loops in an order: those of a phase may run side by side, after all of the phase before.

    Attributes:
        phases: The loops of each.
        memory: Arrays of the loops' own, which no array of a run shares memory with.
    """

    phases: Sequence[Sequence[StepLoop]]
    memory: Sequence[NDArray[Any]] = ()


def run_steps(loops: Sequence[StepLoop], op_ctx: OpContext | None = None) -> None:
    """Run one or more loops, which write no memory that another one uses.

    Args:
        op_ctx: Whose threads run the loops side by side; None: the calling thread runs all.

    Raises:
        NoVectorCodeError: There is no vector code in this process.
    """
    threads = 1 if op_ctx is None or len(loops) == 1 else min(op_ctx.num_threads, len(loops))
    scratch = np.empty((threads, max(loop.scratch_bytes for loop in loops) + 63 & -64), np.uint8)
    if threads > 1 and has_team():
        team.divide(_loop().address, [loop.table for loop in loops], len(loops), scratch)
        return
    call = _loop().call
    tags = bounds.Tags.of_scratch("of a loop", scratch) if is_checked() else None
    rows = list(map(data_address, scratch)) if tags is None else tags.addresses

    def run(number: int, worker: int) -> None:
        call(loops[number].table, 0, 0, rows[worker])

    if threads == 1 or op_ctx is None:
        for number in range(len(loops)):
            run(number, 0)
    else:
        op_ctx.parallel(run, len(loops), threads)
    if is_checked():
        bounds.expect_in_bounds()


@cache
def _loop() -> Kernel:
    return Kernel(_loop_text(), "of a loop")


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
