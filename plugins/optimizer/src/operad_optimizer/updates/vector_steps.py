"""Kernels of the forms of update rules, in vector code."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from operad.dtypes import DType
from operad_optimizer.updates.in_vectors import DIVIDED_BYTES
from operad_sdk.differentiate import BranchForm
from operad_sdk.vector import compiled, divided_call, has_team


def kernel(branch: BranchForm, size: int, dtype: DType) -> Callable[..., None]:
    """One way through a rule, for weights of one size and type: a function of the arrays and the numbers."""
    form, read, written = branch.form, branch.read, branch.written
    count = len(form.inputs) - len(read)
    like, numbers = np.empty(size, dtype), np.empty((count, 1), dtype)
    layout = compiled(form, dtype).layout([*[like] * len(read), *numbers, *[like] * len(written)])
    sources = [*read, *[max(written) + 1] * count, *written]  # the output is the last that is written
    within = range(0, count * dtype.itemsize, dtype.itemsize)
    offsets = [*[0] * len(read), *within, *[0] * len(written)]
    is_divided = has_team() and size * dtype.itemsize * (len(read) + len(written)) >= DIVIDED_BYTES
    return divided_call(layout, max(sources), size, is_divided, sources, offsets)
