"""Gradients of `LayerNorm` for data beyond a core's cache, some rows after others.

The gradient of the data is a walk over each row, those of gains and offsets are sums over all rows. As two
kernels over all of the data they read it twice from memory. Of a block of rows the second one reads what the
first has left in the cache; sums of blocks are added at the end. Threads take parts of the blocks, each of
which is a loop in machine code: to hand out blocks in Python took as long as two threads compute them.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, prod
from typing import Any, Final, NamedTuple, Self, final

import numpy as np

from operad.context import Context
from operad.operator import ScalarForm
from operad_sdk import Array, Cost, DType, KernelCall, OpContext, Shape, blocked_sum
from operad_sdk.vector import (
    InVectorCode,
    KeptLoops,
    LoopPhases,
    StepArray,
    StepLoop,
    data_address,
    form_call,
    forms_of,
)

_BLOCK_BYTES: Final = 1 << 18
"""Size of a block of an array: three of them are in a core's cache of 1 MiB."""
_PARTS_OF_A_THREAD: Final = 4
"""Parts for each thread: where one is slow, another takes more of them."""
_FROM_BYTES: Final = 3 << 20
"""Size of the data from which blocks pay."""


def write_by_rows(
    self: Any,
    op_ctx: OpContext,
    output_grad: Array,
    data: Array,
    gamma: Array,
    mean: Array,
    std: Array,
    rest: Array,
    data_grad: Array,
    gamma_grad: Array,
    beta_grad: Array,
    wanted: frozenset[str],
) -> None:
    """Write the gradients that are wanted; each block by the forms of the operator's own gradients."""
    columns = data.shape[-1]
    blocks = _Blocks.of(data.size // columns, columns * data.itemsize)
    sums = np.empty((2, blocks.num_blocks, columns), data.dtype)
    rows = {"output_grad": output_grad, "data": data, "mean": mean, "std": std, "rest": rest}
    is_same = "data_grad" in wanted and np.may_share_memory(output_grad, data_grad)
    if "data_grad" in wanted and not is_same:
        rows["data_grad"] = data_grad
    kind: Any = type(self)
    threads = op_ctx.num_threads

    def make() -> LoopPhases:
        # A row is computed alike in any block, and blocks are the same for any number of threads.
        loops = []
        for length, begin, end in blocks.parts(_PARTS_OF_A_THREAD * threads):
            order = np.arange(begin, end)
            found = {name: blocks.of_rows(array, length, order) for name, array in rows.items()}
            found.setdefault("data_grad", found["output_grad"])
            found["gamma"] = StepArray.same(gamma, order)
            found |= zip(_GRADIENTS[1:], (StepArray.of(one, order) for one in sums), strict=True)
            forms = _forms(kind, op_ctx.ctx, (length, columns), data.dtype, wanted)
            calls = [
                form_call(
                    form, [found[name] for name in form.inputs], [found[one.name] for one in form.results]
                )
                for form in forms
            ]
            # The gradient of the data is the last, where it lies where others read. If it does not it is the
            # first, for it reads memory in order, and the others column by column.
            loops.append(StepLoop(calls[::-1] if is_same else calls))
        return LoopPhases([loops])

    key = threads, kind, wanted, is_same
    _loops.run(key, [*rows.values(), gamma, sums], make, op_ctx)
    for name, total, target in zip(_GRADIENTS[1:], sums, (gamma_grad, beta_grad), strict=True):
        if name in wanted:
            target[...] = blocked_sum(total, 0)


_GRADIENTS: Final = ("data_grad", "gamma_grad", "beta_grad")
_loops: Final = KeptLoops()


@final
class _Blocks(NamedTuple):
    """Division of rows into blocks.

    Attributes:
        rows: How many there are.
        step: Rows of a block; the last may have fewer.
        num_blocks: How many blocks there are.
    """

    rows: int
    step: int
    num_blocks: int

    @classmethod
    def of(cls, rows: int, row_bytes: int) -> Self:
        """Blocks of about `_BLOCK_BYTES`."""
        step = ceil(rows / ceil(rows * row_bytes / _BLOCK_BYTES))
        return cls(rows, step, ceil(rows / step))

    def parts(self, most: int) -> list[tuple[int, int, int]]:
        """Up to so many parts: the length of their blocks, the first and the one behind the last.

        A shorter block is a part more.
        """
        alike = self.rows // self.step
        width = max(1, ceil(alike / most))
        found = [(self.step, begin, min(begin + width, alike)) for begin in range(0, alike, width)]
        return (
            found
            if alike == self.num_blocks
            else [*found, (self.rows - alike * self.step, alike, self.num_blocks)]
        )

    def of_rows(self, array: Array, length: int, order: Any) -> StepArray:
        """Blocks of so many rows of an array."""
        rows = array.reshape(self.rows, -1)
        begins = data_address(rows) + order * (self.step * rows.strides[0])
        return StepArray(rows[:length], begins)


@lru_cache(maxsize=256)
def _forms(kind: Any, ctx: Context, shape: Shape, dtype: DType, wanted: frozenset[str]) -> list[ScalarForm]:
    """The forms of a block: of the data's gradient, and the others' as one."""
    call = KernelCall(kind(), ctx, [shape, *[shape[1:]] * 2], [dtype] * 3)
    found: list[ScalarForm] = []
    for parts in (_GRADIENTS[:1], _GRADIENTS[1:]):
        given = forms_of([part for part in parts if part in wanted], call)
        assert not isinstance(given, str), given
        whole = given[0].whole
        found += given[0].forms if whole is None else [whole.kernel.form]
    return found


def _refusal(call: KernelCall, is_large: bool) -> str | None:
    shape, dtype = call.shape("data"), call.dtype("data")
    size = prod(shape) * dtype.itemsize
    if not size or call.prop.axis not in (-1, len(shape) - 1):
        return "groups do not follow each other in memory"
    if shape[-1] * dtype.itemsize > _BLOCK_BYTES:
        return "a row is more than a block"
    if call.prop.output_mean_var:
        return "the mean that callers see may be of another type"
    if size < _FROM_BYTES and not is_large:
        return f"{size} bytes, blocks of rows pay from {_FROM_BYTES}"
    return None


# mutant: equivalent, because an estimate is no result
def _cost(call: KernelCall) -> Cost:
    """Two walks over two arrays, of which one writes."""
    size = call.size("data")
    found = Cost(0.4 * size, size_bytes=20.0 * size, beside_us=20)
    return found._replace(pooled_us=found.work_us)


BY_ROWS: Final = {"name": "by_rows", "priority": 1, "when": InVectorCode(_refusal), "cost": _cost}
