"""Gradients of `LayerNorm` for data beyond a core's cache, some rows after others.

The gradient of the data is a walk over each row, those of gains and offsets are sums over all rows. As two
kernels over all of the data they read it twice from memory. Of a block of rows the second one reads what the
first has left in the cache; sums of blocks are added at the end.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any, Final

import numpy as np

from operad.operator import ArgumentSlot, CallTemplate
from operad_sdk import Array, Cost, KernelCall, OpContext, OpReq, blocked_sum
from operad_sdk.vector import InVectorCode

_BLOCK_BYTES: Final = 1 << 18
"""Size of a block of an array: three of them are in a core's cache of 1 MiB."""
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
    """Write the gradients that are wanted; each block is computed by the operator's other kernels."""
    columns = data.shape[-1]
    heads, rows, targets = (array.reshape(-1, columns) for array in (output_grad, data, data_grad))
    kept = [array.reshape(-1, 1) for array in (mean, std, rest)]
    count = -(-rows.nbytes // _BLOCK_BYTES)
    sums = np.empty((2, count, columns), data.dtype)
    own = OpReq.INPLACE if np.may_share_memory(output_grad, data_grad) else OpReq.WRITE
    req = [one if name in wanted else OpReq.NULL for name, one in zip(_GRADIENTS, (own, *_BOTH), strict=True)]
    step = -(-len(rows) // count)
    count = -(-len(rows) // step)
    kind: Any = type(self)
    calls = {
        length: _calls(kind, self.eps, op_ctx, (length, columns), data.dtype, tuple(req))
        for length in {step, len(rows) - step * (count - 1)}
    }

    def run(part: int, slot: int) -> None:
        block = slice(step * part, min(step * (part + 1), len(rows)))
        head, x, target, *outs = [array[block] for array in (heads, rows, targets, *kept)]
        arrays = [x, gamma, None, None, *outs, head, None, None, None, target, sums[0, part], sums[1, part]]
        for function, args in calls[len(x)]:
            function(*[arrays[arg] if arg.__class__ is ArgumentSlot else arg for arg in args])

    op_ctx.parallel(run, count, op_ctx.num_threads)
    for name, total, target in zip(_GRADIENTS[1:], sums[:, :count], (gamma_grad, beta_grad), strict=True):
        if name in wanted:
            target[...] = blocked_sum(total, 0)


_GRADIENTS: Final = ("data_grad", "gamma_grad", "beta_grad")
_BOTH: Final = (OpReq.WRITE, OpReq.WRITE)


@lru_cache(maxsize=256)
def _calls(
    kind: Any, eps: float, op_ctx: OpContext, shape: Any, dtype: Any, req: tuple[OpReq, ...]
) -> list[CallTemplate]:
    """Calls of the kernels of a block.

    The gradient of the data is the last, for it may lie where others read. If it does not it is the first,
    for it reads memory in order, and the others column by column.
    """
    made = kind(eps=eps).create_operator(op_ctx.ctx, [shape, *[shape[1:]] * 2], [dtype] * 3)
    found: list[CallTemplate] = made.backward_templates(op_ctx, req, 4, 0)
    return found if OpReq.INPLACE in req else found[::-1]


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
