"""`_arange` and `_linspace`: evenly spaced numbers in a row.

Numbers are computed from their place in double precision and rounded once, so that no error adds up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from operad.errors import ParamError
from operad_sdk import Array, Contract, OpContext, OperatorProperty, Output, PartialShape, operator, param


def repeated(op_ctx: OpContext, count: int, repeat: int) -> Array:
    """0, 1, 2, ..., each `repeat` times, `count` numbers in all, in double precision."""
    places = op_ctx.xp.arange(count)
    if repeat != 1:
        places //= repeat
    return places.astype(np.float64)


@operator("_arange")
class Arange(OperatorProperty):
    """Numbers from `start`, `step` apart, up to and without `stop`; each `repeat` times.

    Without `stop` they go from 0 to `start`.

    Shapes:
        output: (ceil((stop - start) / step) * repeat,), of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd.arange(2, 6, step=2, repeat=2).asnumpy()
        array([2., 2., 4., 4.], dtype=float32)

    Source: RangeParam, src/operator/tensor/init_op.h.
    """

    has_gradient = False
    start = param(float, doc="First number; the end where there is no `stop`.")
    stop = param(float, None, doc="End, not included.")
    step = param(float, 1.0, doc="Distance of two numbers.")
    repeat = param(int, 1, ge=1, doc="How often each number comes.")
    infer_range = param(bool, False, doc="Go on for as long as the output turns out to be.")
    ctx = param(str, "", doc="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(length)"
    # With `infer_range` the length is another operator's to say, which a check of this one alone lacks.
    contract = Contract(
        params={"infer_range": (False,)},
        reference=lambda start, stop, step, repeat: np.repeat(
            np.arange(0 if stop is None else start, start if stop is None else stop, step), repeat
        ),
    )

    def infer_shape(
        self, in_shapes: Sequence[PartialShape]
    ) -> tuple[list[PartialShape], list[PartialShape], list[PartialShape]]:
        """The length, unless it is to follow from the use."""
        return [], [(None,) if self.infer_range else (self._length(),)], []

    def forward(self, op_ctx: OpContext, output: Output) -> None:
        """From the place of each number."""
        first, _ = self._ends()
        output.assign(first + repeated(op_ctx, output.shape[0], self.repeat) * self.step)

    def _ends(self) -> tuple[float, float]:
        if self.stop is None and not self.infer_range:
            return 0.0, float(self.start)
        return float(self.start), float(self.start if self.stop is None else self.stop)

    def _length(self) -> int:
        first, end = self._ends()
        if self.step == 0:
            raise ParamError("_arange: parameter 'step' is 0, expected another number")
        numbers: int = max(0, math.ceil((end - first) / self.step))
        return numbers * int(self.repeat)


@operator("_linspace")
class Linspace(OperatorProperty):
    """`num` numbers at equal distances from `start` to `stop`.

    Shapes:
        output: (num,), of type `dtype`

    Example:
        >>> import operad as od
        >>> od.nd._linspace(0, 1, 5).asnumpy()
        array([0.  , 0.25, 0.5 , 0.75, 1.  ], dtype=float32)

    Source: LinspaceParam, src/operator/tensor/init_op.h.
    """

    has_gradient = False
    start = param(float, doc="First number.")
    stop = param(float, doc="Last number, or the end where `endpoint` is false.")
    num = param(int, ge=0, doc="How many numbers.")
    endpoint = param(bool, True, doc="Whether `stop` is the last number.")
    ctx = param(str, "", doc="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(num)"
    contract = Contract(
        reference=lambda start, stop, num, endpoint: np.linspace(start, stop, num, endpoint=endpoint)
    )

    def forward(self, op_ctx: OpContext, output: Output) -> None:
        """From the place of each number; the last one is exact."""
        output.assign(op_ctx.xp.linspace(self.start, self.stop, self.num, endpoint=self.endpoint))
