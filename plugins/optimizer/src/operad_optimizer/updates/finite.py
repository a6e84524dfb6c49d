"""Check of gradients for overflow: the result is one number, which stays on the device."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from operad_optimizer.updates.family import BLOCK, blocks, sourced, step_contract
from operad_sdk import Array, define, param

_START: Final[Any] = param(bool, True, doc="Begin with 1; else with what stands in `out`.")
_SOURCE: Final = sourced("AllFiniteCPUKernel, src/operator/contrib/all_finite-inl.h")
_IS_ANSWER: Final = "the answer is 0 or 1, which is what says that there is a NaN"


def _multi_all_finite(array_: tuple[Array, ...], init_output: bool, output: Array) -> None:
    if init_output:
        output[...] = 1
    for array in array_:
        for (part,) in blocks([array]):
            np.multiply(output, np.isfinite(part).all(), out=output)


def _all_finite(data: Array, init_output: bool, output: Array) -> None:
    _multi_all_finite((data,), init_output, output)


_CONTRACT: Final = step_contract(
    reference=lambda *arrays: np.array([float(all(np.isfinite(array.sum()) for array in arrays))]),
    params={"init_output": (True,)},
    narrowed={"init_output": "else it depends on what stands in the output; tests/test_several.py has it"},
    nan_policy=_IS_ANSWER,
    computed_at_once=BLOCK,
)

all_finite = define(
    "all_finite", "data:(...) -> output:float32(1)", _all_finite,
    summary="1 where all elements are finite, else 0.",
    example=("[1, float('inf')]", "[0.]"), source=_SOURCE,
    params={"init_output": _START}, accepts="floating", contract=_CONTRACT,
)  # fmt: skip
multi_all_finite = define(
    "multi_all_finite", "array_[num_arrays]:(*S[i]) -> output:float32(1)", _multi_all_finite,
    summary="1 where all elements of all arrays are finite, else 0.",
    example=("[1]", "[2, 3]", "num_arrays=2", "[1.]"), source=_SOURCE,
    params={"num_arrays": param(int, 1, ge=1, doc="Number of arrays."), "init_output": _START},
    accepts="floating", contract=_CONTRACT,
)  # fmt: skip
