"""Kernels of operad-roi-pooling's operators."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_sdk import Array, CompiledLoops, KernelCall, OpContext, kernel

LOOPS: Final = CompiledLoops("operad_loops.region_loops")

_many_bins: Final = LOOPS.when(lambda call: call.size("output"))


@kernel("ROIPooling", "forward", priority=1, when=_many_bins)
def pool_by_loop(self: Any, data: Array, rois: Array, output: Array, maxidx: Array) -> None:
    """All regions in one compiled loop."""
    where, rows, columns = self.begin(data, rois, output, maxidx)
    LOOPS.pool(data, where.image, rows, columns, output, maxidx)


@kernel("ROIPooling", "data_grad", accumulate=True, priority=1, when=_many_bins)
def unpool_by_loop(output_grad: Array, maxidx: Array, rois: Array, data_grad: Array) -> None:
    """Likewise, in the order in which the operator adds."""
    LOOPS.unpool(output_grad, rois, maxidx, data_grad)


# mutant: equivalent, because it decides between two ways to the same
def _bins_at_a_time(call: KernelCall) -> int:
    """Number of bins that are sampled together: all of a region, or those at one position in it."""
    _, channels, *bins = call.shape("output")
    return int(channels * (1 if call.prop.position_sensitive else np.prod(bins)))


@kernel("_contrib_ROIAlign", "forward", priority=1, when=LOOPS.when(_bins_at_a_time))
def align_by_loop(self: Any, op_ctx: OpContext, data: Array, rois: Array, output: Array) -> None:
    """Each part of a region in a compiled loop."""
    self.sample_by(_sampled, op_ctx.xp, data, rois, output)


def _sampled(xp: Any, pixels: Array, rows: Any, columns: Any) -> Array:
    """The mean of the samples in each bin."""
    output = np.empty((len(pixels), len(rows.low), len(columns.low)), pixels.dtype)
    share = pixels.dtype.type(1 / max(1, rows.low.shape[1] * columns.low.shape[1]))
    LOOPS.sample(pixels[:, rows.support, columns.support], rows[1:], columns[1:], share, output)
    return output
