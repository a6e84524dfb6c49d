"""Ways through the steps, and when each is taken.

Calls of NumPy (`STEPS`) are for every cell. What has little to do in a step goes into one compiled loop
(`LOOP`), and the rest into a loop that calls kernels in vector code without the interpreter (`VECTORS`).
"""

from __future__ import annotations

from enum import Enum, auto
from math import prod
from typing import Any, Final

import numpy as np

from operad_sdk import CompiledLoops, KernelCall


class Way(Enum):
    """Way of a cell through its steps."""

    STEPS = auto()
    LOOP = auto()
    VECTORS = auto()


LOOPS: Final = CompiledLoops("operad_rnn.compiled")

_SMALL: Final = 1 << 16
"""Multiplications in a step's product up to which calls of NumPy cost more than it."""


def steps_are_small(call: KernelCall) -> bool | str:
    """Return whether all steps may go into one compiled loop, as each has little to do; or why not."""
    prop: Any = call.prop
    if prop.use_sequence_length or prop.bounds() is not None or prop.projection_size is not None:
        return "the loop does without lengths of sequences, clipped states and projections"
    products = _products(call)
    return products <= _SMALL or _much(products, "the loop pays up to")


def reason_against_vectors(call: KernelCall, is_large: bool) -> str | None:
    """Reason why steps are not kernels in vector code; see `InVectorCode`."""
    if call.ctx.xp is not np:
        return "vector code runs on the host alone"
    if not call.size("data"):
        return "there is nothing to compute"
    products = _products(call)
    return None if is_large or products > _SMALL else _much(products, "vector code pays from")


def size_of_gates(call: KernelCall) -> int:
    """Elements of the gates in all steps."""
    return int(prod(call.shape("data")[:2]) * call.prop.gates_size)


def _products(call: KernelCall) -> int:
    prop: Any = call.prop
    return int(call.shape("data")[1] * prop.gates_size * prop.state_size)


def _much(products: int, what: str) -> str:
    return f"a step multiplies {products} times, {what} {_SMALL}"
