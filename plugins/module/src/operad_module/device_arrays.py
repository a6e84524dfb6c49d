"""The arrays that several devices have of one thing: filled, joined, averaged, shared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from operad import Executor, NDArray, cpu, nd
from operad.errors import BindError


def copy_values(source: Any, target: NDArray) -> None:
    """Copy an array, or what NumPy makes of a value, into `target`."""
    if isinstance(source, NDArray):
        source.copyto(target)
    else:
        target[...] = np.asarray(source)


def joined(arrays: Sequence[NDArray], axis: int) -> NDArray:
    """The parts of a batch as one array on the first device; the first part where there is no axis."""
    if len(arrays) == 1 or axis < 0:
        return arrays[0]
    ctx = arrays[0].context
    whole: NDArray = nd.concat(*(array.as_in_context(ctx) for array in arrays), dim=axis)
    return whole


def average(arrays: Sequence[NDArray]) -> NDArray:
    """The mean of the arrays of several devices, new and on the host; of equal ones the very same values."""
    first = arrays[0].copyto(cpu())
    if len(arrays) == 1:
        return first
    # As a sum over a count three equal arrays would change in their last bits.
    distance = nd.add_n(*(array.as_in_context(first.context) - first for array in arrays[1:]))
    mean: NDArray = first + distance / len(arrays)
    return mean


def check_shared(made: Executor, owner: Executor, names: Sequence[str]) -> None:
    """Raise BindError unless an executor has the very parameters of their owner."""
    for name in names:
        if name not in owner.arg_dict:
            raise BindError(
                f"bind: the shared module has no parameter {name!r}; the module that shares its arrays "
                "(for buckets, that of the default key) must have every parameter"
            )
        if made.arg_dict[name] is not owner.arg_dict[name]:
            own, other = made.arg_dict[name], owner.arg_dict[name]
            raise BindError(
                f"bind: parameter {name!r} is {own.dtype.name}{own.shape}, but that of the shared module is "
                f"{other.dtype.name}{other.shape} on {other.context}; they must agree to be shared"
            )
