"""Kernels that move weights by rules in vector code: one pass over memory, where NumPy takes several.

They compute what a rule computes, step by step and with every rounding, so their bits are those of NumPy, in
any number of parts: which of the two moves a weight changes nothing. The kernel of a rule is that of its
scalar form, which is found by tracing the rule itself: one form for each way through its branches. Numbers
that change from call to call are inputs of one element, which stand in one small array. What traces and
compiles is imported with the first call that is large enough.

Mixed forms have none: NumPy's conversions from and to half precision take nine tenths of their time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from math import prod
from typing import Any, Final, final

import numpy as np

from operad.first_use import cached_property, import_module
from operad.operator import Cost, KernelCall
from operad_sdk import Array, OperatorProperty
from operad_sdk.form_kernels import InVectorCode

_FROM_SIZE: Final = 1 << 9
"""Elements of all weights from which a kernel takes less time than NumPy's functions."""
_FROM_SIZE_OF_FEW: Final = 1 << 12
"""The same for rules of few arrays, some of which are few steps in NumPy: 64x64 weights take 8.1 us each way
in plain descent, 10.3 and 9.4 with momentum, 20 and 12 in Adam."""
_FEW_ARRAYS: Final = 4
"""Weight, gradient, output, and a state."""
DIVIDED_BYTES: Final = 1 << 24
"""Bytes, read and written, from which threads divide a step: below, a hand-over takes what is gained. Adam on
two cores: 0.15 ms on one thread and 0.12 to 0.20 on two for 400,000 weights, 0.43 and 0.29 for a million."""
_CALL_US: Final = 5.0
"""Time of a call, whatever the size."""
_STEPS: Final = 0.05
"""Loop operations that the instructions of a rule take for each of its arrays and each element."""


@final
class VectorRule:
    """A rule in vector code, where arrays are contiguous and what is written is apart from all else.

    Args:
        rule: What it does.
        num_arrays: How many arrays it takes, the output among them.
        num_shared: How many arrays of one element follow them.
    """

    def __init__(self, rule: Callable[..., None], num_arrays: int, num_shared: int) -> None:
        self.__signature__ = inspect.signature(rule)
        self.__module__, self.__doc__ = rule.__module__, rule.__doc__
        self._rule, self._num_arrays, self._num_shared = rule, num_arrays, num_shared
        self._kernels: dict[tuple[int, int, str], Callable[..., None]] = {}

    @cached_property
    def _forms(self) -> Any:
        """A form for each way through the rule's branches."""
        names = list(self.__signature__.parameters)
        forms = import_module("operad_sdk.differentiate").BranchForms
        return forms(self._rule, names[: self._num_arrays], names[self._num_arrays :])

    def __call__(self, *values: Any) -> None:
        """Move the weight."""
        arrays, numbers = values[: self._num_arrays], values[self._num_arrays :]
        if not _is_simple(*arrays):
            self._rule(*values)
            return
        if self._num_shared:
            # Numbers of NumPy have `item`, as the arrays.
            shared = [array.flat[0] for array in numbers[: self._num_shared]]
            numbers = (*shared, *numbers[self._num_shared :])
        form, given = self._forms(*numbers)
        weight = arrays[0]
        dtype = weight.dtype
        key = (form.number, weight.size, dtype.char)
        kernel = self._kernels.get(key)
        if kernel is None:
            make = import_module("operad_optimizer.updates.vector_steps").kernel
            kernel = self._kernels[key] = make(form, weight.size, dtype)
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


def by_vectors(operator: type[OperatorProperty], function: Callable[..., object], num_arrays: int) -> None:
    """Give an operator the kernel in vector code.

    Args:
        function: Its forward function, of a `VectorRule`.
        num_arrays: How many arrays the rule takes for each weight, the output among them.
    """

    def cost(call: KernelCall) -> Cost:
        size = _size(call)
        passes = 2 * num_arrays - 3  # all are read but the output, and written but the weight and gradient
        size_bytes = float(passes * size * call.in_types[0].itemsize)
        found = Cost(_STEPS * num_arrays * size, size_bytes=size_bytes, beside_us=_CALL_US)
        is_divided = size_bytes >= DIVIDED_BYTES and import_module("operad_sdk.vector").has_team()
        return found._replace(pooled_us=found.work_us) if is_divided else found

    def refusal(call: KernelCall, is_large: bool) -> str | None:
        size, least = _size(call), _FROM_SIZE_OF_FEW if num_arrays <= _FEW_ARRAYS else _FROM_SIZE
        return None if is_large or size >= least else f"{size} elements, vector code pays from {least}"

    operator.kernel(
        "forward", device="cpu", priority=1, when=InVectorCode(refusal), name="in_vectors", cost=cost
    )(function)


def _size(call: KernelCall) -> int:
    """Number of elements of all weights, of which each has a gradient; what else is given is small."""
    return sum(map(prod, call.in_shapes)) // 2
