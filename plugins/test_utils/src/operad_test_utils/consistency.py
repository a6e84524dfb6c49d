"""Comparison of a symbol on all devices and in all types, and of the updates of two optimizers.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from operad import Executor, NDArray, Symbol, nd
from operad.errors import ArgumentError
from operad_test_utils.comparing import assert_almost_equal, compare_ndarray_tuple, plain
from operad_test_utils.tolerances import Tolerance

_log: Final = logging.getLogger("operad.test_utils")


def check_consistency(
    sym: Symbol | Sequence[Symbol],
    ctx_list: Sequence[Mapping[str, Any]],
    scale: float = 1.0,
    grad_req: Any = "write",
    arg_params: Mapping[str, Any] | None = None,
    aux_params: Mapping[str, Any] | None = None,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    raise_on_err: bool = True,
    ground_truth: Mapping[str, Any] | None = None,
    equal_nan: bool = False,
    use_uniform: bool = False,
    rand_type: Any = np.float64,
) -> dict[str, Any]:
    """Compare a symbol's outputs and gradients on several devices and in several element types.

    Each is compared with the one of highest precision, by the tolerance of the coarser type. Gradients are
    those for the outputs themselves as gradients of the outputs.

    Args:
        sym: The symbol; or one for each device, with the same names.
        ctx_list: What `simple_bind` takes, such as `{"ctx": od.cpu(), "data": (2, 3), "type_dict": {...}}`.
        scale: Standard deviation of random arguments.
        grad_req: As in `simple_bind`; "null": outputs alone are compared.
        arg_params: Values of arguments; others are random.
        aux_params: Values of auxiliary states; others are 0.
        rtol: As for `assert_almost_equal`, and so is `atol`.
        raise_on_err: Whether to raise at a difference; otherwise it is logged.
        ground_truth: What to compare with instead, by name of output or argument.
        equal_nan: Whether NaN equals NaN.
        use_uniform: Draw random arguments between `-0.92 scale` and `0.92 scale` instead.
        rand_type: Element type that random values are drawn in.

    Returns:
        What was compared with, by name.

    Raises:
        AssertionError: There is a difference; the message names device, type, array and position.
        ArgumentError: There are fewer than two to compare, or not as many symbols.
    """
    symbols = [sym] * len(ctx_list) if isinstance(sym, Symbol) else list(sym)
    if len(ctx_list) < 2 - (ground_truth is not None) or len(symbols) != len(ctx_list):
        raise ArgumentError(
            f"check_consistency: got {len(symbols)} symbols and {len(ctx_list)} contexts, expected as many, "
            "and two or more"
        )
    executors = [
        one.simple_bind(grad_req=grad_req, **how) for one, how in zip(symbols, ctx_list, strict=True)
    ]
    arguments = {**_drawn(executors[0], scale, use_uniform, rand_type), **(arg_params or {})}
    for executor in executors:
        for name, array in executor.arg_dict.items():
            array[...] = plain(arguments[name])
        for name, state in executor.aux_dict.items():
            state[...] = plain((aux_params or {}).get(name, 0))
    titles = [f"{how['ctx']} {executor.outputs[0].dtype.name}"
              for how, executor in zip(ctx_list, executors, strict=True)]  # fmt: skip
    best = max(range(len(executors)), key=lambda i: executors[i].outputs[0].dtype.itemsize)
    truth: dict[str, Any] = {}
    for is_train in [False] if grad_req == "null" else [False, True]:
        found = [_computed(executor, is_train) for executor in executors]
        truth = dict(found[best] if ground_truth is None else ground_truth)
        for i, (title, arrays) in enumerate(zip(titles, found, strict=True)):
            if i == best and ground_truth is None:
                continue
            for name, array in arrays.items():
                if name in truth:
                    called = (f"{name} on {title} ({i})", f"{name} on {titles[best]} ({best})")
                    _compare(array, truth[name], rtol, atol, called, equal_nan, raise_on_err)
    return truth


def compare_optimizer(
    opt1: Any,
    opt2: Any,
    shape: Any,
    dtype: Any,
    w_stype: str = "default",
    g_stype: str = "default",
    rtol: float = 1e-4,
    atol: float = 1e-5,
    compare_states: bool = True,
    ntensors: int = 1,
) -> None:
    """Expect two optimizers to make the same update of random weights by random gradients.

    Args:
        opt1: An optimizer.
        opt2: The other.
        shape: Of the weight; with several tensors a list of shapes.
        dtype: Of the weight.
        w_stype: Storage type of weights, "default"; likewise `g_stype` of gradients.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
        compare_states: Whether states are compared too.
        ntensors: Number of weights.

    Raises:
        AssertionError: Weights or states differ.
        ArgumentError: A storage type is another: arrays are dense.
    """
    if (w_stype, g_stype) != ("default", "default"):
        raise ArgumentError(f"compare_optimizer: got {w_stype!r} and {g_stype!r}, expected 'default'")
    for index, each in enumerate([shape] if ntensors == 1 else shape):
        weight, grad = (nd.array(np.random.uniform(-1, 1, each), dtype=dtype) for _ in range(2))
        results = []
        for optimizer in (opt1, opt2):
            own = weight.copy()
            state = optimizer.create_state_multi_precision(index, own)
            optimizer.update_multi_precision(index, own, grad.copy(), state)
            results.append((own, state))
        if compare_states:
            compare_ndarray_tuple(results[0][1], results[1][1], rtol=rtol, atol=atol)
        assert_almost_equal(results[0][0], results[1][0], rtol=rtol, atol=atol)


def _drawn(executor: Executor, scale: float, use_uniform: bool, rand_type: Any) -> dict[str, Any]:
    def draw(shape: tuple[int, ...]) -> Any:
        if use_uniform:
            return np.random.uniform(-0.92 * scale, 0.92 * scale, shape)
        return np.random.normal(size=shape, scale=scale)

    return {name: draw(array.shape).astype(rand_type) for name, array in executor.arg_dict.items()}


def _computed(executor: Executor, is_train: bool) -> dict[str, NDArray]:
    outputs = executor.forward(is_train=is_train)
    found = {name: output.copy() for name, output in executor.output_dict.items()}
    if is_train:
        executor.backward(outputs)
        found.update({name: grad for name, grad in executor.grad_dict.items() if grad is not None})
    return found


def _compare(
    found: Any, wanted: Any, rtol: Tolerance, atol: Tolerance, names: Any, equal_nan: bool, raises: bool
) -> None:
    try:
        assert_almost_equal(found, wanted, rtol, atol, names, equal_nan)
    except AssertionError as error:
        if raises:
            raise
        _log.warning("%s", error)
