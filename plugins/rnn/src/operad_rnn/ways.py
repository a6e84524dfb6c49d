"""The condition and the cost of kernels in vector code, in whose place NumPy's calls compute each step."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from operad_rnn import vector_steps
from operad_sdk import Cost, KernelCall

_SMALL: Final = 1 << 10
"""Elements of the gates in all steps up to which kernels are not worth their compilation."""


def reason_against_vectors(call: KernelCall, is_large: bool) -> str | None:
    """Reason why steps are not kernels in vector code; see `InVectorCode`."""
    if call.ctx.xp is not np:
        return "vector code runs on the host alone"
    if not call.size("data"):
        return "there is nothing to compute"
    elements = prod(call.shape("data")[:2]) * call.prop.gates_size
    if is_large or elements > _SMALL:
        return None
    return f"all gates have {elements} elements, vector code pays from {_SMALL}"


def vector_cost(call: KernelCall, passes: int = 1) -> Cost:
    """The operator's products; threads share them where the batch has rows for two."""
    prop: Any = call.prop
    found: Cost = prop.cost(call.in_shapes, call.out_shapes) * passes
    found = found._replace(flops=0.0, single_flops=found.product_flops)
    is_shared = call.shape("data")[1] * prop.directions >= 2 * vector_steps.ROWS
    return found._replace(pooled_us=found.work_us) if is_shared else found
