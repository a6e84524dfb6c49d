"""What these tests share: running a symbol, and gradients by differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import operad as od

Values = Mapping[str, Any]


def ran(symbol: od.Symbol, values: Values, heads: Sequence[Any] = ()) -> tuple[list[Any], dict[str, Any]]:
    """Outputs of training, and gradients; heads are those given, or `weights`."""
    args = {name: od.nd.array(value, dtype=np.asarray(value).dtype) for name, value in values.items()}
    grads = {name: od.nd.zeros(array.shape, dtype=array.dtype) for name, array in args.items()}
    executor = symbol.bind(od.cpu(), args, grads)
    outs = [out.asnumpy() for out in executor.forward(is_train=True)]
    pairs = zip(heads or weights(outs), outs, strict=True)
    executor.backward([od.nd.array(head, dtype=out.dtype) for head, out in pairs])
    return outs, {name: grad.asnumpy() for name, grad in grads.items()}


def weights(outs: Sequence[Any]) -> list[Any]:
    """Head gradients of which no two elements are equal."""
    return [np.arange(1.0, out.size + 1).reshape(out.shape) / 7 for out in outs]


def differences(function: Callable[[Values], float], values: Values) -> dict[str, Any]:
    """Central differences of a number in each element of each array."""
    found = {}
    for name, value in values.items():
        slope = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            ends = []
            for step in (1e-5, -1e-5):
                moved = value.copy()
                moved[place] += step
                ends.append(function({**values, name: moved}))
            slope[place] = (ends[0] - ends[1]) / 2e-5
        found[name] = slope
    return found


def check_gradients(symbol: od.Symbol, values: Values) -> None:
    """Compare gradients with central differences, in double precision."""

    def weighted(at: Values) -> float:
        args = {name: od.nd.array(value, dtype="float64") for name, value in at.items()}
        outs = [out.asnumpy() for out in symbol.bind(od.cpu(), args).forward()]
        return float(sum((out * head).sum() for out, head in zip(outs, weights(outs), strict=True)))

    _, grads = ran(symbol, values)
    for name, slope in differences(weighted, values).items():
        np.testing.assert_allclose(grads[name], slope, rtol=1e-6, atol=1e-7, err_msg=name)


def draws(*shape: int, seed: int = 0) -> Any:
    """Normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape)
