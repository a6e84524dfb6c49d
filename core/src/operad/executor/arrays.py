"""The arrays an executor is bound to: their shapes, types and places, new or taken over."""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np

from operad.device import Context
from operad.errors import BindError
from operad.imperative import Access, ArraySpec, overlap_check
from operad.ndarray import NDArray
from operad.op import Shape


def taken_or_new(taken: Mapping[str, NDArray | None], name: str, spec: ArraySpec) -> NDArray:
    """The array of that name if it fits, else a new one of zeros."""
    found = taken.get(name)
    return found if found is not None and found._spec is spec else NDArray._new(spec)._set(0)


def lent(name: str, spec: ArraySpec, lender: Mapping[str, NDArray | None], what: str) -> NDArray:
    """The array of that name, which another executor has and two then use.

    Args:
        what: What it is of, for the message: an argument, say.

    Raises:
        BindError: There is none, or not of this shape, type and context.
    """
    found = lender.get(name)
    if found is None:
        raise BindError(f"simple_bind: shared_exec has no {what} {name!r}; leave it out of shared_arg_names")
    if found._spec is not spec:
        raise BindError(
            f"simple_bind: {what} {name!r} of shared_exec is {_words(found._spec)}, expected {_words(spec)}"
        )
    return found


def buffered(name: str, spec: ArraySpec, buffer: MutableMapping[str, NDArray]) -> NDArray:
    """An array in the memory that `buffer` has under the name; new memory of zeros where that is too small.

    Raises:
        BindError: What the buffer has is of another type or on another context.
    """
    found = buffer.get(name)
    if found is not None:
        if found.dtype != spec.dtype or found.context is not spec.ctx:
            raise BindError(
                f"simple_bind: {name!r} in shared_buffer is {_words(found._spec)}, expected {_words(spec)}; "
                "give executors of other types or contexts a buffer of their own"
            )
        if (part := part_of(found, spec.shape)) is not None:
            return part
    made = buffer[name] = NDArray._new(spec)._set(0)
    return made


def _words(spec: ArraySpec) -> str:
    return f"{spec.dtype.name}{spec.shape} on {spec.ctx}"


def check_apart(
    gradients: Mapping[str, NDArray | None], requests: Mapping[str, str], others: Mapping[str, NDArray]
) -> None:
    """Raise BindError if a gradient lies in memory that the executor reads or writes otherwise.

    Gradients that are all added to their arrays may share one.
    """
    uses = [Access(f"argument {name!r}", array, "read") for name, array in others.items()]
    uses += [
        Access(f"the gradient of {name!r}", grad, requests[name])
        for name, grad in gradients.items()
        if grad is not None
    ]
    if found := overlap_check(uses):
        raise BindError(f"bind: {found[0]} shares memory with {found[1]}; give it an array of its own")


def part_of(array: NDArray, shape: Shape) -> NDArray | None:
    """The beginning of an array as one of another shape; None if it is too small."""
    size = math.prod(shape)
    if array.shape == shape:
        return array
    return array.reshape(-1)[:size].reshape(shape) if size <= array.size else None


def set_values(what: str, target: NDArray, value: Any) -> None:
    """Give an array the values of an array or of nested lists, which must have its shape."""
    shape = value.shape if isinstance(value, NDArray) else np.shape(value)
    if shape != target.shape:
        raise BindError(
            f"{what} has shape {shape}, expected {target.shape}; `reshape` makes another executor"
        )
    target[...] = value.detach() if isinstance(value, NDArray) else value


def check_context(name: str, array: NDArray, ctx: Context) -> None:
    """Refuse an array that lies elsewhere."""
    if array.context is not ctx:
        raise BindError(f"bind: {name!r} is on {array.context}, expected {ctx}; move it with as_in_context")
