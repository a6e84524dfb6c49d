"""Scalar forms as machine code: the kernel that arrays need, the arrays' layout, and the kernel's call.

Arrays of any strides become rows of columns: axes that one step through memory joins are one, those of
length 1 are none. What is left but the last are outer axes. Kernels are made once for each pattern; strides
and lengths are numbers in a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from operad.operator import ScalarForm, placed
from operad_sdk.mapper.expansions import expanded
from operad_sdk.vector.kernel_text import KernelText, Pattern
from operad_sdk.vector.layout import BoundKernel, Kernel, TableLayout
from operad_sdk.vector.machine import host
from operad_sdk.vector.primitives import NoVectorCodeError
from operad_sdk.vector.stages import REDUCTIONS
from operad_sdk.vector.writer import LANES

_Strides = tuple[int, ...]
_FAR: Final = 32
"""Steps along a row, in elements, from which vectors that are gathered lose against NumPy's loops."""


class Walk(NamedTuple):
    """Kernel's text for some arrays, and the contents of its table.

    Attributes:
        pattern: How the arrays lie; `text` is the kernel for it.
        space: The iteration space.
        lengths: Of the outer axes and the columns, as few axes as possible.
        strides: Of each input and result along these, in bytes.
    """

    pattern: Pattern
    text: KernelText
    space: Sequence[int]
    lengths: Sequence[int]
    strides: Sequence[_Strides]


@final
class CompiledForm:
    """A scalar form for one element type, compiled for the arrays that it meets.

    Args:
        form: As operators give it.
        dtype: float32 or float64: what is `real` in it.

    Raises:
        NoVectorCodeError: It has no vector code; the message says why.
    """

    def __init__(self, form: ScalarForm, dtype: np.dtype[Any]) -> None:
        if dtype.kind != "f" or dtype.itemsize not in LANES:
            raise NoVectorCodeError(f"vector code computes in float32 and float64, not in {dtype}")
        self.form: Final = form
        self.dtype: Final = dtype
        self._expanded = expanded(form, dtype)
        over = {step.axes or (-1,) for step in form.instructions if step.op in REDUCTIONS}
        if len(over) > 1:
            raise NoVectorCodeError("it reduces different axes, and kernels walk along the same ones")
        self._reduced = [axis for axis in next(iter(over), ()) if axis is not None]
        self._axes = [step.axes for step in form.instructions[: len(form.inputs)]]
        self._axes += [result.axes for result in form.results]
        self._texts: dict[Pattern, KernelText] = {}
        self._kernels: dict[Pattern, Kernel] = {}
        self._layouts: dict[Any, TableLayout] = {}

    @property
    def num_instructions(self) -> int:
        """Number of instructions per element, of primitives that have vector code."""
        return len(self._expanded.instructions)

    def check(self, arrays: Sequence[NDArray[Any]]) -> None:
        """Raise unless there is a kernel for such arrays that is worth it; nothing is compiled.

        Raises:
            NoVectorCodeError: There is none, or it reduces rows whose elements lie so far apart that NumPy,
                which then computes many rows at once, is faster.
        """
        found = self.walk(arrays)
        if not self._reduced or found.lengths[-1] == 1:
            return
        read = set(self.form.inputs_read)
        for name, array, strides in zip(self.form.inputs, arrays, found.strides, strict=False):
            apart = abs(strides[-1]) // array.itemsize
            if name in read and apart >= _FAR:
                raise NoVectorCodeError(
                    f"elements of a row of {name} lie {apart} apart, and NumPy is faster from {_FAR}"
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

    def walk(self, arrays: Sequence[NDArray[Any]]) -> Walk:
        """Preparation of a kernel for arrays, but for machine code.

        Raises:
            NoVectorCodeError: There is none.
        """
        count = len(self.form.inputs)
        steps = self._expanded.instructions
        kinds = [step.kind for step in steps[:count]] + [
            steps[r.position].kind for r in self._expanded.results
        ]
        for array, kind, name in zip(arrays, kinds, self._names(), strict=True):
            expected = self.dtype if kind == "real" else np.dtype(kind)
            if array.dtype != expected:
                raise NoVectorCodeError(f"{name} is {array.dtype}, and the kernel was made for {expected}")
        read = set(self.form.inputs_read)
        shapes = {
            name: array.shape for name, array in zip(self.form.inputs, arrays, strict=False) if name in read
        }
        shapes |= {
            one.name: array.shape for one, array in zip(self.form.results, arrays[count:], strict=True)
        }
        space = self.form.space(shapes)
        rank = len(space)
        is_used = [name in read for name in self.form.inputs] + [True] * len(self.form.results)
        strides = [
            _strides_over(placed(array, axes, rank), space) if used else (0,) * rank
            for array, axes, used in zip(arrays, self._axes, is_used, strict=True)
        ]
        lengths, strides = _collapsed(space, strides, count, [axis % rank for axis in self._reduced])
        columns = lengths[-1]
        pattern = Pattern(
            len(lengths) - 1,
            tuple(_along(each[-1], a.itemsize, columns) for each, a in zip(strides, arrays, strict=True)),
        )
        text = self._texts.get(pattern)
        if text is None:
            text = KernelText(self._expanded, self.dtype, pattern, has_scalef=host().has_scalef)
            self._texts[pattern] = text
        self._check_results(text, lengths, strides, count)
        return Walk(pattern, text, space, lengths, strides)

    def _laid_out(self, arrays: Sequence[NDArray[Any]]) -> TableLayout:
        pattern, text, space, lengths, strides = self.walk(arrays)
        kernel = self._kernels.get(pattern)
        if kernel is None:
            kernel = self._kernels[pattern] = Kernel(text.text)
        table = [lengths[-1], *(space[axis] for axis in text.lengths), *lengths[:-1]]
        positions = []
        for each in strides:
            positions.append(len(table))
            table += [0, *each]
        count = len(self.form.inputs)
        pairs = [(i, j) for i in range(count) for j in range(len(arrays) - count)]
        shares = frozenset(
            (i, j) for i, j in pairs if strides[i] == strides[count + j] and text.may_share(i, j)
        )
        units = prod(lengths[:-1]) if text.has_rows else lengths[-1]
        return TableLayout(
            kernel, units, tuple(table), tuple(positions), text.scratch_bytes(lengths[-1]), shares
        )

    def _names(self) -> list[str]:
        return [*self.form.inputs, *(result.name or "the result" for result in self.form.results)]

    def _check_results(
        self, text: KernelText, lengths: Sequence[int], strides: Sequence[_Strides], count: int
    ) -> None:
        """Refuse results of which some element would be written twice."""
        for number, each in enumerate(strides[count:]):
            is_of_rows = text.stages.is_of_rows[self._expanded.results[number].position]
            if any(n > 1 and not step for n, step in zip(lengths[:-1], each[:-1], strict=True)) or (
                lengths[-1] > 1 and not each[-1] and not (is_of_rows and text.has_rows)
            ):
                raise NoVectorCodeError(
                    f"{self._names()[count + number]} does not have an element for each computed"
                )


@lru_cache(maxsize=4096)
def compiled(form: ScalarForm, dtype: np.dtype[Any]) -> CompiledForm:
    """The compiled form, made once.

    Raises:
        NoVectorCodeError: It has no vector code.
    """
    return CompiledForm(form, dtype)


def _strides_over(view: NDArray[Any], space: Sequence[int]) -> _Strides:
    """Steps in bytes along the axes of the space; 0 where the array has one element for all."""
    padded = (1,) * (len(space) - view.ndim) + view.shape
    steps = (0,) * (len(space) - view.ndim) + view.strides
    for own, length in zip(padded, space, strict=True):
        if own not in (1, length):
            raise NoVectorCodeError(
                f"an array of shape {view.shape} has no elements for a space of {tuple(space)}"
            )
    return tuple([0 if own == 1 else step for own, step in zip(padded, steps, strict=True)])


def _collapsed(
    space: Sequence[int], strides: Sequence[_Strides], first_result: int, reduced: Sequence[int]
) -> tuple[list[int], list[_Strides]]:
    """Lengths and strides of as few axes as possible, columns last: the reduced axes, if there are any."""
    axes = [(length, tuple([each[i] for each in strides])) for i, length in enumerate(space)]
    columns = _joined([axes[i] for i in sorted(reduced) if axes[i][0] != 1])
    if len(columns) > 1:
        raise NoVectorCodeError("the axes that it reduces are no run of memory")
    others = [axis for i, axis in enumerate(axes) if i not in reduced and axis[0] != 1]
    # Along the columns the first result's elements follow each other, if they do anywhere.
    others.sort(key=lambda axis: -abs(axis[1][first_result]))
    joined = _joined(others)
    one = (1, (0,) * len(strides))
    joined += (columns or [one]) if reduced else ([] if joined else [one])
    return [length for length, _ in joined], [
        tuple(each) for each in zip(*(s for _, s in joined), strict=True)
    ]


def _joined(axes: Sequence[tuple[int, _Strides]]) -> list[tuple[int, _Strides]]:
    """Axes, with those joined that one step through memory passes."""
    found: list[tuple[int, _Strides]] = []
    for length, steps in axes:
        if found and all(outer == inner * length for outer, inner in zip(found[-1][1], steps, strict=True)):
            found[-1] = (found[-1][0] * length, steps)
        else:
            found.append((length, steps))
    return found


def _along(step: int, itemsize: int, columns: int) -> str:
    if step == itemsize:
        return "next"
    return "apart" if step and columns > 1 else "same"
