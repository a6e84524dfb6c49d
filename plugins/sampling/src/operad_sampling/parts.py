"""Filling arrays with draws in parts, several at once.

An array is cut by its size alone, and each part has a generator of its own, so that a seed gives the same
numbers with any number of threads. A part is drawn in chunks that fit a processor's cache, so that what
is drawn in another type than the array's (half precision is drawn in single, and counts as integers)
needs little memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from operad_sdk import Array, OpContext

CHUNK: Final = 1 << 16
"""Elements that are drawn at a time."""
_MOST_PARTS: Final = 16


def fill_in_parts(op_ctx: OpContext, output: Array, fill: Callable[[Any, Array], object]) -> None:
    """Call `fill(generator, chunk)` for all chunks of `output`, which are of one axis.

    Args:
        op_ctx: Of an operator that requested `PARALLEL_RANDOM` first.
        output: What to fill.
        fill: Draws with the generator it gets into all of the array it gets.
    """
    whole = output.reshape(-1) if output.flags.c_contiguous else op_ctx.xp.empty(output.size, output.dtype)
    # mutant: equivalent, because draws in other chunks are as good
    chunk = max(whole.size, 1) if op_ctx.ctx.is_gpu else CHUNK
    starts = range(0, whole.size, chunk)
    parts = min(len(starts), _MOST_PARTS)
    generators = op_ctx.requested[0].generators(parts)

    def fill_part(part: int, slot: int = 0) -> None:
        for start in starts[part::parts]:
            fill(generators[part], whole[start : start + chunk])

    if parts == 1:
        fill_part(0)
    elif parts:
        op_ctx.parallel(fill_part, parts, min(parts, op_ctx.num_threads))
    if not output.flags.c_contiguous:
        output[...] = whole.reshape(output.shape)
