"""`_random_randint`: integers, each as likely as the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from operad_sampling.from_numbers import Drawing
from operad_sampling.parts import fill_in_parts
from operad_sdk import Array, Contract, Distribution, OpContext, ParamError, operator, param


@operator("_random_randint")
class RandomRandint(Drawing):
    """Integers from `low` up to and without `high`, each as likely as the others.

    No gradient flows.

    Shapes:
        output: `shape`, of type `dtype`.

    Example:
        >>> import operad as od
        >>> x = od.nd.random_randint(2, 5, shape=(1000,))
        >>> sorted(set(x.asnumpy().tolist()))
        [2, 3, 4]

    Source: SampleRandIntParam, src/operator/random/sample_op.h.
    Differs: a range that is empty, or beyond the type, is refused.
    """

    low = param(int, doc="The smallest number.")
    high = param(int, doc="One more than the largest.")
    shape = param("shape", None, doc="Shape of the output; left out: the graph's.")
    ctx = param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", None, doc="int32 or int64; left out: int32.")

    types = ("int32", "int64")
    usual_type = "int32"
    spec = "-> output:drawn(*shape)"
    element_cost = 10
    contract = Contract(
        params={"low": (-5, 0), "high": (1, 1000), "shape": ((), (2, 3), (4,)), "dtype": (None, *types)},
        distribution=Distribution(
            mean=lambda prop: (prop.low + prop.high - 1) / 2,
            variance=lambda prop: ((prop.high - prop.low) ** 2 - 1) / 12,
            cdf=lambda prop, x: (np.floor(x) - prop.low + 1) / (prop.high - prop.low),
            params=[{"low": -3, "high": 9, "shape": shape} for shape in ((100, 100), (300, 300))],
        ),
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        if self.low >= self.high:
            raise ParamError(f"{self.name}: high is {self.high}, expected more than low, {self.low}")
        limits = np.iinfo(self.drawn)
        if self.low < limits.min or self.high > limits.max + 1:
            raise ParamError(
                f"{self.name}: the range is [{self.low}, {self.high}), expected at least {limits.min} and at "
                f"most {limits.max + 1}, as {self.drawn} has it"
            )

    def forward(output: Array, op_ctx: OpContext, low: int, high: int) -> None:
        """Draw in parts."""

        def fill(generator: Any, chunk: Array) -> None:
            chunk[...] = generator.integers(low, high, chunk.shape, dtype=chunk.dtype)

        fill_in_parts(op_ctx, output, fill)
