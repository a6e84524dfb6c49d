"""Processors for which kernels compile, whatever this one is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from operad_sdk.vector import NAME, BoundKernel, TableLayout, machine, words_address
from operad_sdk.vector.machine import Machine, object_code

OTHERS = {
    "AVX2": Machine("x86_64-unknown-linux-gnu", "x86-64-v3", ""),
    "AVX-512": Machine("x86_64-unknown-linux-gnu", "x86-64-v4", ""),
    "ARM": Machine("aarch64-unknown-linux-gnu", "neoverse-n1", ""),
    "ARM with SVE": Machine("aarch64-unknown-linux-gnu", "neoverse-v1", ""),
}


def run_for(other: Machine, layout: TableLayout, arrays: Sequence[NDArray[Any]]) -> None:
    """Compute all of a kernel by code for another processor, of which this one has the instructions."""
    call = machine.function_at(machine._loaded(object_code(layout.kernel.text, other), NAME))
    bound, scratch = BoundKernel(layout, arrays), np.empty(layout.scratch_bytes, np.uint8)
    call(bound.table, 0, layout.units, words_address(scratch))
