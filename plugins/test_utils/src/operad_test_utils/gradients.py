"""Gradients against differences: `(f(x + eps / 2) - f(x - eps / 2)) / eps`, element by element.

Source: python/mxnet/test_utils.py. Differs: the differences are of a double precision run where the operators
allow that, so that rounding is no part of them; there may be several outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from operad import Context, Executor, NDArray, Symbol, current_context, nd
from operad.errors import DTypeError, UnknownParameterError
from operad_test_utils.comparing import Array, assert_almost_equal, plain
from operad_test_utils.executing import Values, arrays_of, states_of
from operad_test_utils.tolerances import Tolerance, default_numeric_eps


def numeric_grad(
    executor: Executor,
    location: Mapping[str, Any],
    aux_states: Mapping[str, Any] | None = None,
    eps: float = 1e-4,
    use_forward_train: bool = True,
    dtype: Any = np.float32,
) -> dict[str, Array]:
    """The gradient of the sum of an executor's first output, by differences.

    Args:
        executor: Computes the output.
        location: Values of arguments; the gradient is with respect to these.
        aux_states: Values of auxiliary states, given again before every run.
        eps: Distance of the two points of a difference.
        use_forward_train: Whether the executor runs as in training.
        dtype: Element type of the result.
    """

    def value(arguments: Mapping[str, Array]) -> float:
        (output, *_) = _run(executor, arguments, aux_states, use_forward_train)
        return float(output.sum())

    found = _differences(value, {name: plain(array) for name, array in location.items()}, list(location), eps)
    return {name: gradient.astype(dtype) for name, gradient in found.items()}


def check_numeric_gradient(
    sym: Symbol,
    location: Values,
    aux_states: Values | None = None,
    numeric_eps: float | None = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    grad_nodes: Sequence[str] | Mapping[str, str] | None = None,
    use_forward_train: bool = True,
    ctx: Context | None = None,
    grad_stype_dict: Any = None,
    dtype: Any = np.float32,
) -> None:
    """Compare the gradients of a symbol with differences, for random gradients of its outputs.

    Args:
        sym: The symbol; smooth near `location`.
        location: Values of all arguments, in order or by name. Keep them small: every element takes two runs.
        aux_states: Auxiliary states, in order or by name.
        numeric_eps: Distance of the two points of a difference; None: that of `dtype`.
        rtol: As for `assert_almost_equal`, and so is `atol`.
        grad_nodes: Arguments whose gradients are compared, or a request for each: "write", "add" or "null".
            None: all.
        use_forward_train: Whether differences are those of a run as in training.
        ctx: Device; None: the default.
        grad_stype_dict: Storage types of gradients; they have no effect, since arrays are dense.
        dtype: Element type of the gradients that are checked.

    Raises:
        AssertionError: They differ; the message names the argument and the position.
        UnknownParameterError: Names are not those of the symbol.
    """
    context, names = ctx or current_context(), sym.list_arguments()
    requests = (
        dict(grad_nodes) if isinstance(grad_nodes, Mapping) else dict.fromkeys(grad_nodes or names, "write")
    )
    unknown = [name for name in requests if name not in names]
    if unknown:
        raise UnknownParameterError(f"grad_nodes names {unknown[0]!r}, expected some of {names}")
    arguments = arrays_of(names, location, context, dtype, "location")
    states = states_of(sym, aux_states, context, dtype)
    before = {name: np.random.normal(size=arguments[name].shape).astype(dtype) for name in requests}
    executor = sym.bind(
        context,
        {name: array.copy() for name, array in arguments.items()},
        {name: nd.array(value, context, dtype) for name, value in before.items()},
        {name: requests.get(name, "null") for name in names},
        {name: state.copy() for name, state in (states or {}).items()},
    )
    outputs = executor.forward(is_train=True)
    heads = [np.random.uniform(0.1, 1.1, output.shape).astype(output.dtype) for output in outputs]
    executor.backward([nd.array(head, context, head.dtype) for head in heads])

    wide, wide_states = _wide(sym, arguments, states, context)

    def value(moved: Mapping[str, Array]) -> float:
        outputs = _run(wide, moved, wide_states, use_forward_train)
        return sum(float((output * head).sum()) for output, head in zip(outputs, heads, strict=True))

    point = {name: plain(array).astype(np.float64) for name, array in arguments.items()}
    checked = [name for name, request in requests.items() if request != "null"]
    eps = default_numeric_eps()[np.dtype(dtype)] if numeric_eps is None else numeric_eps
    for name, gradient in _differences(value, point, checked, eps).items():
        found = executor.grad_dict[name]
        assert found is not None
        computed = found.asnumpy() - (before[name] if requests[name] == "add" else 0)
        called = (f"NUMERICAL_{name}", f"BACKWARD_{name}")
        assert_almost_equal(gradient.astype(dtype), computed, rtol, atol, called)


def _wide(
    sym: Symbol, arguments: Mapping[str, NDArray], states: Mapping[str, NDArray] | None, ctx: Context
) -> tuple[Executor, Mapping[str, NDArray]]:
    """An executor in double precision, and its states to begin with; in the given types where it must."""

    def bound(dtype: str | None) -> tuple[Executor, Mapping[str, NDArray]]:
        arrays, held = (
            {name: array.copy() if dtype is None else array.astype(dtype) for name, array in group.items()}
            for group in (arguments, states or {})
        )
        first = {name: state.copy() for name, state in held.items()}
        return sym.bind(ctx, arrays, grad_req="null", aux_states=held), first

    try:
        return bound("float64")
    except DTypeError:
        return bound(None)


def _run(
    executor: Executor, arguments: Mapping[str, Any], states: Mapping[str, Any] | None, is_train: bool
) -> list[Array]:
    for name, value in (states or {}).items():
        executor.aux_dict[name][...] = value
    for name, value in arguments.items():
        executor.arg_dict[name][...] = value
    return [output.asnumpy().astype(np.float64) for output in executor.forward(is_train=is_train)]


def _differences(
    value: Callable[[Mapping[str, Array]], float],
    point: Mapping[str, Array],
    names: Sequence[str],
    eps: float,
) -> dict[str, Array]:
    moved = {name: np.array(array, np.float64) for name, array in point.items()}
    found = {}
    for name in names:
        flat, slopes = moved[name].reshape(-1), np.zeros(moved[name].size)
        for i, center in enumerate(flat.copy()):
            flat[i] = center + eps / 2
            ahead = value(moved)
            flat[i] = center - eps / 2
            slopes[i] = (ahead - value(moved)) / eps
            flat[i] = center
        found[name] = slopes.reshape(moved[name].shape)
    return found
