"""`_histogram`: how many elements lie in each bin."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    Distinct,
    OpContext,
    OperatorProperty,
    ParamError,
    gradient,
    operator,
    param,
)


def _counted(data: Array, *bins: Array, bin_cnt: Any, range: Any) -> tuple[Array, Array]:
    """Element by element, for the contract checks."""
    edges = bins[0] if bins else np.histogram_bin_edges(data, bin_cnt, range)
    above, below = data.reshape(-1, 1) >= edges[:-1], data.reshape(-1, 1) < edges[1:]
    if below.shape[1]:
        below[:, -1] |= data.reshape(-1) == edges[-1]
    return (above & below).sum(0), edges


@operator("_histogram")
class histogram(OperatorProperty):
    """Number of elements in each bin: from its lower edge up to, but without, its upper one.

    The last bin has its upper edge too; what lies in no bin, and NaN, is not counted. The numbers have no
    gradient.

    Shapes:
        data: (...)
        bins: (B + 1,), edges in ascending order; absent with `bin_cnt`.
        output0: (B,) of int64, or (bin_cnt,): the numbers.
        output1: (B + 1,): the edges.

    Example:
        >>> import operad as od
        >>> data = od.nd.array([0, 0.5, 1, 1, 2.5, 4])
        >>> numbers, edges = od.nd._histogram(data, bin_cnt=4, range=(0, 4))
        >>> numbers.asnumpy(), edges.asnumpy()
        (array([2, 2, 1, 1]), array([0., 1., 2., 3., 4.], dtype=float32))

    Source: HistogramParam, src/operator/tensor/histogram-inl.h.
    """

    bin_cnt = param(int, None, ge=1, doc="Number of bins of equal width, instead of edges.")
    range = param("floats", None, doc="The first edge and the last, with `bin_cnt`.")
    spec = (
        "data:(*S), bins:(E) if bin_cnt is None"
        " -> output0:int64(E - 1) if bin_cnt is None, output0:int64(bin_cnt) if bin_cnt is not None,"
        " output1:(E) if bin_cnt is None, output1:(bin_cnt + 1) if bin_cnt is not None"
    )
    accepts = "number"
    integers_as = "float64"
    contract = Contract(
        inputs={"bins": Distinct(is_sorted=True)},
        params={"bin_cnt": [None, 4], "range": [None, (-1.5, 2.0), (1.0, 1.0)]},
        reference=_counted,
        nan_policy="NaN lies in no bin",
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if (self.bin_cnt is None) != (self.range is None):
            raise ParamError("_histogram: give both bin_cnt and range, or neither and an array of edges")
        if self.range is not None and (len(self.range) != 2 or not self.range[0] <= self.range[1]):
            raise ParamError(f"_histogram: range is {self.range}, expected the first edge and the last")

    def forward(
        data: Array, op_ctx: OpContext, bins: Array | None, bin_cnt: Any, range: Any,
        output0: Array, output1: Array,
    ) -> None:  # fmt: skip
        """Count."""
        if bins is None:
            first, last = range if range[0] < range[1] else (range[0] - 0.5, range[1] + 0.5)
            edges = op_ctx.xp.linspace(first, last, bin_cnt + 1)
        else:
            edges = bins
        output1[...] = edges
        if not len(output0):
            return
        values = data.reshape(-1)
        values = values[np.logical_and(values >= edges[0], values <= edges[-1])]
        # The number of edges up to a value is that of its bin, from 1; the last edge belongs to the last bin.
        positions = op_ctx.xp.searchsorted(edges, values, side="right") - 1
        output0[...] = op_ctx.xp.bincount(np.minimum(positions, len(output0) - 1), minlength=len(output0))

    @gradient(when=lambda prop: prop.bin_cnt is None)
    def bins_grad(output1_grad: Array) -> Array:
        """The edges are given back as they are: `d output1 / d bins = 1`."""
        return output1_grad
