"""`_arange` and `_linspace`: evenly spaced numbers in a row.

Numbers are computed from their position in double precision and rounded once, so that no error adds up.
"""

from __future__ import annotations

import math

import numpy as np

from operad_sdk import (
    Array,
    Contract,
    OpContext,
    OperatorProperty,
    ParamError,
    PartialShape,
    as_dtype,
    operator,
    param,
)


def fill_spaced(output: Array, start: float, step: float, repeat: int) -> None:
    """Write `start + step * (position // repeat)`; for integers both are rounded towards zero first.

    So does MXNet.
    """
    if output.dtype.kind in "iu":
        start, step = int(start), int(step)
    positions = np.arange(output.size, like=output)
    if repeat != 1:
        positions //= repeat
    output[...] = (start + positions * step).reshape(output.shape)


def _ranged(start: float, stop: float | None, step: float, repeat: int, infer_range: bool) -> PartialShape:
    if step == 0:
        raise ParamError("_arange: parameter 'step' is 0, expected another number")
    distance = start if stop is None else stop - start
    return (None if infer_range else max(0, math.ceil(distance / step)) * repeat,)


def _numbers(start: float, stop: float | None, step: float, repeat: int, dtype: str) -> Array:
    """NumPy's, for the contract checks; integers begin at a whole one and take whole steps."""
    first, end = (0.0, start) if stop is None else (start, stop)
    numbers = np.arange(first, end, step)
    if as_dtype(dtype).kind in "iu":
        numbers = int(first) + np.arange(len(numbers)) * int(step)
    return np.repeat(numbers, repeat)


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

    start = param(float, doc="First number; the end where there is no `stop`.")
    stop = param(float, None, doc="End, not included.")
    step = param(float, 1.0, doc="Distance of two numbers.")
    repeat = param(int, 1, ge=1, doc="Number of repetitions of each number.")
    infer_range = param(bool, False, doc="Go on for as long as the output turns out to be.")
    ctx = param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(*ranged(start, stop, step, repeat, infer_range))"
    functions = {"ranged": _ranged}
    contract = Contract(
        params={"infer_range": (False,)},
        narrowed={"infer_range": "then another operator says the length, and a check has this one alone"},
        reference=_numbers,
    )

    def forward(
        output: Array, start: float, stop: float | None, step: float, repeat: int, infer_range: bool
    ) -> None:
        """Compute each number from its position."""
        fill_spaced(output, 0.0 if stop is None and not infer_range else start, step, repeat)


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

    start = param(float, doc="First number.")
    stop = param(float, doc="Last number, or the end where `endpoint` is false.")
    num = param(int, ge=0, doc="Number of numbers.")
    endpoint = param(bool, True, doc="Include `stop` as the last number.")
    ctx = param(str, "", ignored="Accepted for MXNet's files; the call or the binding says where.")
    dtype = param("dtype", "float32", doc="Element type of the output.")
    spec = "-> output:dtype(num)"
    contract = Contract(
        reference=lambda start, stop, num, endpoint: np.linspace(start, stop, num, endpoint=endpoint)
    )

    def forward(output: Array, op_ctx: OpContext, start: float, stop: float, endpoint: bool) -> None:
        """Compute each number from its position; the last one is exact."""
        output[...] = op_ctx.xp.linspace(start, stop, output.size, endpoint=endpoint)
