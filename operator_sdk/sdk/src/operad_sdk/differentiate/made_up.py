"""Results that are not computed: arrays of the right shape, type and layout, in the trace of a program.

All lie in the same zeros, which nobody looks at, so that a step of any size is noted in microseconds and
takes no memory. Only functions of which nothing is known are called, once for each trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from operad.interrupts import raise_of_handler
from operad.operator import ScalarForm
from operad_sdk.differentiate.dispatch import each
from operad_sdk.differentiate.errors import refusal
from operad_sdk.differentiate.indexing import is_basic
from operad_sdk.differentiate.tracing import PROGRAM, AppliedPrimitive, Node, Primitive

VIEWS: Final = frozenset(("reshape", "transpose", "broadcast", "flip"))
"""Forms of primitives that give views, where memory allows them."""
REDUCTIONS: Final = frozenset(("sum", "max", "min", "prod", "any", "all"))
"""Forms of primitives that reduce axes."""
_LEAST_BYTES: Final = 1 << 26
"""Bytes from which systems give zeros page by page, when they are read."""
_memory = np.zeros(0, np.uint8)
_LIKE_FIRST: Final = frozenset(("replace", "put", "cumsum"))
_SHAPED_BY_VALUES: Final = frozenset((np.nonzero, np.flatnonzero))


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array that may not be written, in memory that all such arrays share."""
    global _memory
    memory, dtype = _memory, np.dtype(dtype)
    size_bytes = prod(shape) * dtype.itemsize
    if size_bytes > len(memory):
        memory = _memory = np.zeros(max(_LEAST_BYTES, 2 * size_bytes), np.uint8)
        memory.flags.writeable = False
    return memory[:size_bytes].view(dtype).reshape(shape)


def noted(step: AppliedPrimitive) -> Node:
    """The node of a step, which is not computed.

    Raises:
        TraceError: As `made_up`.
    """
    primitive, args, options = step
    values = [each(arg, lambda one: one.value if isinstance(one, Node) else one) for arg in args]
    lying = [each(arg, lambda one: one.lying if isinstance(one, Node) else one) for arg in args]
    node = Node(PROGRAM, made_up(primitive, values, options), is_input=True, step=step)
    node.lying = _laid_out(primitive, node.value, lying, options)
    return node


def made_up(primitive: Primitive, values: Sequence[Any], options: dict[str, Any]) -> Any:
    """Array that stands for the result of a primitive.

    Raises:
        TraceError: Its shape depends on values, or a function of which nothing is known refuses zeros.
    """
    form, function = primitive.form, primitive.function
    if form in VIEWS or (form == "take" and is_basic(values[1])):
        return function(*values, **options)
    _expect_shape(form, function, values)
    if is_elementwise(primitive):
        small = function(*map(_first, values), **options)
        arrays = values[:1] if form == "cast" else values
        return zeros(np.broadcast_shapes(*map(np.shape, arrays)), np.asarray(small).dtype)
    if form in REDUCTIONS:
        x, axis, keepdims = values
        return zeros(_reduced(x.shape, axis, keepdims), function(_first(x), axis, keepdims).dtype)
    if form in _LIKE_FIRST:
        if form == "replace" and is_basic(values[2]):
            np.broadcast_to(values[1], values[0][values[2]].shape)  # raises as NumPy does
        like = np.cumsum(_first(values[0])) if form == "cumsum" else values[0]  # short integers become long
        return zeros(values[0].shape, like.dtype)
    if function is np.matmul:
        return _product(*values)
    try:
        return np.asarray(function(*values, **options))
    except Exception as error:  # what an author catches of it would decide what is traced
        raise_of_handler(error)
        name = getattr(function, "__name__", function)
        raise refusal(f"{name} refuses arrays of zeros ({type(error).__name__}: {error})") from error


def _laid_out(primitive: Primitive, made: Any, args: Sequence[Any], options: dict[str, Any]) -> Any:
    """A result that was made up, with its axes in memory as NumPy orders them: as those of the arguments lie.

    Whether a reshape is a view follows from it, and so what a later write changes.
    """
    if is_view(primitive, args):
        return primitive.function(*args, **options)
    if primitive.form in ("replace", "put"):
        return args[0] if isinstance(args[0], np.ndarray) else made
    arrays = [one for one in args if isinstance(one, np.ndarray)]
    if not is_elementwise(primitive) or all(one.flags.c_contiguous for one in arrays):
        return made
    given: Any = [*arrays, None]
    flags: Any = [["readonly"]] * len(arrays) + [["writeonly", "allocate"]]
    strides = np.nditer(given, ["zerosize_ok"], flags).operands[-1].strides
    order = sorted(range(made.ndim), key=lambda axis: -strides[axis])
    return zeros(tuple(made.shape[axis] for axis in order), made.dtype).transpose(np.argsort(order))


def is_elementwise(primitive: Primitive) -> bool:
    """Return whether a primitive computes an element of the same position of each argument."""
    form, function = primitive.form, primitive.function
    if isinstance(form, ScalarForm) or form in ("where", "cast"):
        return True
    return isinstance(function, np.ufunc) and function.signature is None and function.nout == 1


def is_view(primitive: Primitive, args: Sequence[Any]) -> bool:
    """Return whether a primitive gives a view, where memory allows one."""
    return primitive.form in VIEWS or (primitive.form == "take" and is_basic(args[1]))


def _first(value: Any) -> Any:
    """An array's first element, as an array of as many axes."""
    return value[(slice(1),) * value.ndim] if isinstance(value, np.ndarray) else value


def _reduced(shape: tuple[int, ...], axis: Any, keepdims: bool) -> tuple[int, ...]:
    rank = len(shape)
    gone = range(rank) if axis is None else [int(one) % rank for one in np.atleast_1d(axis)]
    if keepdims:
        return tuple([1 if i in gone else n for i, n in enumerate(shape)])
    return tuple([n for i, n in enumerate(shape) if i not in gone])


def _product(a: Any, b: Any) -> Any:
    small = np.matmul(a[(..., slice(1), slice(0))], b[(..., slice(0), slice(1))])  # of no products at all
    return zeros((*small.shape[:-2], a.shape[-2], b.shape[-1]), small.dtype)


def _expect_shape(form: Any, function: Any, values: Sequence[Any]) -> None:
    index = values[1] if form in ("take", "replace") and len(values) > 1 else ()
    items = index if isinstance(index, tuple) else (index,)
    is_mask = form == "take" and any(
        isinstance(item, np.ndarray) and item.dtype.kind == "b" for item in items
    )
    if is_mask or function in _SHAPED_BY_VALUES or (function is np.where and len(values) == 1):
        raise refusal("how many elements a result has depends on values")
