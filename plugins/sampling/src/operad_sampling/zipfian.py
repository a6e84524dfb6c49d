"""`_sample_unique_zipfian`: different numbers, small ones more often than large ones."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, Final

import numpy as np

from operad_sampling.from_numbers import Drawing
from operad_sdk import Array, Contract, Distribution, OpContext, ParamError, ResourceRequest, operator, param

_MORE: Final = 16
"""Number drawn at a time beyond those that are still to be found."""


@operator("_sample_unique_zipfian")
class SampleUniqueZipfian(Drawing):
    """Rows of different numbers below `range_max`; the weight of `k` is `log((k + 2) / (k + 1))`.

    Numbers are drawn until a row is full, and those that it has already are left out. How many were drawn
    tells how often a number is to be expected among the draws. No gradient flows.

    Shapes:
        output: `shape`, rows and numbers of each, of type int64.
        num_tries: (rows,), of type int64: how many numbers were drawn.

    Example:
        >>> import operad as od
        >>> found, num_tries = od.nd._sample_unique_zipfian(range_max=4, shape=(1, 4))
        >>> sorted(found.asnumpy()[0].tolist()), num_tries.asnumpy().item() >= 4
        ([0, 1, 2, 3], True)

    Source: SampleUniqueZifpianParam, src/operator/random/unique_sample_op.h.
    Differs: there numbers are rounded to the nearest, which makes 0 rarer than the definition says.
    """

    range_max = param(int, ge=1, doc="One more than the largest number.")
    shape = param("shape", None, doc="Number of rows, and of numbers per row.")

    spec = "-> output0:int64(*shape), output1:int64(shape[0])"
    resource = ResourceRequest.RANDOM
    element_cost = 100
    contract = Contract(
        params={"range_max": (4, 1000), "shape": ((2, 3), (1, 4))},
        distribution=Distribution(
            mean=lambda prop: _moments(prop)[0],
            variance=lambda prop: _moments(prop)[1] - _moments(prop)[0] ** 2,
            draws=lambda prop, inputs, outputs: outputs[0] if prop.shape[1] == 1 else outputs[1],
            params=[{"range_max": 5, "shape": (2000, 1)}, {"range_max": 2, "shape": (2000, 2)}],
        ),
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.shape is None or len(self.shape) != 2:
            raise ParamError(f"{self.name}: shape is {self.shape}, expected rows and numbers of each")
        if self.shape[1] > self.range_max:
            raise ParamError(
                f"{self.name}: range_max is {self.range_max}, expected at least {self.shape[1]}, as many as "
                "there are different numbers in a row"
            )

    def forward(output0: Array, output1: Array, op_ctx: OpContext, range_max: int) -> None:
        """Fill row by row, on the host; what differs in size from row to row is nothing for a device."""
        xp, is_gpu = op_ctx.xp, op_ctx.ctx.is_gpu
        generator = op_ctx.requested[0].generator

        def evenly(count: int) -> Array:
            numbers = generator.random(count)
            return xp.asnumpy(numbers) if is_gpu else numbers

        found = np.empty(output0.shape, np.int64)
        num_tries = np.array([_fill_row(evenly, range_max, row) for row in found], np.int64)
        output0[...], output1[...] = xp.asarray(found), xp.asarray(num_tries)


def _fill_row(evenly: Callable[[int], Array], range_max: int, row: Array) -> int:
    """Fill a row with different numbers in the order in which they were drawn; how many were drawn."""
    drawn = np.empty(0, np.int64)
    found, firsts = drawn, drawn
    while len(found) < len(row):
        # mutant: len(row) - len(found) becomes (len: equivalent, because it matters only how many are missing
        more = np.exp(evenly(len(row) - len(found) + _MORE) * log(range_max + 1)).astype(np.int64) - 1
        drawn = np.concatenate([drawn, np.minimum(more, range_max - 1)])
        found, firsts = np.unique(drawn, return_index=True)
    firsts = np.sort(firsts)[: len(row)]
    row[...] = drawn[firsts]
    return int(firsts[-1]) + 1 if len(row) else 0


def _moments(prop: Any) -> tuple[float, float]:
    """Means of a row's first number and of its square; of the number of draws, where it has both of two."""
    numbers = np.arange(prop.range_max)
    weights = np.log((numbers + 2) / (numbers + 1)) / log(prop.range_max + 1)
    if prop.shape[1] == 1:
        return float((weights * numbers).sum()), float((weights * numbers**2).sum())
    # After the first number, of weight 1 - p, come n more up to the other one, of weight p. Means of n and
    # n^2: 1 / p and (2 - p) / p^2.
    p = weights[::-1]
    return float(((1 - p) * (1 + 1 / p)).sum()), float(((1 - p) * (1 + 2 / p + (2 - p) / p**2)).sum())
