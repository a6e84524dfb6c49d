"""Calls before the steps of a layer in vector code and behind them, and memory of these calls' own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple, final

import numpy as np

from operad.operator import ScalarForm
from operad_rnn.arrays import flat
from operad_sdk import Array, DType, Shape
from operad_sdk.differentiate import elements_form
from operad_sdk.vector import (
    PackedMatrix,
    StepArray,
    StepCall,
    StepLoop,
    form_call,
    product_layout,
    single_call,
)

_TOGETHER: Final = 32
"""Rows or columns of a product in whose multiples threads divide it, from `_DIVIDED` multiplications on."""
_DIVIDED: Final = 1 << 20


@final
class Setup:
    """Calls before the steps of a layer, of which none needs another's result, and memory of the calls' own.

    Args:
        threads: How many there are for a large product.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._calls: list[StepCall] = []
        self._loops: list[StepLoop] = []
        self.memory: Final[list[Array]] = []

    def empty(self, shape: Shape, dtype: DType) -> Array:
        """Memory of the calls' own."""
        self.memory.append(np.empty(shape, dtype))
        return self.memory[-1]

    def pack(self, matrix: Array) -> PackedMatrix:
        """A matrix for the products of steps."""
        made = PackedMatrix.empty(matrix.shape, matrix.dtype)
        self.memory.append(made.memory)
        self._calls.append(single_call(made.packing(matrix), matrix, made.memory))
        return made

    def product(self, inputs: Array, matrix: Array, out: Array, *biases: Array) -> None:
        """Write the product of all inputs, (steps, batch, features), with `matrix.T`, and add the biases."""
        bias = biases[0] if len(biases) == 1 else self.empty(biases[0].shape, matrix.dtype)
        left = flat(inputs)
        for some in self._divided(len(matrix), len(left) * matrix.size):
            arrays = left, matrix[some].T, flat(out[..., some]), bias[some]
            call = single_call(product_layout(*arrays), *arrays)
            own = [StepArray.single(each[None, some]) for each in (*biases, bias)[: 3 * (len(biases) > 1)]]
            calls = [*([form_call(forms().add, own[:2], own[2:])] if own else []), call]
            self._add(calls)

    def sum_of_products(self, factors: Sequence[tuple[Array, Array]], out: Array) -> None:
        """Write the sum of products of two matrices each, added one after another."""
        for some in self._divided(len(out), sum(len(out) * right.size for _, right in factors)):
            calls: list[StepCall] = []
            for left, right in factors:
                arrays = left[some], right, out[some]
                calls.append(single_call(product_layout(*arrays, adds=bool(calls)), *arrays))
            self._add(calls)

    def totals(self, rows: Array, *outs: Array) -> None:
        """Write the sum of all rows, of a matrix, to one vector or several."""
        first, *others = [StepArray.single(out[None]) for out in outs]
        column = StepArray.single(outs[0][:, None])
        copies = [form_call(forms().copy, [first], [other]) for other in others]
        self._add([form_call(forms().total, [StepArray.single(rows.T)], [column]), *copies])

    def _add(self, calls: Sequence[StepCall]) -> None:
        if self._threads == 1:
            self._calls += calls
        else:
            self._loops.append(StepLoop(calls))

    def _divided(self, length: int, products: int) -> list[slice]:
        """Rows or columns of a product for each loop: as many as there are threads, if it is large."""
        parts = self._threads if products >= _DIVIDED else 1
        step = -(-length // (_TOGETHER * parts)) * _TOGETHER
        return [slice(begin, begin + step) for begin in range(0, length, step)]

    def alike(self, first: Array, arrays: Array) -> Array:
        """A state before the first step, with the strides of those behind each, `arrays[t]`."""
        strides = arrays.strides[1:]
        if first.strides == strides:
            return first
        # An axis of length 1 may have any stride, and no element lies behind it.
        last = sum((length - 1) * stride for length, stride in zip(first.shape, strides, strict=True))
        memory = self.empty((last // arrays.itemsize + 1,), arrays.dtype)
        made = np.lib.stride_tricks.as_strided(memory, first.shape, strides)
        self._calls.append(form_call(forms().copy, [StepArray.single(first)], [StepArray.single(made)]))
        return made

    def kept(self, runs: Array, states: Array, first: Array) -> Array:
        """(steps, batch, units): the states where rows run, else `first`."""
        made, order = self.empty(states.shape, states.dtype), np.arange(len(states))
        given = [StepArray.of(runs, order), StepArray.of(states, order), StepArray.same(first, order)]
        self._loops.append(StepLoop([form_call(forms().keep, given, [StepArray.of(made, order)])]))
        return made

    def loops(self) -> list[StepLoop]:
        """The calls of all cells so far."""
        return [*([StepLoop(self._calls)] if self._calls else []), *self._loops]


@final
class Forms(NamedTuple):
    """Forms of cells of every kind.

    Attributes:
        keep: For rows that end early, what runs, else what was there; `only`: what runs, else 0.
        copy: A copy.
        add: The sum of two arrays.
        total: The sum of a row, by the rule of sums.
    """

    keep: ScalarForm
    only: ScalarForm
    copy: ScalarForm
    add: ScalarForm
    total: ScalarForm


@cache
def forms() -> Forms:
    """The forms, made once."""

    def keep(runs: Any, new: Any, old: Any) -> tuple[Any]:
        return (np.where(runs, new, old),)

    def only(runs: Any, new: Any) -> tuple[Any]:
        return (np.where(runs, new, 0),)

    def copy(array: Any) -> tuple[Any]:
        return (array * 1,)

    def add(one: Any, other: Any) -> tuple[Any]:
        return (one + other,)

    def total(array: Any) -> tuple[Any]:
        return (array.sum(axis=-1, keepdims=True),)

    return Forms(
        elements_form(keep, runs="bool"),
        elements_form(only, runs="bool"),
        elements_form(copy),
        elements_form(add),
        elements_form(total),
    )
