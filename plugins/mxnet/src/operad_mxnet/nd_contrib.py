"""Functions of `mx.nd.contrib` that are no operators: loops, branches, and checks of elements.

Loops and branches are Python's, so autograd records what their functions compute.

Source: python/mxnet/ndarray/contrib.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from operad import NDArray, nd
from operad.errors import ArgumentError

Nested = Any
"""An array, or lists of arrays, of lists, and so on."""


def foreach(body: Callable[..., Any], data: Nested, init_states: Nested) -> tuple[Nested, Nested]:
    """Call `out, states = body(slice, states)` for each slice of the first axis of `data`.

    Args:
        body: What is done in a step; its outputs may be nested lists.
        data: Arrays of one length.
        init_states: The states of the first step.

    Returns:
        The outputs of all steps, stacked along a new first axis, and the last states.

    Raises:
        ArgumentError: There is nothing to go over, or lengths differ.
    """
    lengths = {len(array) for array in _flat(data)}
    if len(lengths) != 1 or lengths == {0}:
        raise ArgumentError(f"foreach: data has lengths {sorted(lengths)}, expected one of at least 1")
    states, steps = init_states, []
    for number in range(lengths.pop()):
        out, states = body(_mapped(lambda array, number=number: array[number], data), states)
        steps.append(out)
    return _stacked("foreach", steps), states


def while_loop(
    cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any, max_iterations: int | None = None
) -> tuple[Nested, Nested]:
    """Call `out, loop_vars = func(*loop_vars)` while `cond(*loop_vars)` is true.

    Args:
        cond: Gives an array of one element.
        func: What is done in a step; its outputs may be nested lists or None.
        loop_vars: An array or a list of arrays.
        max_iterations: The most steps there may be.

    Returns:
        The outputs of all steps, stacked, and the last `loop_vars`. The stack is as long as
        `max_iterations`; what no step computed is 0 (in MXNet anything).

    Raises:
        ArgumentError: `max_iterations` is missing, or outputs differ from step to step.
    """
    if max_iterations is None:
        raise ArgumentError("while_loop: max_iterations is missing; the outputs are made as long as that")
    current = list(loop_vars) if isinstance(loop_vars, (list, tuple)) else [loop_vars]
    steps: list[Any] = []
    while len(steps) < max_iterations and _is_true("while_loop", cond(*current)):
        out, new = func(*current)
        new = [] if new is None else list(new) if isinstance(new, (list, tuple)) else [new]
        if len(new) != len(current):
            raise ArgumentError(f"while_loop: func gave {len(new)} loop_vars, expected {len(current)}")
        current = new
        steps.append([] if out is None else out)
    outputs = _stacked("while_loop", steps) if steps else []
    return _mapped(lambda stack: _extended(stack, max_iterations), outputs), (
        current if isinstance(loop_vars, (list, tuple)) else current[0]
    )


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """`then_func()` if `pred`, an array of one element, is true, else `else_func()`."""
    return then_func() if _is_true("cond", pred) else else_func()


def isnan(data: NDArray) -> Any:
    """1 where an element is no number, else 0."""
    return data != data  # noqa: PLR0124 - only what is no number differs from itself


def isinf(data: NDArray) -> Any:
    """1 where an element is infinite, else 0."""
    return abs(data) == math.inf


def isfinite(data: NDArray) -> Any:
    """1 where an element is neither infinite nor no number, else 0."""
    return abs(data) < math.inf


def _is_true(call: str, pred: Any) -> bool:
    if not isinstance(pred, NDArray) or pred.size != 1:
        raise ArgumentError(f"{call}: the condition is {pred!r}, expected an array of one element")
    return bool(pred.asscalar())


def _flat(value: Nested) -> list[NDArray]:
    if isinstance(value, NDArray):
        return [value]
    return [array for item in value for array in _flat(item)]


def _mapped(function: Callable[..., Any], value: Nested) -> Nested:
    if isinstance(value, NDArray):
        return function(value)
    return [_mapped(function, item) for item in value]


def _stacked(call: str, steps: Sequence[Nested]) -> Nested:
    first = steps[0]
    if isinstance(first, NDArray):
        if any(not isinstance(step, NDArray) or step.shape != first.shape for step in steps):
            raise ArgumentError(
                f"{call}: outputs differ in shape or structure, expected those of the first step"
            )
        return nd.stack(*steps, axis=0)
    if any(isinstance(step, NDArray) or len(step) != len(first) for step in steps):
        raise ArgumentError(f"{call}: outputs differ in shape or structure, expected those of the first step")
    return [_stacked(call, each) for each in zip(*steps, strict=True)]


def _extended(stack: NDArray, length: int) -> NDArray:
    missing = length - len(stack)
    if not missing:
        return stack
    rest = nd.zeros((missing, *stack.shape[1:]), ctx=stack.context, dtype=stack.dtype)
    joined: NDArray = nd.concatenate([stack, rest], axis=0)
    return joined
