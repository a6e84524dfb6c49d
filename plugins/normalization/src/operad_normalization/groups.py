"""Groups of elements that are normalized together, and the cut of the work into blocks.

Every operator here takes means over some axes, and has a gain and an offset for each position along one axis.
Groups do not read each other, so the data is cut along an axis that no mean runs over, into blocks that
stay in a core's cache while they are read several times. Blocks follow from shapes alone: results do not
depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Final, final

import numpy as np

from operad_sdk import Array, OpContext, Shape, cached_property

Part = Callable[[Any], Any]
"""A block's part of an array that broadcasts to the data; None stays None."""

_BLOCK: Final = 1 << 15
"""Elements of a block: three arrays of float32 of this size are half of a cache of 1 MiB."""
_RUN: Final = 256
"""Elements of a block that lie side by side, at least: NumPy's loops over shorter rows are slow."""


WHOLE: Final = slice(None)
"""The block that is all of the data."""


@final
@dataclass(frozen=True)
class Groups:
    """Division of data into groups.

    Attributes:
        shape: The data's; GroupNorm's has its axis of channels split into groups and their channels.
        axes: The axes that a group spans.
        gain_axis: The axis along which gain and offset differ.
    """

    shape: Shape
    axes: tuple[int, ...]
    gain_axis: int

    @cached_property
    def count(self) -> int:
        """Elements of a group; at least 1, so that it can divide."""
        return max(1, prod(self.shape[axis] for axis in self.axes))

    @cached_property
    def statistics(self) -> Shape:
        """The shape of an array with one element for each group."""
        return tuple(1 if axis in self.axes else length for axis, length in enumerate(self.shape))

    @cached_property
    def vector(self) -> Shape:
        """The shape of gain and offset."""
        return tuple(length if axis == self.gain_axis else 1 for axis, length in enumerate(self.shape))

    @cached_property
    def others(self) -> tuple[int, ...]:
        """The axes over which gradients of gain and offset are summed."""
        return tuple(axis for axis in range(len(self.shape)) if axis != self.gain_axis)

    @cached_property
    def cut(self) -> int:
        """The axis along which blocks are cut: the longest that no group spans, or else any."""
        free = [axis for axis in range(len(self.shape)) if axis not in self.axes]
        return max(free, key=lambda axis: self.shape[axis], default=0)

    def blocks(self, data: Array) -> list[slice]:
        """The blocks, as parts of the axis `cut`; of anything but arrays of NumPy one block."""
        if type(data) is not np.ndarray:
            return [WHOLE]
        length = self.shape[self.cut]
        if self.cut in self.axes or not length:
            return [WHOLE]
        others = max(1, prod(self.shape) // length)
        behind = max(1, prod(self.shape[self.cut + 1 :]))
        step = max(1, _BLOCK // others, _RUN // behind)
        return [slice(start, min(start + step, length)) for start in range(0, length, step)]

    def each_block(self, op_ctx: OpContext, data: Array, run: Callable[[Part], Any]) -> list[Any]:
        """Results of a function for each block, on the threads of the run."""
        blocks = self.blocks(data)
        found: list[Any] = [None] * len(blocks)

        def run_one(part: int, slot: int) -> None:
            with np.errstate(all="ignore"):
                found[part] = run(lambda array: None if array is None else self.of(blocks[part], array))

        op_ctx.parallel(run_one, len(blocks), op_ctx.num_threads)
        return found

    def of(self, block: slice, array: Array) -> Array:
        """The block's part of an array that broadcasts to the data."""
        if block == WHOLE or array.shape[self.cut] == 1:
            return array
        return array[(*(slice(None),) * self.cut, block)]
