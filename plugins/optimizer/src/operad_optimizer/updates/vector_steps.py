"""Steps of rules in vector code.

The kernel of a rule is that of its scalar form, which is found by tracing the rule itself: one form for each
way through its branches (`operad_sdk.differentiate.BranchForms`). Numbers that change from call to call are
inputs of one element, which stand in one small array.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, final

import numpy as np

from operad.dtypes import DType
from operad_optimizer.updates.in_vectors import DIVIDED_BYTES
from operad_sdk import Array
from operad_sdk.differentiate import BranchForm, BranchForms
from operad_sdk.vector import compiled, divided_call, has_team


@final
class Steps:
    """Steps of a rule: in vector code where it can be, that is contiguous arrays that share no memory.

    Args:
        rule: What it does.
        num_arrays: How many arrays it takes, the output among them.
        num_shared: How many arrays of one element follow them.
    """

    def __init__(self, rule: Callable[..., None], num_arrays: int, num_shared: int) -> None:
        names = list(inspect.signature(rule).parameters)
        self._rule = rule
        self._num_arrays = num_arrays
        self._num_shared = num_shared
        self._forms = BranchForms(rule, names[:num_arrays], names[num_arrays:])
        self._kernels: dict[tuple[int, int, str], Callable[..., None]] = {}

    def __call__(self, *values: Any) -> None:
        """Move the weight."""
        arrays, numbers = values[: self._num_arrays], values[self._num_arrays :]
        if not _is_simple(*arrays):
            self._rule(*values)
            return
        if self._num_shared:
            shared = [
                array.flat[0] for array in numbers[: self._num_shared]
            ]  # which has `item`, as the array
            numbers = (*shared, *numbers[self._num_shared :])
        form, given = self._forms(*numbers)
        weight = arrays[0]
        dtype = weight.dtype
        key = (form.number, weight.size, dtype.char)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = _kernel(form, weight.size, dtype)
        if given:
            kernel(*arrays, np.array(given, dtype))
        else:
            kernel(*arrays)


def _is_simple(weight: Array, grad: Array, *rest: Array) -> bool:
    """Return whether there is something to move, and it lies as machine code expects it."""
    *states, out = rest
    if not (weight.size and weight.flags.c_contiguous and grad.flags.c_contiguous):
        return False
    others = [weight, grad]
    for array in states if out is weight else rest:
        if not array.flags.c_contiguous:
            return False
        for other in others:
            if np.may_share_memory(array, other):
                return False
        others.append(array)
    return True


def _kernel(branch: BranchForm, size: int, dtype: DType) -> Callable[..., None]:
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
