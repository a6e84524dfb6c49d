"""Scalar forms as machine code: the kernel that arrays need, the arrays' layout, and the kernel's call.

Arrays of any strides become rows of columns: axes that one step through memory joins are one, those of
length 1 are none. What is left but the last are outer axes, or, of axes that are reduced, axes of runs.
Where rows are neighbours and columns are not, vectors are of rows. Kernels are made once for each pattern;
strides and lengths are numbers in a table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad.dtypes import DType
from operad.operator import ScalarForm, Shape
from operad_sdk.mapper.expansions import expanded
from operad_sdk.vector.accesses import Pattern
from operad_sdk.vector.array_calls import ArrayCall, strided_call
from operad_sdk.vector.axes import Axes, Lying, collapsed, lying, own_axes, strides_over
from operad_sdk.vector.bounds import words_address
from operad_sdk.vector.counted import positions, with_positions
from operad_sdk.vector.exact_products import with_exact_products_fused
from operad_sdk.vector.functions import functions_of
from operad_sdk.vector.half import widened
from operad_sdk.vector.kernel_text import KernelText
from operad_sdk.vector.layout import BoundKernel, Kernel, TableLayout
from operad_sdk.vector.machine import host
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.stages import REDUCTIONS
from operad_sdk.vector.writer import LANES

Arrayed = Lying | NDArray[Any]

_SINGLE: Final = np.dtype(np.float32)
_DOUBLE_BYTES: Final = 8
_FAR: Final = 32
"""Steps along a row, in elements, from which vectors that are gathered lose against NumPy's loops."""
_FEW: Final = 4
_FAR_ROWS: Final = 1024
"""The same for vectors of rows, in forms of so few instructions that walk twice: they read memory page by
page, as no panel of rows is reduced together."""
_LEAST_ROWS: Final = 4
"""Neighbouring rows from which vectors are of rows."""
_SIDE_BY_SIDE: Final = ((100, 4), (400, 2))
"""Vectors of rows at most, by the number of instructions."""


class Walk(NamedTuple):
    """Kernel's text for some arrays, and the contents of its table.

    Attributes:
        pattern: How the arrays lie; `text` is the kernel for it.
        space: The iteration space.
        axes: Of inputs, counted positions and results, in this order.
        counted: The counted positions.
    """

    pattern: Pattern
    text: KernelText
    space: Sequence[int]
    axes: Axes
    counted: Sequence[NDArray[Any]]

    @property
    def order(self) -> tuple[Any, ...] | None:
        """All that the order of additions in sums depends on; None: there are none."""
        orders = self.text.orders
        lie = (bool(self.pattern.rows), *self.axes.runs, self.axes.columns)
        return (*sorted(orders), *lie) if orders else None


@final
class CompiledForm:
    """A scalar form for one element type, compiled for the arrays that it meets.

    Args:
        form: As operators give it.
        dtype: What is `real` in it: float32 or float64, or float16, which is computed in float32.

    Attributes:
        form: The form.
        dtype: In which it is computed.
        lanes: Elements of a vector: as many as fill a register of AVX-512.
        fuses: Whether exact products are fused with sums; None: there are none.

    Raises:
        NoVectorCodeError: It has no vector code; the message says why.
    """

    def __init__(self, form: ScalarForm, dtype: np.dtype[Any]) -> None:
        if dtype.kind != "f" or dtype.itemsize > _DOUBLE_BYTES:
            raise NoVectorCodeError(f"vector code computes in float32 and float64, not in {dtype}")
        self.form: Final = form
        self.dtype: Final = _SINGLE if dtype.itemsize < _SINGLE.itemsize else dtype
        self.lanes: Final = LANES[self.dtype.itemsize]
        own = expanded(form if self.dtype == dtype else widened(form), self.dtype, functions_of(self.dtype))
        fused = with_exact_products_fused(own)
        has_sums = any(step.op == "sum" for step in own.instructions)
        self.fuses: Final = None if fused == own else has_sums
        self._expanded, self._counted = with_positions(fused if has_sums else own)
        over = {step.axes or (-1,) for step in form.instructions if step.op in REDUCTIONS}
        if len(over) > 1:
            raise NoVectorCodeError("it reduces different axes, and kernels walk along the same ones")
        self._reduced = [axis for axis in next(iter(over), ()) if axis is not None]
        self._given = len(self._expanded.inputs)
        self._axes = [step.axes for step in self._expanded.instructions[: self._given]]
        self._axes += [result.axes for result in form.results]
        count, steps, read = len(form.inputs), self._expanded.instructions, {*form.inputs_read}
        ends = [steps[r.position] for r in self._expanded.results]
        self._types = [self.dtype if x.kind == "real" else np.dtype(x.kind) for x in (*steps[:count], *ends)]
        self._is_used = [name in read for name in form.inputs]
        self._texts: dict[Pattern, KernelText] = {}
        self._kernels: dict[Pattern, Kernel] = {}
        self._layouts: dict[Any, TableLayout] = {}
        self._calls: dict[int, ArrayCall] = {}  # by the number of the layout, which is kept

    @property
    def num_instructions(self) -> int:
        """Number of instructions, of primitives that have vector code."""
        return len(self._expanded.instructions)

    @property
    def operations(self) -> frozenset[str]:
        """Names of these instructions."""
        return frozenset(step.op for step in self._expanded.instructions)

    def check(self, arrays: Sequence[Arrayed]) -> None:
        """Raise unless there is a kernel for such arrays that is worth it; nothing is compiled.

        Raises:
            NoVectorCodeError: There is none, or it reduces rows whose elements lie so far apart that NumPy,
                which then computes whole rows of results at once, is faster.
        """
        found = self.walk(arrays)
        if not self._reduced or found.axes.columns == 1:
            return
        read = set(self.form.inputs_read)
        far: float = _FAR
        if found.pattern.rows:
            walks_twice = not found.text.stages.is_one_walk
            far = _FAR_ROWS if walks_twice and len(self.form.instructions) < _FEW + len(read) else math.inf
        for name, array, strides in zip(self.form.inputs, arrays, found.axes.strides, strict=False):
            apart = abs(strides[-1]) // array.itemsize
            if name in read and apart >= far:
                raise NoVectorCodeError(
                    f"elements of a row of {name} lie {apart} apart, and NumPy is faster from {far}"
                )

    def layout(self, arrays: Sequence[NDArray[Any]]) -> TableLayout:
        """Positions of inputs and then results in memory, with the kernel for them, compiled if need be.

        Raises:
            NoVectorCodeError: There is none, as for a result of which several elements lie in one place.
        """
        key = tuple([(array.shape, array.strides, array.dtype.num) for array in arrays])
        found = self._layouts.get(key)
        if found is None:
            found = self._layouts[key] = self._laid_out(arrays)
        return found

    def small_call(self, arrays: Sequence[NDArray[Any]]) -> ArrayCall:
        """The call for small arrays that lie as these, in the calling thread, without an object for it.

        Raises:
            NoVectorCodeError: There is no kernel for such arrays.
        """
        layout = self.layout(arrays)
        found = self._calls.get(id(layout))
        if found is None:
            found = self._calls[id(layout)] = strided_call(layout)
        return found

    def shares(self, walk: Walk) -> frozenset[tuple[int, int]]:
        """The pairs of an input and a result that may lie at one address."""
        strides, text = walk.axes.strides, walk.text
        # What is written again and again may not lie where it is read each time.
        once = [not self._repeated(text, walk.axes, j) for j in range(len(self.form.results))]
        return frozenset(
            (i, j)
            for i in range(len(self.form.inputs))
            for j in range(len(self.form.results))
            if once[j] and strides[i] == strides[self._given + j] and text.may_share(i, j)
        )

    def __call__(self, inputs: Sequence[NDArray[Any]], results: Sequence[NDArray[Any]]) -> None:
        """Compute the results, in this thread.

        Raises:
            NoVectorCodeError: There is no kernel for such arrays.
        """
        self.bind(inputs, results).run()

    def bind(self, inputs: Sequence[NDArray[Any]], results: Sequence[NDArray[Any]]) -> BoundKernel:
        """A call for these arrays, which it keeps.

        A result may be one of the inputs, if the layout says so for the pair; else they may not overlap.

        Raises:
            NoVectorCodeError: There is no kernel for such arrays.
        """
        arrays = [*inputs, *results]
        return BoundKernel(self.layout(arrays), arrays)

    def walk(self, arrays: Sequence[Arrayed]) -> Walk:
        """Preparation of a kernel for arrays, but for machine code.

        Raises:
            NoVectorCodeError: There is none.
        """
        count = len(self.form.inputs)
        for array, expected, name in zip(arrays, self._types, self._names(), strict=True):
            if array.dtype != expected:
                raise NoVectorCodeError(f"{name} is {array.dtype}, and the kernel was made for {expected}")
        named = zip(self.form.inputs, arrays, self._is_used, strict=False)
        shapes = {name: array.shape for name, array, is_used in named if is_used}
        shapes |= {one.name: a.shape for one, a in zip(self.form.results, arrays[count:], strict=True)}
        space = self.form.space(shapes)
        rank = len(space)
        counted = [positions(space, axis) for axis in self._counted]
        arrays = [*arrays[:count], *counted, *arrays[count:]]
        is_used = [*self._is_used, *[True] * (len(arrays) - count)]
        strides = [
            strides_over(array, own_axes(axes, len(array.shape), rank), space) if used else (0,) * rank
            for array, axes, used in zip(arrays, self._axes, is_used, strict=True)
        ]
        axes = collapsed(space, strides, self._given, [axis % rank for axis in self._reduced])
        pattern = self._pattern(arrays, axes)
        text = self._texts.get(pattern)
        if text is None:
            own = range(len(self.form.inputs), self._given)
            text = KernelText(
                self._expanded,
                self.dtype,
                pattern,
                lanes=self.lanes,
                counted=own,
                has_scalef=host().has_scalef,
            )
            self._texts[pattern] = text
        if any(array.size for array in arrays[self._given :]):
            self._check_results(text, axes)
        return Walk(pattern, text, space, axes, counted)

    def _pattern(self, arrays: Sequence[Arrayed], axes: Axes) -> Pattern:
        depth, runs = len(axes.outer), len(axes.runs)
        sizes = [array.itemsize for array in arrays]
        columns = tuple(
            _along(each[-1], size, axes.columns, any(each[depth:-1]))
            for each, size in zip(axes.strides, sizes, strict=True)
        )
        count = len(self.form.inputs)
        given = list(zip(columns[:count], axes.strides, sizes, strict=False))
        is_across = (
            bool(self._reduced)
            and axes.columns > 1
            and bool(depth)
            and axes.outer[-1] >= _LEAST_ROWS
            and any(how == "apart" and each[depth - 1] == size for how, each, size in given)
            and not any(how == "next" and each[depth - 1] for how, each, size in given)
        )
        if not is_across:
            return Pattern(depth, columns, runs)
        most = next((n for limit, n in _SIDE_BY_SIDE if self.num_instructions < limit), 1)
        vectors = axes.outer[-1] // self.lanes
        return Pattern(
            depth,
            tuple("same" if how == "same" else "apart" for how in columns),
            runs,
            next(n for n in (4, 2, 1) if n == 1 or n <= min(most, vectors)),
            tuple(
                "next" if each[depth - 1] == size else "apart" if each[depth - 1] else "same"
                for each, size in zip(axes.strides, sizes, strict=True)
            ),
        )

    def _laid_out(self, arrays: Sequence[NDArray[Any]]) -> TableLayout:
        walk = self.walk(arrays)
        pattern, text, space, axes, counted = walk
        kernel = self._kernels.get(pattern)
        if kernel is None:
            kernel = self._kernels[pattern] = Kernel(text.text, self.form.name)
        table = [axes.columns, *axes.runs, *(space[axis] for axis in text.lengths), *axes.outer]
        count, own = len(self.form.inputs), range(len(self.form.inputs), self._given)
        entries = []
        for number, each in enumerate(axes.strides):
            if number in own:
                table += [words_address(counted[number - count]), *each]
                continue
            entries.append(len(table))
            table += [0, *each]
        shares = self.shares(walk)
        units = prod(axes.outer) if text.has_rows else axes.columns
        if pattern.rows:
            group = pattern.rows * self.lanes
            units = prod(axes.outer[:-1]) * -(-axes.outer[-1] // group)
        if not any(array.size for array in arrays[count:]):
            units = 0
        scratch_bytes = text.scratch_bytes(axes.columns * prod(axes.runs))
        return TableLayout(kernel, units, tuple(table), tuple(entries), scratch_bytes, shares)

    def _names(self) -> list[str]:
        return [*self.form.inputs, *(result.name or "the result" for result in self.form.results)]

    def _check_results(self, text: KernelText, axes: Axes) -> None:
        """Refuse results of which some element would be written twice, with other values."""
        for number, name in enumerate(self._names()[len(self.form.inputs) :]):
            position = self._expanded.results[number].position
            repeated = self._repeated(text, axes, number)
            if any(axes.strides[i][k] for k in repeated for i in self._inputs_behind(position)):
                raise NoVectorCodeError(f"{name} does not have an element for each computed")

    def _repeated(self, text: KernelText, axes: Axes, number: int) -> list[int]:
        """The axes along which a result is written again and again."""
        depth, lengths, steps = (
            len(axes.outer),
            (*axes.outer, *axes.runs, axes.columns),
            axes.strides[self._given + number],
        )
        is_of_rows = text.stages.is_of_rows[self._expanded.results[number].position] and text.has_rows
        # Of what a row has one of, the result has one element, or one everywhere in the row.
        own = depth if is_of_rows and not any(steps[depth:]) else len(lengths)
        return [k for k, length in enumerate(lengths[:own]) if length > 1 and not steps[k]]

    def _inputs_behind(self, position: int) -> set[int]:
        """The inputs that a value is computed from."""
        found = {position}
        for i in range(position, self._given - 1, -1):
            if i in found:
                found.update(self._expanded.instructions[i].args)
        return {i for i in found if i < self._given}


@lru_cache(maxsize=4096)
def compiled(form: ScalarForm, dtype: np.dtype[Any]) -> CompiledForm:
    """The compiled form, made once.

    Raises:
        NoVectorCodeError: It has no vector code.
    """
    return CompiledForm(form, dtype)


@lru_cache(maxsize=4096)
def walk_of(kernel: CompiledForm, specs: tuple[tuple[Shape, DType], ...]) -> Walk:
    """Walk over contiguous arrays of these shapes and types, made once for conditions, costs and operators.

    Raises:
        NoVectorCodeError: There is no kernel for them.
    """
    return kernel.walk(lying(specs))


def _along(step: int, itemsize: int, columns: int, differs: bool) -> str:
    """Position of elements along columns; `differs`: those of a row are not the same in all runs."""
    if step == itemsize:
        return "next"
    if step and columns != 1:  # of no columns there is no element to be read once for each row
        return "apart"
    return "run" if differs else "same"
