"""Compiled loops over all steps, and when they are taken."""

from __future__ import annotations

from math import prod
from typing import Any, Final

from operad_sdk import CompiledLoops, KernelCall

LOOPS: Final = CompiledLoops("operad_rnn.compiled")

_SMALL: Final = 1 << 16
"""Multiplications in a step's product up to which calls of NumPy cost more than it."""


def steps_are_small(call: KernelCall) -> bool | str:
    """Return whether all steps may go into one compiled loop, as each has little to do; or why not."""
    prop: Any = call.prop
    if prop.use_sequence_length or prop.bounds() is not None or prop.projection_size is not None:
        return "the loop does without lengths of sequences, clipped states and projections"
    products = call.shape("data")[1] * prop.gates_size * prop.state_size
    return products <= _SMALL or f"a step multiplies {products} times, the loop pays up to {_SMALL}"


def size_of_gates(call: KernelCall) -> int:
    """Elements of the gates in all steps."""
    return int(prod(call.shape("data")[:2]) * call.prop.gates_size)
